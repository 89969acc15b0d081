"""The guest's HTTP interface for the node agent and the control plane, guarded by the session's access token.

It must answer at once after a restore, and never while holding a lock that user code can hold.
"""

import hmac
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

LONGEST_BODY = 65536
RENAME = ("POST", "/identity")
Handler = Callable[[dict[str, Any]], dict[str, Any]]


class GuestServer(ThreadingHTTPServer):
    """Serves `routes`, a mapping from (method, path) to a function from the request's JSON to the answer's. At `RENAME`
    the token of a `successor` opens too, for whom the present one is another's."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, host: str, port: int, token: str, routes: dict[tuple[str, str], Handler], successor: Callable[[], str]
    ) -> None:
        self.token = token
        self.routes = routes
        self.successor = successor
        super().__init__((host, port), GuestHandler)

    def server_bind(self) -> None:
        """Bind without asking the resolver for a name, which could wait for a network that is not there."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


class GuestHandler(BaseHTTPRequestHandler):
    """One connection. Requests are not logged: they are many, and the log belongs to the user's server."""

    server: GuestServer
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer a reading request."""
        self._route("GET")

    def do_POST(self) -> None:
        """Answer a request that plants a value or runs hooks."""
        self._route("POST")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def _route(self, method: str) -> None:
        length = self.headers.get("Content-Length") or "0"
        if not length.isdigit() or int(length) > LONGEST_BODY:
            self.close_connection = True
            return self._answer(413, {"message": f"the body may have at most {LONGEST_BODY} bytes"})
        body = self.rfile.read(int(length))
        if not self._authorized(method):
            return self._answer(401, {"message": "the access token is missing or wrong"})
        handler = self.server.routes.get((method, self.path))
        if handler is None:
            return self._answer(404, {"message": f"nothing is served at {method} {self.path[:200]}"})
        try:
            question = json.loads(body or b"{}")
        except ValueError:
            return self._answer(400, {"message": "the body is not JSON"})
        if not isinstance(question, dict):
            return self._answer(400, {"message": "the body is not a JSON object"})
        return self._answer(200, handler(question))

    def _authorized(self, method: str) -> bool:
        return self._has(self.server.token) or ((method, self.path) == RENAME and self._has(self.server.successor()))

    def _has(self, token: str) -> bool:
        given = self.headers.get("Authorization", "").encode("utf-8", "replace")
        return hmac.compare_digest(given, f"token {token}".encode())

    def _answer(self, status: int, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
