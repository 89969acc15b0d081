"""Writes down every change that is asked for, whoever asks and however it is answered. The only place that does.

It looks at the route and the address's path, never at a query, a body or a header's secret.
"""

from urllib.parse import unquote

import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intermezzo.domain.access import Identity
from intermezzo.domain.account import AuditRecord
from intermezzo.domain.errors import IntermezzoError, TooManyAttempts
from intermezzo.ports.accounts import Accounts
from intermezzo.ports.clock import Clock
from intermezzo.web.auth.guard import SAFE_METHODS
from intermezzo.web.auth.origin import client_of, readable
from intermezzo.web.auth.throttle import Throttle

TARGET_LENGTH = 1000
RECORDED_READS = frozenset({"finish_login", "export_files"})
"""What changes nothing and is written down all the same: a login, and files that leave."""

UNKNOWN_CALLERS_A_MINUTE = 120

log = structlog.get_logger(__name__)


class AuditTrail:
    """ASGI middleware. What nobody known asks for is recorded up to a limit, so that it cannot fill the disk."""

    def __init__(self, app: ASGIApp, accounts: Accounts, clock: Clock) -> None:
        self.app = app
        self._accounts = accounts
        self._clock = clock
        self._unknown = Throttle(clock, UNKNOWN_CALLERS_A_MINUTE, UNKNOWN_CALLERS_A_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Record a change before its answer is sent."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = Request(scope)

        async def recorded(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_change(request):
                await self._record(request, message)
            await send(message)

        await self.app(scope, receive, recorded)

    async def _record(self, request: Request, answer: Message) -> None:
        identity: Identity | None = getattr(request.state, "identity", None)
        try:
            if identity is None:
                self._unknown.attempt("")
            await self._accounts.record(
                [
                    AuditRecord(
                        at=self._clock.now(),
                        subject=identity.subject if identity else "",
                        credential=identity.credential if identity else "",
                        peer=client_of(request),
                        action=_action(request),
                        target=_target(request, answer),
                        status=answer["status"],
                    )
                ]
            )
        except TooManyAttempts:
            log.warning("not recorded: too many changes by nobody known", peer=client_of(request))
        except IntermezzoError as error:
            log.error("the audit could not be written", action=_action(request), message=error.message)


def _is_change(request: Request) -> bool:
    """Whether a route of ours was asked for a change."""
    return bool(_action(request)) and (request.method not in SAFE_METHODS or _action(request) in RECORDED_READS)


def _action(request: Request) -> str:
    return str(getattr(request.scope.get("route"), "name", ""))


def _target(request: Request, answer: Message) -> str:
    """What was changed: what the answer says was made, else what the address names."""
    made = dict(answer["headers"]).get(b"location", b"").decode("latin-1")
    target = unquote(made) if answer["status"] == 201 and made else request.url.path
    return readable(target.partition("?")[0])[:TARGET_LENGTH]
