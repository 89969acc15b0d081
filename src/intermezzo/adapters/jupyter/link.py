"""One websocket to one kernel, with the identity under which the server keeps messages while it is broken."""

import logging
import socket
from contextlib import suppress
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode
from uuid import uuid4

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from intermezzo.adapters.jupyter.http import segment
from intermezzo.adapters.jupyter.limits import Limits
from intermezzo.adapters.jupyter.messages import SUBPROTOCOL, Message, decode, encode
from intermezzo.domain.errors import NotFound, Unreachable
from intermezzo.ports.session import Access

# At debug level the library writes every request header, and so the token, into the log.
_LOGGER = logging.getLogger("intermezzo.jupyter.websocket")
_LOGGER.setLevel(logging.INFO)
_TOO_BIG = 1009


class LinkBroken(Exception):
    """The websocket ended; `too_big` if it was ended from here because of a message beyond the limit."""

    def __init__(self, too_big: bool) -> None:
        super().__init__("a kernel message was too big" if too_big else "the connection to the kernel broke")
        self.too_big = too_big


class _Connect(connect):
    def process_redirect(self, exc: Exception) -> Exception | str:
        """Go nowhere else: the request carries the token."""
        return exc


class KernelLink:
    """A connection that can be opened again: the server then hands over what the kernel said in between."""

    def __init__(self, access: Access, kernel_id: str, limits: Limits) -> None:
        # The sandbox's server knows by the name that no page is meant, and keeps a page's messages for the page.
        self._session_id = f"intermezzo-{uuid4().hex}"
        endpoint = access.endpoint
        self._address = (
            f"ws://{endpoint.host}:{endpoint.port}{endpoint.base_path}api/kernels/{segment(kernel_id)}/channels?"
            + urlencode({"session_id": self._session_id})
        )
        self._headers = {"Authorization": f"token {access.token}"}
        self._limits = limits
        self._websocket: ClientConnection | None = None

    async def open(self) -> None:
        """Connect, or connect again. Raises `NotFound` if the kernel is gone, `Unreachable`."""
        await self.close()
        try:
            self._websocket = await _Connect(
                self._address,
                additional_headers=self._headers,
                subprotocols=[Subprotocol(SUBPROTOCOL)],
                compression=None,
                proxy=None,
                open_timeout=self._limits.connect_s,
                close_timeout=1,
                # A frozen sandbox answers no ping and must not lose its run for it: the runner looks by HTTP.
                ping_interval=None,
                max_size=self._limits.message_bytes,
                logger=_LOGGER,
            )
        except InvalidStatus as error:
            if error.response.status_code == 404:
                raise NotFound("the kernel is gone") from error
            raise Unreachable(f"the server refused the connection ({error.response.status_code})") from error
        except (OSError, TimeoutError, WebSocketException) as error:
            raise Unreachable(f"the server does not accept a connection ({type(error).__name__})") from error
        if self._websocket.subprotocol != SUBPROTOCOL:
            await self.close()
            raise Unreachable(f"the server does not speak {SUBPROTOCOL}", "Use jupyter-server 2 or later.")

    async def send(self, channel: str, message_type: str, content: dict[str, Any]) -> str:
        """Send a request and return its id, new for every request. Raises `LinkBroken`."""
        message_id = uuid4().hex
        try:
            await self._connected.send(encode(channel, message_type, message_id, self._session_id, content))
        except ConnectionClosed as error:
            raise _broken(error) from error
        return message_id

    async def receive(self) -> Message:
        """The next message; may be cancelled without losing one. Raises `LinkBroken`."""
        connection = self._connected
        _acknowledge_at_once(connection)
        try:
            return decode(await connection.recv(decode=False))
        except ConnectionClosed as error:
            raise _broken(error) from error
        except ValueError as error:
            raise LinkBroken(too_big=False) from error

    async def close(self) -> None:
        """Let go of the connection."""
        if self._websocket is not None:
            await self._websocket.close()
            self._websocket = None

    @property
    def _connected(self) -> ClientConnection:
        if self._websocket is None:
            raise LinkBroken(too_big=False)
        return self._websocket

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _acknowledge_at_once(connection: ClientConnection) -> None:
    # The server writes small messages with Nagle's algorithm: a delayed acknowledgement costs 40 ms each time.
    # Linux forgets the option after a while, so it is set anew.
    connected = connection.transport.get_extra_info("socket")
    if connected is not None and hasattr(socket, "TCP_QUICKACK"):
        with suppress(OSError):  # the connection just broke, and reading from it will say so
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _broken(error: ConnectionClosed) -> LinkBroken:
    return LinkBroken(too_big=error.sent is not None and error.sent.code == _TOO_BIG)
