"""What runs on the same machine does not notice that sandboxes come and go."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from intermezzo.domain.orders import PauseOrder, RemoveOrder, ResumeOrder
from node.editor import CHROMIUM
from node.notebook import Notebook
from node.world import Node, specification, until

pytestmark = pytest.mark.engine
SYN_SENT = "02"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nall of it"


class Busy:
    """A server on loopback that lets nobody in until it is told to."""

    def __init__(self, opened: ExitStack) -> None:
        self._socket = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        self.port = int(self._socket.getsockname()[1])
        for _ in range(2):  # what fills its queue
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", self.port))

    def is_called(self) -> bool:
        """Whether somebody, beside those who fill the queue, waits to be let in."""
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return sum(line[2].endswith(f":{self.port:04X}") and line[3] == SYN_SENT for line in lines) > 1

    def let_in(self) -> None:
        """Answer everybody from now on."""
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client:
                client.settimeout(0.2)
                try:
                    if client.recv(4096):
                        client.sendall(ANSWER)
                except OSError:
                    continue


@contextmanager
def busy() -> Iterator[Busy]:
    """It is there until the end."""
    with ExitStack() as opened:
        yield Busy(opened)


def test_a_browser_gives_up_nothing_while_sessions_come_and_go(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    """It would, for whatever it is connecting, when an address of the machine changes."""
    if not CHROMIUM.exists():
        pytest.skip("there is no Chromium on this machine: apt-get install chromium")
    with busy() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        address = f"http://127.0.0.1:{server.port}/"
        told: list[str] = []
        page.on("requestfailed", lambda request: told.append(str(request.failure)))
        page.evaluate(
            "(address) => { window.asked = fetch(address, { mode: 'no-cors' }).then(() => 'came', String) }", address
        )
        until(server.is_called, "the browser is connecting")
        node.carry_out(PauseOrder(uid, 2, "pause", "one"))
        node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)))
        node.carry_out(RemoveOrder(uid, 4, "remove"))
        server.let_in()
        assert page.evaluate("() => window.asked") == "came", told
        browser.close()
