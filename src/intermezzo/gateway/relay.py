"""The websocket relay: every websocket to a workspace goes through here, so that each can be refused before it is open,
bounded while it is, and closed as soon as nobody may use it any more.

Who may open one and where it leads is asked of the control plane. What is said on it is passed on unchanged and
never logged.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, unix_serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from intermezzo.client.gateway import Attachment, AttachRequest, OpenSocket, RoutingTable
from intermezzo.domain.errors import Unreachable
from intermezzo.gateway.activity import Reporter
from intermezzo.gateway.control import ControlPlane, Refusal
from intermezzo.gateway.input import listened_for
from intermezzo.private import private_socket

LOOK_S = 2.0
PING_S = 30.0
OPEN_S = 10.0
CLOSE_S = 1.0
QUEUED_MESSAGES = 4
GOING_AWAY, POLICY_VIOLATION, SERVICE_RESTART = 1001, 1008, 1012
NEVER_SENT = frozenset({1004, 1005, 1006, 1015})
log = structlog.get_logger(__name__)

# At finer levels the library writes down headers, and so cookies and tokens.
_library = logging.getLogger("intermezzo.gateway.websocket")
_library.setLevel(logging.CRITICAL)


class _Connect(connect):
    def process_redirect(self, exc: Exception) -> Exception | str:
        """Go nowhere else: the request carries the workspace's token."""
        return exc


class _Pair:
    """A websocket from a browser and its continuation into a sandbox."""

    def __init__(self, attachment: Attachment, upstream: ClientConnection) -> None:
        self.upstream = upstream
        end = attachment.upstream
        self.workspace = end.workspace
        self.known_as = OpenSocket(credential=attachment.credential, workspace=end.workspace, sandbox=end.sandbox)
        self.input = listened_for(attachment.path)


