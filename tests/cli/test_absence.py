"""No answer: from an Intermezzo that is not up, from one that is just coming back, and from one that came back."""

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from cli.conftest import CommandLine
from intermezzo.client import Connection
from intermezzo.client.wire import Wire


class Answering(BaseHTTPRequestHandler):
    """Says that it is there."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def silent() -> Iterator[HTTPServer]:
    """A port that is taken and at which nobody listens yet."""
    with HTTPServer(("127.0.0.1", 0), Answering, bind_and_activate=False) as server:
        server.server_bind()
        yield server


@pytest.fixture
def gone(tmp_path: Path, silent: HTTPServer) -> CommandLine:
    """A data directory of an installation whose address does not answer."""
    (tmp_path / "run").mkdir()
    written = {"url": f"http://127.0.0.1:{silent.server_port}", "token": "secret"}
    (tmp_path / "run" / "connection.json").write_text(json.dumps(written))
    (tmp_path / "run" / "lock").write_text(str(os.getpid()))
    return CommandLine(tmp_path)


def test_one_that_is_up_and_does_not_answer_is_said_to_come_back(gone: CommandLine) -> None:
    with (gone.data_dir / "run" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = gone.run("list")
    assert (result.exit_code, result.stderr) == (
        5,
        "Error: Intermezzo is up here but does not answer just now\nHint: it is coming back: try again in a moment\n",
    )


def test_one_that_was_killed_is_said_to_be_started_with_up(gone: CommandLine) -> None:
    result = gone.run("list")
    assert (result.exit_code, "Hint: start it with `intermezzo up`\n" in result.stderr) == (5, True)


def test_a_question_waits_for_a_gateway_that_comes_back(silent: HTTPServer) -> None:
    answering = threading.Thread(target=silent.handle_request)

    def come_back(event: str, _: object) -> None:
        if event == "connection.connect_tcp.failed" and answering.ident is None:
            silent.server_activate()
            answering.start()

    wire = Wire(Connection(f"http://127.0.0.1:{silent.server_port}", "secret"))
    assert wire.ask("GET", "/health", extensions={"trace": come_back}).json() == {}
    wire.close()
    answering.join()
