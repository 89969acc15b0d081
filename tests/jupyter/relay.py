"""A connection that can be cut: relays TCP to a server, and breaks, holds or refuses when told."""

import asyncio
from dataclasses import replace
from types import TracebackType
from typing import Self

from intermezzo.domain.orders import Endpoint


class Relay:
    """Listens on a free port of the loopback interface while its context lasts."""

    def __init__(self, target: Endpoint) -> None:
        self._target = target
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def endpoint(self) -> Endpoint:
        """Where to connect instead of the target."""
        port: int = self._listener.sockets[0].getsockname()[1] if self._listener.sockets else self._port
        return replace(self._target, host="127.0.0.1", port=port)

    async def has_connections(self) -> bool:
        return bool(self._writers)

    def cut(self) -> None:
        """Break every connection, as a vanished peer does."""
        for writer in list(self._writers):
            writer.transport.abort()
        self._writers.clear()

    def hold(self) -> None:
        """Accept connections, but let nothing through until `release`."""
        self._open.clear()

    def release(self) -> None:
        self._open.set()

    async def close(self) -> None:
        """Accept no more, and break what there is."""
        self._listener.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open.wait()
        up_reader, up_writer = await asyncio.open_connection(self._target.host, self._target.port)
        self._writers |= {writer, up_writer}
        pumps = [asyncio.ensure_future(_pump(a, b)) for a, b in ((reader, up_writer), (up_reader, writer))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for end in (writer, up_writer):
                end.transport.abort()
            self._writers -= {writer, up_writer}

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._relay(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._port: int = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
