"""Puts the control plane together: the only place that knows which adapter stands behind which port.

Run as `python -m intermezzo.app SETTINGS.json` by the supervisor, without privileges.
"""

import asyncio
import json
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from intermezzo import logs, steps
from intermezzo.adapters.jupyter.session import JupyterSession
from intermezzo.adapters.local.cluster import LocalCluster
from intermezzo.adapters.notify.smtp import MailServer, Security, SmtpNotifier
from intermezzo.adapters.notify.webhook import WebhookNotifier
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.config.settings import Settings
from intermezzo.control.accounts import LOCAL_SUBJECT, People
from intermezzo.control.context import Context, IdlePauses, Limits
from intermezzo.control.notices.outbox import Outbox
from intermezzo.control.plane import ControlPlane
from intermezzo.control.shutdown import shut_down
from intermezzo.domain.account import Use
from intermezzo.domain.errors import Unauthenticated
from intermezzo.garbage import collect_seldom
from intermezzo.kinds import load_shipped_kinds
from intermezzo.policies import load_shipped_policies
from intermezzo.ports.clock import SystemClock
from intermezzo.ports.notifier import Notifier
from intermezzo.private import private_socket, read_secret, write_private
from intermezzo.web.application import create_api
from intermezzo.web.auth.credentials import Credentials
from intermezzo.web.auth.origin import Site
from intermezzo.web.correspondence import Correspondence
from intermezzo.web.gateway.private import create_gateway_api

GRACE_S = 2


async def assemble(settings: Settings) -> ControlPlane:
    """The control plane on this machine's adapters."""
    store = steps.stepwise(await SqlStore.open(settings.database.url), "store")
    context = Context(
        store=store,
        cluster=steps.stepwise(LocalCluster(settings.node_socket), "cluster"),
        session=steps.stepwise(JupyterSession(), "session"),
        clock=SystemClock(),
        kinds=load_shipped_kinds(),
        policies=load_shipped_policies(),
        secret=_secret(settings.data_dir / "control" / "secret.key"),
        limits=Limits(
            start_ms=int(settings.timeouts.start_s * 1000),
            resume_ms=int(settings.timeouts.resume_s * 1000),
            keep_snapshots=settings.snapshots.keep,
            snapshot_age_s=settings.snapshots.max_age_s,
            snapshot_warn_s=settings.snapshots.warn_before_s,
        ),
        idle=IdlePauses(settings.idle.pauses, settings.idle.every_s),
    )
    plane = ControlPlane(context)
    await plane.catalogue.load()
    return plane


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM; then bring the workspaces to rest and end."""
    plane = await assemble(settings)
    store, clock = plane.context.store, plane.context.clock
    site = Site(settings.listen.public_url, settings.listen.trusted_proxies)
    public = create_api(plane, store, clock, site, settings.accounts)
    for_gateway = InBackground(_configuration(create_gateway_api(public)))
    outbox = _outbox(plane, settings)
    working = asyncio.create_task(plane.run_forever())
    bringing = asyncio.create_task(outbox.run())
    telling = asyncio.create_task(for_gateway.serve(sockets=[private_socket(settings.gateway_socket)]))
    try:
        await People(store.accounts, store, clock).prepare()
        await _write_connection(Credentials(store.accounts, clock), settings, settings.listen.url)
        await uvicorn.Server(_configuration(public)).serve(sockets=[private_socket(settings.web_socket)])
        lost = await shut_down(plane, settings.shutdown.workspaces)
        told = {str(w.key): w.condition.message if w.condition else "It was not paused in time." for w in lost}
        write_private(settings.lost_file, json.dumps(told).encode())
    finally:
        for_gateway.should_exit = True
        await telling
        for task in (working, bringing):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await store.close()


def _outbox(plane: ControlPlane, settings: Settings) -> Outbox:
    """What brings notices to people, over the channels that are set up. Raises `InvalidInput`."""
    smtp, webhook = settings.notify.smtp, settings.notify.webhook
    channels: list[Notifier] = []
    if smtp.host:
        server = MailServer(
            smtp.host,
            smtp.port,
            Security(smtp.security),
            smtp.sender,
            smtp.user,
            read_secret(smtp.password_file, "notify.smtp.password_file"),
            str(smtp.authorities) if smtp.authorities else None,
        )
        channels.append(SmtpNotifier(server))
    if webhook.url:
        channels.append(WebhookNotifier(webhook.url, read_secret(webhook.secret_file, "notify.webhook.secret_file")))
    return Outbox(plane.context.store, plane.context.clock, channels, Correspondence(settings.listen.url))


class InBackground(uvicorn.Server):
    """A server beside the main one, which alone hears the signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear none."""
        yield


def _configuration(app: FastAPI) -> uvicorn.Config:
    """Only the gateway reaches the sockets, and it replaces the forwarding headers, so that they can be believed."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips="*",
    )


async def _write_connection(credentials: Credentials, settings: Settings, url: str) -> None:
    """Address and token for the tools on this machine: whoever may read the file may use them."""
    kept = settings.data_dir / "control" / "local-token"
    token = kept.read_text() if kept.exists() else ""
    try:
        await credentials.identify(token, Use.API)
    except Unauthenticated:
        token = await credentials.issue(LOCAL_SUBJECT, Use.API, "local tools")
        write_private(kept, token.encode())
    write_private(settings.connection_file, json.dumps({"url": url, "token": token}).encode())


def _secret(path: Path) -> bytes:
    """The key that the workspaces' access tokens are derived from; made once."""
    if not path.exists():
        write_private(path, secrets.token_bytes(32))
    return path.read_bytes()


def _ignore(_signal: int, _frame: object) -> None:
    """uvicorn handles the signals while it serves, and raises them once more when it is done."""


def main() -> int:
    """Read the settings that the supervisor wrote and serve."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _ignore)
    settings = Settings(**json.loads(Path(sys.argv[1]).read_text()))
    logs.configure(settings.log.level)
    collect_seldom()
    if settings.crash_tests.directory:
        steps.arm(settings.crash_tests.directory / "control")
    asyncio.run(serve(settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