class Relay:
    """All websockets of one gateway."""

    def __init__(self, control: ControlPlane, activity: Reporter, message_bytes: int) -> None:
        self._control = control
        self._activity = activity
        self._message_bytes = message_bytes
        self._opening: dict[ServerConnection, _Pair] = {}
        self._open: dict[ServerConnection, _Pair] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serving(self, socket: Path) -> AsyncIterator[None]:
        """Accept websockets at a private unix socket while the context lasts."""
        server = await unix_serve(
            self._relay,
            sock=private_socket(socket),
            process_request=self._ask,
            select_subprotocol=self._subprotocol,
            compression=None,
            server_header=None,
            max_size=self._message_bytes,
            max_queue=QUEUED_MESSAGES,
            ping_interval=PING_S,
            ping_timeout=PING_S,
            open_timeout=2 * OPEN_S,
            # Time for a browser in the midst of a message that is too large to hear why it is cut off.
            close_timeout=OPEN_S,
            logger=_library,
        )
        try:
            yield
        finally:
            server.close(code=SERVICE_RESTART)
            await server.wait_closed()

    def keep_to(self, table: RoutingTable) -> None:
        """End what leads to a sandbox that is not routed to any more. Its server is told first, and what it had said
        before still reaches the browser: from then on it keeps its messages for whoever comes back."""
        routed = {(upstream.workspace, upstream.sandbox) for upstream in table.upstreams}
        for pair in self._open.values():
            if (pair.known_as.workspace, pair.known_as.sandbox) not in routed:
                self._begin(pair.upstream.close(GOING_AWAY))

    async def close_what_may_not_stay(self) -> None:
        """Ask again and again which websockets nobody may use any more, and close those."""
        while True:
            await asyncio.sleep(LOOK_S)
            with suppress(Unreachable):
                await self._close_once()

    async def _close_once(self) -> None:
        looked_at = list(self._open.items())
        distinct = list({pair.known_as for _, pair in looked_at})
        if not distinct:
            return
        closing = {distinct[place] for place in await self._control.to_close(distinct)}
        for browser, pair in looked_at:
            if pair.known_as in closing:
                # Not waited for: one that does not answer must not keep the others open.
                self._begin(browser.close(POLICY_VIOLATION, "no longer allowed or running"))

    async def _ask(self, browser: ServerConnection, request: Request) -> Response | None:
        """Before the handshake is answered: may it be, and does the sandbox accept it?"""
        headers = {name.lower(): _joined(request.headers, name) for name in request.headers}
        try:
            attachment = await self._control.attach(AttachRequest(path=request.path, headers=headers))
        except Refusal as refusal:
            return _answer(refusal.status, refusal.problem)
        except Unreachable:
            return _answer(503, b"")
        try:
            upstream = await self._dial(attachment, request)
        except InvalidStatus as error:
            return _answer(error.response.status_code, b"")
        except (OSError, TimeoutError, WebSocketException):
            return _answer(502, b"")
        self._opening[browser] = _Pair(attachment, upstream)
        self._begin(self._forget(browser))
        return None

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forget(self, browser: ServerConnection) -> None:
        """A browser that vanished during the handshake leaves nothing open behind it."""
        await browser.wait_closed()
        pair = self._opening.pop(browser, None)
        if pair is not None:
            await pair.upstream.close()

    async def _dial(self, attachment: Attachment, request: Request) -> ClientConnection:
        end = attachment.upstream
        offered = [
            Subprotocol(name.strip())
            for line in request.headers.get_all("Sec-WebSocket-Protocol")
            for name in line.split(",")
        ]
        headers = dict(end.set_headers)
        if end.token:
            headers["Authorization"] = f"token {end.token}"
        return await _Connect(
            f"ws://{end.host}:{end.port}{attachment.path}",
            additional_headers=headers,
            subprotocols=offered or None,
            compression=None,
            proxy=None,
            max_size=self._message_bytes,
            max_queue=QUEUED_MESSAGES,
            open_timeout=OPEN_S,
            close_timeout=CLOSE_S,
            # A sandbox that is frozen for a pause answers no ping; its end is seen by asking the control plane.
            ping_interval=None,
            logger=_library,
        )

    def _subprotocol(self, browser: ServerConnection, offered: object) -> Subprotocol | None:
        return self._opening[browser].upstream.subprotocol

    async def _relay(self, browser: ServerConnection) -> None:
        pair = self._open[browser] = self._opening.pop(browser)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._to_sandbox(browser, pair))
                tasks.create_task(_to_browser(browser, pair.upstream))
        finally:
            del self._open[browser]

    async def _to_sandbox(self, browser: ServerConnection, pair: _Pair) -> None:
        try:
            async for message in browser:
                if pair.input is not None and pair.input.is_in(message):
                    self._activity.note(pair.workspace, pair.input.source)
                await pair.upstream.send(message)
        except ConnectionClosed:
            pass
        await pair.upstream.close()


async def _to_browser(browser: ServerConnection, upstream: ClientConnection) -> None:
    with suppress(ConnectionClosed):
        async for message in upstream:
            await browser.send(message)
    code, reason = _how_it_ended(upstream)
    await browser.close(code, reason)


def _how_it_ended(upstream: ClientConnection) -> tuple[int, str]:
    """The code to close the browser's side with: the sandbox's own where there is one that may be sent.

    A session that is gone may come back. JupyterLab takes `going away` for a good-bye and never looks again; after a
    `service restart` it does.
    """
    code = upstream.close_code
    if code is None or code in NEVER_SENT or code == GOING_AWAY:
        return SERVICE_RESTART, "the session's server is gone"
    return code, upstream.close_reason or ""


def _joined(headers: Headers, name: str) -> str:
    """One value for a header that was sent more than once; of cookies that is still a list of cookies."""
    return ("; " if name.lower() == "cookie" else ", ").join(headers.get_all(name))


def _answer(status: int, body: bytes) -> Response:
    headers = Headers({"Content-Length": str(len(body)), "Connection": "close", "Cache-Control": "no-store"})
    if body:
        headers["Content-Type"] = "application/problem+json"
    return Response(status, "", headers, body)
