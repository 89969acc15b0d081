"""Planting and reading witnesses, against a stand-in that speaks the guest's documented HTTP."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from intermezzo.adapters.jupyter.limits import Limits
from intermezzo.adapters.jupyter.session import JupyterSession
from intermezzo.domain.continuity import Verdict, Witness, judge
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.orders import Endpoint
from intermezzo.ports.session import Access


class StandIn(ThreadingHTTPServer):
    """A guest with one kernel that holds what is planted. `garbage` replaces its answers, `location` redirects them."""

    daemon_threads = True
    nonce = ""
    garbage: bytes | None = None
    location = ""
    asked = 0


class Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_GET(self) -> None:
        self.server.asked += 1
        if self.headers["Authorization"] != "token secret" or self.path != "/witness":
            self._answer(403, b"{}")
            return
        kernel = {"role": "kernel", "id": "k", "pid": 42, "started": 7, "nonce": self.server.nonce}
        report = json.dumps({"at": 1, "last_activity": 0, "witnesses": [kernel]}).encode()
        self._answer(
            302 if self.server.location else 200, report if self.server.garbage is None else self.server.garbage
        )

    def do_POST(self) -> None:
        self.server.nonce = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["nonce"]
        self.do_GET()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def guest() -> Iterator[StandIn]:
    server = StandIn(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def access(guest: StandIn, token: str = "secret") -> Access:
    return Access(Endpoint("127.0.0.1", 9, "/", guest.server_address[1]), token)


async def test_what_is_planted_is_read_back(guest: StandIn, session: JupyterSession) -> None:
    before = await session.plant(access(guest), "n")
    after = await session.witness(access(guest))
    assert after.witnesses == (Witness("kernel", "k", 42, 7, "n"),)
    assert judge(before, after).verdict is Verdict.RESTORED


@pytest.mark.parametrize("garbage", [b"", b"[]", b"<html>", b'{"at": 1}', b'{"at": 1, "witnesses": [{"pid": "x"}]}'])
async def test_anything_but_a_report_proves_nothing(guest: StandIn, session: JupyterSession, garbage: bytes) -> None:
    guest.garbage = garbage
    with pytest.raises(Unreachable):
        await session.witness(access(guest))


async def test_a_wrong_token_proves_nothing(guest: StandIn, session: JupyterSession) -> None:
    with pytest.raises(Unreachable):
        await session.witness(access(guest, "another"))


async def test_a_redirect_is_not_followed_with_the_token(guest: StandIn, session: JupyterSession) -> None:
    guest.location = "/witness"
    with pytest.raises(Unreachable):
        await session.witness(access(guest))
    assert guest.asked == 1


async def test_an_endless_answer_is_cut_off(guest: StandIn) -> None:
    guest.garbage = b" " * 100_000
    async with JupyterSession(Limits(response_bytes=10_000)) as session:
        with pytest.raises(Unreachable, match="more than 10000 bytes"):
            await session.witness(access(guest))
