"""A live JupyterLab behind the gateway: what a browser's websockets and requests meet, on the real engine."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from e2e.installation import PROGRAMS, Installation
from intermezzo.domain.workspace import Phase
from node.world import until

pytestmark = pytest.mark.engine

ANSWER_S = 60.0
MEBIBYTE = 2**20
TOO_BIG = 1009
FLOOD = "for _ in range(200):\n    print('x' * 1_000_000, flush=True)"
COUNTING = """
import pathlib, time
go, at = pathlib.Path.home() / "go", pathlib.Path.home() / "at"
for number in range(100):
    print(number, flush=True)
    at.write_text(str(number))
    while number == 10 and not go.exists():
        time.sleep(0.05)
    if number > 10:
        time.sleep(0.1)
"""


@pytest.fixture
def tab(shared: Installation, workspace: str) -> Iterator["Tab"]:
    """A page open on the workspace."""
    opened = Tab(shared, workspace)
    with opened.http:
        until(lambda: opened.http.get("api").is_success, "the gateway has heard of the workspace", 0.05)
        yield opened


class Tab:
    """What a page of JupyterLab is to its server: requests, and websockets under one session id."""

    def __init__(self, installation: Installation, workspace: str) -> None:
        found = installation.connection(workspace)
        self.base_url = found.base_url
        self.token = found.token
        self.headers = {"Authorization": f"token {self.token}"}
        self.session_id = uuid4().hex
        self.http = httpx.Client(base_url=found.base_url, headers=self.headers, timeout=ANSWER_S, trust_env=False)

    def kernel(self) -> str:
        answer = self.http.post("api/kernels", json={"name": "python3"})
        return str(answer.raise_for_status().json()["id"])

    def file(self, name: str) -> str:
        """The content of a file in home; empty if there is none."""
        answer = self.http.get(f"api/contents/{name}", params={"content": 1, "type": "file", "format": "text"})
        return str(answer.json()["content"]) if answer.is_success else ""

    def put(self, name: str, content: str) -> None:
        body = {"type": "file", "format": "text", "content": content}
        self.http.put(f"api/contents/{name}", json=body).raise_for_status()

    @contextmanager
    def socket(self, path: str) -> Iterator[ClientConnection]:
        url = f"{self.base_url.replace('http', 'ws', 1)}{path}"
        with connect(url, additional_headers=self.headers, compression=None, max_size=None, proxy=None) as socket:
            yield socket

    def channels(self, kernel: str) -> Any:
        return self.socket(f"api/kernels/{kernel}/channels?session_id={self.session_id}")


def execute(socket: ClientConnection, code: str) -> str:
    """Send code to a kernel; returns the message's id."""
    message_id = uuid4().hex
    header = {"msg_id": message_id, "msg_type": "execute_request", "username": "", "session": uuid4().hex}
    content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False, "stop_on_error": True}
    message = {"header": header | {"version": "5.3"}, "parent_header": {}, "metadata": {}, "content": content}
    socket.send(json.dumps(message | {"channel": "shell", "buffers": []}))
    return message_id


def printed(socket: ClientConnection, message_id: str, enough: Callable[[str], bool] = lambda text: False) -> str:
    """What that code printed, until it is enough or the kernel is idle."""
    text = ""
    while not enough(text):
        message = json.loads(socket.recv(ANSWER_S))
        if message["parent_header"].get("msg_id") != message_id:
            continue
        if message["msg_type"] == "stream":
            text += message["content"]["text"]
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    return text


def test_fr10_only_the_gateway_restarts_and_the_kernel_is_the_same(
    shared: Installation, workspace: str, tab: Tab
) -> None:
    kernel = tab.kernel()
    with tab.channels(kernel) as socket:
        printed(socket, execute(socket, "x = 41"))
        before = shared.events(workspace)
        gateway = shared.program("gateway")
        shared.kill("gateway")
        with pytest.raises(ConnectionClosed):
            while True:
                socket.recv(ANSWER_S)
    until(lambda: _is_usable(tab, kernel), "the kernel can be used again", 0.05)
    assert shared.program("gateway") != gateway
    assert shared.events(workspace) == before
    with tab.channels(kernel) as socket:
        assert printed(socket, execute(socket, "print(x + 1)")) == "42\n"


def test_fr26_twenty_mebibytes_pass_each_way_and_too_large_a_message_spares_the_kernel(
    tab: Tab,
) -> None:
    kernel = tab.kernel()
    sent = secrets.token_hex(10 * MEBIBYTE)
    with tab.channels(kernel) as socket:
        code = f"import hashlib; s = '{sent}'; print(hashlib.sha256(s.encode()).hexdigest()); print(s, end='')"
        digest, _, returned = printed(socket, execute(socket, code)).partition("\n")
        assert digest == hashlib.sha256(sent.encode()).hexdigest() == hashlib.sha256(returned.encode()).hexdigest()
        assert printed(socket, execute(socket, "print('open')")) == "open\n"
    assert asyncio.run(_close_code_of(tab, kernel, "#" * (64 * MEBIBYTE + 1))) == TOO_BIG
    with tab.channels(kernel) as socket:
        assert printed(socket, execute(socket, "print(len(s))")) == f"{len(sent)}\n"


def test_fr32_what_a_loop_prints_while_the_tab_is_closed_and_paused_arrives_once_and_in_order(
    shared: Installation, workspace: str, tab: Tab
) -> None:
    kernel = tab.kernel()
    with tab.channels(kernel) as socket:
        loop = execute(socket, COUNTING)
        text = printed(socket, loop, lambda so_far: so_far.endswith("10\n"))
    tab.put("go", "on")
    until(lambda: int(tab.file("at") or 0) >= 50, "half of the loop is done", 0.05)
    shared.pause(workspace)
    assert shared.resume(workspace).phase is Phase.RUNNING
    with tab.channels(kernel) as socket:
        text += printed(socket, loop)
    assert text.split() == [str(number) for number in range(100)]


