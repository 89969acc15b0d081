"""A door to a server in a sandbox, as the gateway is one: takes the prefix away and adds the workspace's token."""

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from intermezzo.domain.orders import Endpoint

CHUNK = 1 << 16
Listener = Callable[[bytes], None]


class Door:
    """Serves on a free port of the loopback interface until it is left. `heard` gets what browsers send after the
    head of a websocket's first request, connection by connection."""

    def __init__(self, endpoint: Endpoint, token: str, prefix: str, heard: Callable[[str], Listener] | None = None):
        self._endpoint = endpoint
        self._token = token
        self._prefix = prefix
        self._heard = heard
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="door")
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=CHUNK), self._loop
        ).result()
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}{self._prefix}/"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        assert self._server
        self._server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            await asyncio.wait({task})

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            behind, to_server = await asyncio.open_connection(self._endpoint.host, self._endpoint.port)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()
            return
        request, websocket = self._rewritten(head)
        listener = self._heard(request) if self._heard and websocket else None
        to_server.write(request.encode("latin-1"))
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_pump(reader, to_server, listener))
                both.create_task(_pump(behind, writer, None))
        finally:
            writer.close()
            to_server.close()

    def _rewritten(self, head: bytes) -> tuple[str, bool]:
        """One request a connection, but for a websocket, so that every request is seen here."""
        first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        websocket = any(line.lower().startswith("upgrade:") for line in lines)
        kept = [line for line in lines if websocket or not line.lower().startswith("connection:")]
        added = [f"Authorization: token {self._token}", *([] if websocket else ["Connection: close"])]
        return "\r\n".join([first.replace(self._prefix, "", 1), *kept, *added, "", ""]), websocket


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, listener: Listener | None) -> None:
    try:
        while chunk := await source.read(CHUNK):
            if listener:
                listener(chunk)
            sink.write(chunk)
            await sink.drain()
    except OSError:
        pass
    finally:
        sink.close()
