"""Notices as e-mail, handed to one SMTP server.

The protocol is the standard library's, which blocks, so it runs in a thread of its own with a time-out. The password is
read at the start and never logged; it is never sent over a connection that is not encrypted.
"""

import asyncio
import smtplib
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from enum import StrEnum

from intermezzo.domain.errors import Refused, Unreachable
from intermezzo.ports.notifier import Letter

TIMEOUT_S = 10.0
NEVER = range(500, 600)


class Security(StrEnum):
    """How the connection is encrypted: upgraded (`starttls`), from the start (`tls`), or not at all (`none`)."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in, and as whom. Without a `user` nobody logs in. `authorities` are the certificates that
    are trusted; None for the machine's own."""

    host: str
    port: int
    security: Security
    sender: str
    user: str = ""
    password: str = field(default="", repr=False)
    authorities: str | None = None


class SmtpNotifier:
    """Implements `ports.notifier.Notifier`."""

    channel = "e-mail"

    def __init__(self, server: MailServer) -> None:
        self._server = server

    async def send(self, letter: Letter) -> None:
        """Hand it to the server."""
        if not letter.address:
            raise Refused("no address is known", "The account page has a place for one.")
        try:
            mail = mail_of(letter, self._server.sender)
        except (ValueError, HeaderParseError):
            raise Refused("it cannot be written as a mail") from None
        await asyncio.to_thread(self._hand_in, mail)

    def _hand_in(self, mail: EmailMessage) -> None:
        try:
            with self._connected() as connection:
                connection.send_message(mail)
        except smtplib.SMTPRecipientsRefused as error:
            code, _ = next(iter(error.recipients.values()))
            message = f"the mail server does not take this address ({code})"
            raise _failure(code, message) from None
        except smtplib.SMTPSenderRefused as error:
            raise Unreachable(f"the mail server does not take the sender ({error.smtp_code})") from None
        except smtplib.SMTPDataError as error:
            message = f"the mail server does not take this mail ({error.smtp_code})"
            raise _failure(error.smtp_code, message) from None
        except (smtplib.SMTPException, OSError) as error:
            raise Unreachable(f"the mail server does not answer as it should: {type(error).__name__}") from None

    def _connected(self) -> smtplib.SMTP:
        server = self._server
        if server.security is Security.TLS:
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port, timeout=TIMEOUT_S, context=self._context()
            )
        else:
            connection = smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_S)
        try:
            if server.security is Security.STARTTLS:
                connection.starttls(context=self._context())
            if server.user:
                connection.login(server.user, server.password)
        except BaseException:
            connection.close()
            raise
        return connection

    def _context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._server.authorities)


def mail_of(letter: Letter, sender: str) -> EmailMessage:
    """The mail. Its `Message-ID` is the same however often it is sent, so that a repeat can be told."""
    notice = letter.notice
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = Address(addr_spec=letter.address)
    mail["Subject"] = letter.title
    mail["Date"] = format_datetime(datetime.fromtimestamp(notice.created_at / 1000, UTC))
    mail["Message-ID"] = f"<{notice.id}.{notice.created_at}@{sender.rpartition('@')[2].rstrip('>')}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Intermezzo-Notice"] = notice.id
    mail.set_content("\n\n".join(part for part in (letter.title, letter.text, letter.link) if part) + "\n")
    return mail


def _failure(code: int, message: str) -> Exception:
    return Refused(message) if code in NEVER else Unreachable(message)
