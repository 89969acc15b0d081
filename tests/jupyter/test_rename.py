"""A real JupyterLab, with the settings of a sandbox, that becomes somebody else while it runs."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from intermezzo.adapters.jupyter.session import JupyterSession
from intermezzo.domain.orders import Endpoint
from intermezzo.guest import servers
from intermezzo.guest.api import GuestServer
from intermezzo.guest.identity import SERVER
from intermezzo.guest.witness import ask
from intermezzo.ports.session import Access
from jupyter.lab import free_port, interpreter

OLD, NEW = "/workspace/connect/team/orig.inal/jupyterlab/", "/workspace/connect/team/a%20fork/jupyterlab/"
TOKENS = {OLD: "the-token-of-the-original", NEW: "the-token-of-the-fork"}
PATHS = (
    "lab",
    "lab/tree/x",
    "api/status",
    "api/contents",
    "api/kernels",
    "api/terminals",
    "lab/api/settings",
    "lsp/status",
)


class StandIn(GuestServer):
    """The guest beside it."""

    def __init__(self, token: str) -> None:
        super().__init__("127.0.0.1", 0, token, {("GET", "/ready"): lambda question: {}}, lambda: token)

    @contextmanager
    def serving(self) -> Iterator[None]:
        thread = threading.Thread(target=self.serve_forever)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            thread.join()
            self.server_close()


class Server:
    """One server process, and the session file that says who it is."""

    def __init__(self, root: Path) -> None:
        self.root, self.port = root, free_port()
        self.file = root / "session.json"
        self.name(OLD)
        for folder in ("home", "run/jupyter"):
            (root / folder).mkdir(parents=True)
        python = interpreter()
        environment = {
            "HOME": str(root / "home"),
            "INTERMEZZO_SESSION": str(self.file),
            "JUPYTER_RUNTIME_DIR": str(root / "run/jupyter"),
            "LANG": "C.UTF-8",
            "NB_PREFIX": OLD.rstrip("/"),
            "PATH": "/usr/bin:/bin",
            "XDG_RUNTIME_DIR": str(root / "run"),
        }
        with (root / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [python, "-I", str(servers.JUPYTERLAB), f"--config={servers.JUPYTER_CONFIGURATION}"],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def name(self, path: str) -> None:
        """Write down who it is to be."""
        session = {
            "access_token": TOKENS[path],
            "server": "jupyterlab",
            "host": "127.0.0.1",
            "port": self.port,
            "guest_port": self.port + 1,
            "base_path": path,
            "home": str(self.root / "home"),
            "runtime": str(self.root / "run"),
            "transport": "ipc",
            "environment": "",
            "env": {"NB_PREFIX": path.rstrip("/")},
        }
        self.file.write_text(json.dumps(session))

    def become(self, path: str) -> dict[str, Any]:
        self.name(path)
        return ask(self.root / "run/intermezzo/witness", SERVER, {})

    def get(self, path: str, token: str, method: str = "GET") -> httpx.Response:
        headers = {"Authorization": f"token {token}"}
        content = "{}" if method == "POST" else None
        address = f"http://127.0.0.1:{self.port}{path}"
        return httpx.request(method, address, headers=headers, content=content, timeout=20, trust_env=False)

    def await_answer(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            assert self.process.poll() is None, (self.root / "log").read_text()
            try:
                if self.get(f"{OLD}api", TOKENS[OLD]).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise AssertionError((self.root / "log").read_text())

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def server() -> Iterator[Server]:
    # Unix sockets have short names, so the directory must have one too.
    root = Path(tempfile.mkdtemp(prefix="lab-", dir="/tmp"))
    made = Server(root)
    try:
        made.await_answer()
        yield made
    finally:
        made.end()
        shutil.rmtree(root)


@pytest.mark.parametrize("visited", [False, True])
def test_it_moves_with_its_kernels_and_terminals_and_nothing_of_the_old_name_is_left(
    server: Server, visited: bool
) -> None:
    kernel = server.get(f"{OLD}api/kernels", TOKENS[OLD], "POST").json()["id"]
    terminal = server.get(f"{OLD}api/terminals", TOKENS[OLD], "POST").json()["name"]
    for path in PATHS if visited else ():
        server.get(OLD + path, TOKENS[OLD])
    assert server.become(NEW) == server.become(NEW) == {"path": NEW}
    for path in PATHS:
        answer = server.get(NEW + path, TOKENS[NEW])
        assert answer.status_code == 200, path
        assert OLD.rstrip("/") not in answer.text and TOKENS[OLD] not in answer.text, path
        assert server.get(OLD + path, TOKENS[NEW]).status_code == 404, path
        assert server.get(NEW + path, TOKENS[OLD]).status_code in {302, 403}, path
    assert server.get(NEW, TOKENS[NEW]).headers["Location"].startswith(f"{NEW}lab")
    assert [each["id"] for each in server.get(f"{NEW}api/kernels", TOKENS[NEW]).json()] == [kernel]
    assert [each["name"] for each in server.get(f"{NEW}api/terminals", TOKENS[NEW]).json()] == [terminal]
    (told,) = (server.root / "run/jupyter").glob("jpserver-*.json")
    assert (json.loads(told.read_text())["token"], json.loads(told.read_text())["base_url"]) == (TOKENS[NEW], NEW)


async def test_the_originals_token_is_told_as_worth_nothing_also_by_who_was_let_in_before(server: Server) -> None:
    """As the control plane asks: with one client for all, which a server's cookies must not let in."""
    server.become(NEW)
    guest = StandIn(TOKENS[NEW])
    access = Access(Endpoint("127.0.0.1", server.port, NEW, guest.server_address[1]), TOKENS[NEW])
    with guest.serving():
        async with JupyterSession() as session:
            assert await session.accepts(access)
            assert await session.kernels(access) == []
            assert not await session.accepts(replace(access, token=TOKENS[OLD]))
