"""What every channel promises about bringing a notice to somebody, tried on real receivers."""

import base64
import hashlib
import hmac
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from contract.receivers import mail_server, web_server
from intermezzo.adapters.notify.memory import MemoryNotifier
from intermezzo.adapters.notify.smtp import MailServer, Security, SmtpNotifier
from intermezzo.adapters.notify.webhook import WebhookNotifier
from intermezzo.domain.errors import InvalidInput, Refused, Unreachable
from intermezzo.domain.notice import Notice, Sort
from intermezzo.domain.workspace import WorkspaceKey
from intermezzo.ports.notifier import Letter, Notifier

KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
SENDER = "intermezzo@example.org"
NOTICE = Notice(
    id="n1",
    sort=Sort.IDLE_PAUSE,
    occasion="1",
    subject="ada",
    message="kernel idle",
    created_at=1_700_000_000_000,
    workspace_uid="w1",
    key=WorkspaceKey("default", "実験"),
    moment=1_700_000_600_000,
)
LETTER = Letter(NOTICE, "ada@example.org", "実験 will be paused", "kernel idle", "http://here.example/w/default/x")


@dataclass
class Channel:
    """A channel, what has come to its receiver (the notices' ids), and ways to make the receiver fail."""

    notifier: Notifier
    arrived: Callable[[], list[str]]
    fail_for_now: Callable[[], None]
    refuse: Callable[[], None]


def a_free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@asynccontextmanager
async def memory() -> AsyncIterator[Channel]:
    notifier = MemoryNotifier()
    yield Channel(
        notifier,
        lambda: [letter.notice.id for letter in notifier.sent],
        lambda: setattr(notifier, "failure", Unreachable("nobody answers")),
        lambda: setattr(notifier, "failure", Refused("not taken")),
    )


@asynccontextmanager
async def smtp() -> AsyncIterator[Channel]:
    async with mail_server() as mailbox:
        yield Channel(
            SmtpNotifier(MailServer("127.0.0.1", mailbox.port, Security.NONE, SENDER)),
            lambda: [mail["X-Intermezzo-Notice"] for mail in mailbox.mails],
            lambda: setattr(mailbox, "answer", "451 greylisted"),
            lambda: setattr(mailbox, "answer", "550 no such mailbox"),
        )


@asynccontextmanager
async def webhook() -> AsyncIterator[Channel]:
    with web_server() as hook:
        yield Channel(
            WebhookNotifier(hook.url, SECRET),
            lambda: [headers["webhook-id"] for headers in hook.headers if hook.status < 300],
            lambda: setattr(hook, "status", 503),
            lambda: setattr(hook, "status", 410),
        )


@pytest.fixture(params=[memory, smtp, webhook])
async def channel(request: pytest.FixtureRequest) -> AsyncIterator[Channel]:
    async with request.param() as made:
        yield made


async def test_it_arrives_and_a_repeat_carries_the_same_id(channel: Channel) -> None:
    await channel.notifier.send(LETTER)
    await channel.notifier.send(LETTER)
    assert channel.arrived() == ["n1", "n1"]


async def test_what_may_help_later_and_what_never_will_are_told_apart(channel: Channel) -> None:
    channel.fail_for_now()
    with pytest.raises(Unreachable):
        await channel.notifier.send(LETTER)
    channel.refuse()
    with pytest.raises(Refused):
        await channel.notifier.send(LETTER)
    assert channel.arrived() == []


@pytest.mark.parametrize(
    "notifier",
    [
        SmtpNotifier(MailServer("127.0.0.1", a_free_port(), Security.NONE, SENDER)),
        WebhookNotifier(f"http://127.0.0.1:{a_free_port()}/", SECRET),
    ],
    ids=["smtp", "webhook"],
)
async def test_a_receiver_that_is_not_there_is_tried_again_later(notifier: Notifier) -> None:
    with pytest.raises(Unreachable):
        await notifier.send(LETTER)


async def test_a_mail_says_what_it_is_about_and_leads_to_the_page() -> None:
    async with mail_server() as mailbox:
        await SmtpNotifier(MailServer("127.0.0.1", mailbox.port, Security.NONE, SENDER)).send(LETTER)
    (mail,) = mailbox.mails
    assert mailbox.recipients == ["ada@example.org"]
    assert (mail["From"], mail["To"], mail["Subject"]) == (SENDER, "ada@example.org", "実験 will be paused")
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"] == "<n1.1700000000000@example.org>"
    text = mail.get_content()
    assert "kernel idle" in text
    assert "http://here.example/w/default/x" in text


async def test_whoever_has_no_address_is_not_written_to() -> None:
    async with mail_server() as mailbox:
        notifier = SmtpNotifier(MailServer("127.0.0.1", mailbox.port, Security.NONE, SENDER))
        for letter in (replace(LETTER, address=""), replace(LETTER, title="one\r\nBcc: eve@example.org")):
            with pytest.raises(Refused):
                await notifier.send(letter)
    assert mailbox.mails == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for this machine, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    files = ("-keyout", str(key), "-out", str(certificate))
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *files]
    subprocess.run(made, check=True, capture_output=True)
    return certificate, key


async def test_a_password_travels_only_encrypted_to_a_server_that_is_who_it_says(
    certificate: tuple[Path, Path],
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    async with mail_server(context, ("intermezzo", "a password")) as mailbox:
        trusted = MailServer(
            "127.0.0.1", mailbox.port, Security.STARTTLS, SENDER, "intermezzo", "a password", str(certificate[0])
        )
        await SmtpNotifier(trusted).send(LETTER)
        assert [mail["X-Intermezzo-Notice"] for mail in mailbox.mails] == ["n1"]
        for wrong in (replace(trusted, password="another"), replace(trusted, authorities=None)):
            with pytest.raises(Unreachable):
                await SmtpNotifier(wrong).send(LETTER)
        assert len(mailbox.mails) == 1
        assert "a password" not in repr(trusted)


async def test_a_receiver_can_tell_that_a_webhook_is_ours_and_unchanged() -> None:
    with web_server() as hook:
        await WebhookNotifier(hook.url, SECRET).send(LETTER)
    (headers,), (body,) = hook.headers, hook.bodies
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    (content,) = hook.contents()
    assert content["type"] == "notice.idle-pause"
    assert content["data"] == {
        "id": "n1",
        "subject": "ada",
        "namespace": "default",
        "name": "実験",
        "title": "実験 will be paused",
        "text": "kernel idle",
        "link": "http://here.example/w/default/x",
        "moment": 1_700_000_600_000,
        "snapshot_id": "",
        "expires_at": 0,
    }
    assert SECRET.encode() not in body


async def test_a_webhook_is_sent_to_the_address_that_was_set_up_and_nowhere_else() -> None:
    with web_server() as hook:
        hook.status = 307
        with pytest.raises(Refused):
            await WebhookNotifier(hook.url, SECRET).send(LETTER)
    assert len(hook.bodies) == 1


@pytest.mark.parametrize("secret", ["", "a secret", "whsec_", "whsec_c2hvcnQ=", "whsec_%%%", SECRET[6:]])
def test_a_secret_that_is_none_is_told_without_showing_it(secret: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        WebhookNotifier("http://127.0.0.1/", secret)
    assert not secret or secret not in f"{refused.value.message}"
