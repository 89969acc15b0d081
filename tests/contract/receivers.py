"""Real receivers of notices: what arrives at a mail server or a web server, and how it answers."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass
class Mailbox:
    """Mail as it arrived. While `answer` is set, that is what every recipient is answered."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    answer: str = ""

    async def handle_RCPT(self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _o: Any) -> str:
        """Take a recipient, or not."""
        if self.answer:
            return self.answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        """Keep a mail."""
        assert isinstance(envelope.content, bytes)
        self.recipients += envelope.rcpt_tos
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 kept"


@asynccontextmanager
async def mail_server(
    certificate: ssl.SSLContext | None = None, login: tuple[str, str] | None = None
) -> AsyncIterator[Mailbox]:
    """A mail server; with a certificate it offers STARTTLS, with a login it wants that one."""
    mailbox = Mailbox()

    def known(_server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, sent: Any) -> AuthResult:
        right = isinstance(sent, LoginPassword) and login is not None
        matches = right and (sent.login.decode(), sent.password.decode()) == login
        return AuthResult(success=bool(matches))

    def connected() -> SMTP:
        return SMTP(
            mailbox,
            hostname="mail.example.org",
            tls_context=certificate,
            authenticator=known if login else None,
            auth_required=login is not None,
        )

    server = await asyncio.get_running_loop().create_server(connected, "127.0.0.1", 0)
    async with server:
        mailbox.port = server.sockets[0].getsockname()[1]
        yield mailbox


@dataclass
class Hook:
    """Requests as they arrived: headers by lower-case name, and the body. `status` is how they are answered."""

    url: str = ""
    status: int = 204
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def contents(self) -> list[dict[str, Any]]:
        """The bodies as JSON."""
        return [json.loads(body) for body in self.bodies]


@contextmanager
def web_server() -> Iterator[Hook]:
    """A web server that keeps what is posted to it."""
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hook.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            hook.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(hook.status)
            self.send_header("location", "http://192.0.2.1/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        hook.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        yield hook
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