def test_fr32_two_hundred_megabytes_leave_a_capped_file_and_a_server_that_answers(
    shared: Installation, workspace: str, tab: Tab, tmp_path: Path
) -> None:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "flood",
        "metadata": {},
        "source": FLOOD,
        "outputs": [],
        "execution_count": None,
    }
    flood = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    (tmp_path / "flood.ipynb").write_text(json.dumps(flood))
    answered = 0
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(shared.json, "run", workspace, str(tmp_path / "flood.ipynb"))
        while not run.done():
            tab.http.get("api/status").raise_for_status()
            answered += 1
    assert run.result()["run"]["state"] == "succeeded"
    assert answered
    kept = tab.file("flood.ipynb")
    assert len(kept) < 20 * MEBIBYTE
    assert kept.count("bytes was dropped") == 1
    assert shared.cell(workspace, "print('alive')").text == "alive"


def test_fr22_with_debug_on_no_token_reaches_a_log_an_event_the_audit_or_an_argument(
    shared: Installation, workspace: str, tab: Tab
) -> None:
    kernel = tab.kernel()
    url = f"{tab.base_url.replace('http', 'ws', 1)}api/kernels/{kernel}/channels?token="
    with pytest.raises(InvalidStatus):
        connect(f"{url}S3CRET", proxy=None)
    with connect(f"{url}{tab.token}", proxy=None) as socket:
        printed(socket, execute(socket, "print('S3CRET')"))
    tab.http.post("api/sessions?token=S3CRET", json={})
    address = tab.base_url.removeprefix(_origin(tab.base_url))
    run = shared.data_dir / "run"
    until(lambda: f"{address}api/sessions" in (run / "gateway.log").read_text(), "the last request is logged", 0.05)
    places = {file.name: file.read_text(errors="replace") for file in run.glob("*.log")}
    with shared.client as client:
        places["audit"] = repr(list(client.people.audit()))
    places["events"] = repr(shared.json("events", workspace))
    places["arguments"] = "".join(_arguments_of(shared.program(name)) for name in PROGRAMS)
    secrets_of_all = ("S3CRET", tab.token, json.loads((run / "connection.json").read_text())["token"])
    found = [(place, secret) for place, text in places.items() for secret in secrets_of_all if secret in text]
    assert found == []
    assert '"level": "debug"' in places["control.log"], "debug is on"


def test_fr25_a_logout_closes_kernel_and_terminal_and_the_kernel_lives(
    shared: Installation, workspace: str, tab: Tab
) -> None:
    kernel = tab.kernel()
    terminal = tab.http.post("api/terminals").raise_for_status().json()["name"]
    with shared.client as client, tab.channels(kernel) as channel, ExitStack() as stack:
        printed(channel, execute(channel, "x = 1"))
        browser = stack.enter_context(_logged_in(client.login_link().url))
        entered = browser.get(f"{tab.base_url}api/kernels", follow_redirects=True)
        assert [found["id"] for found in entered.raise_for_status().json()] == [kernel]
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.cookies.jar)
        mine = {"Cookie": cookies, "Origin": _origin(tab.base_url)}
        paths = (f"api/kernels/{kernel}/channels?session_id=browser", f"terminals/websocket/{terminal}")
        urls = [f"{tab.base_url.replace('http', 'ws', 1)}{path}" for path in paths]
        with (
            connect(urls[0], additional_headers=mine, proxy=None) as kernel_socket,
            connect(urls[1], additional_headers=mine, proxy=None) as terminal_socket,
        ):
            xsrf = {"X-XSRF-Token": browser.cookies["intermezzo_xsrf"], "Origin": _origin(tab.base_url)}
            browser.post("/logout", headers=xsrf).raise_for_status()
            for socket in (kernel_socket, terminal_socket):
                with pytest.raises(ConnectionClosed):
                    while True:
                        socket.recv(ANSWER_S)
        until(lambda: browser.get(f"{tab.base_url}api/kernels").status_code == 401, "requests are turned away", 0.05)
        assert printed(channel, execute(channel, "print(x)")) == "1\n"


async def _close_code_of(tab: Tab, kernel: str, message: str) -> int | None:
    """Send a message as a browser does, which listens while it sends; the code with which the socket is closed."""
    url = f"{tab.base_url.replace('http', 'ws', 1)}api/kernels/{kernel}/channels?session_id={tab.session_id}"
    async with open_socket(url, additional_headers=tab.headers, compression=None, proxy=None) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            await socket.send(message)
            while True:
                await socket.recv()
    return closed.value.rcvd.code if closed.value.rcvd else None


def _arguments_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def _is_usable(tab: Tab, kernel: str) -> bool:
    try:
        return kernel in [found["id"] for found in tab.http.get("api/kernels").raise_for_status().json()]
    except httpx.HTTPError:
        return False


def _origin(url: str) -> str:
    parts = httpx.URL(url)
    return f"{parts.scheme}://{parts.host}:{parts.port}"


@contextmanager
def _logged_in(link: str) -> Iterator[httpx.Client]:
    """A browser that has used a login link."""
    site, _, code = link.partition("/login")
    body = {"code": code.partition("#code=")[2]}
    with httpx.Client(base_url=site, trust_env=False, timeout=ANSWER_S) as browser:
        browser.post("/login", json=body, headers={"Origin": site}).raise_for_status()
        yield browser
