"""A queue of keys to look at: each key is worked on by one worker at a time, and a key added twice is looked at once.

The queue carries keys only, never what happened, so that nothing can be decided from an event. It is the idea of
controller-runtime's work queue on asyncio.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

log = structlog.get_logger(__name__)

FIRST_RETRY_S = 0.2
LONGEST_RETRY_S = 15.0

Handler = Callable[[str], Awaitable[float | None]]
"""Works on a key; returns after how many seconds to look again at the latest, or None."""


class WorkQueue:
    """Runs `handler` for every added key, with at most `workers` keys at once and backoff after errors."""

    def __init__(self, handler: Handler, workers: int = 8) -> None:
        self._handler = handler
        self._workers = workers
        self._ready: asyncio.Queue[str] = asyncio.Queue()
        self._waiting: set[str] = set()
        self._active: set[str] = set()
        self._again: set[str] = set()
        self._failures: dict[str, int] = {}
        self._due: dict[str, float] = {}
        self._alarm = asyncio.Event()

    def add(self, key: str) -> None:
        """Look at this key as soon as a worker is free."""
        if key in self._active:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.put_nowait(key)

    def add_after(self, key: str, seconds: float) -> None:
        """Look at this key again at the latest after so many seconds."""
        self._due[key] = asyncio.get_running_loop().time() + seconds
        self._alarm.set()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._ring())
            for _ in range(self._workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            key = await self._ready.get()
            self._waiting.discard(key)
            self._active.add(key)
            try:
                await self._handle(key)
            finally:
                self._active.discard(key)
                if key in self._again:
                    self._again.discard(key)
                    self.add(key)

    async def _handle(self, key: str) -> None:
        try:
            after = await self._handler(key)
        except Exception:
            # One key's fault must not end the work on all others.
            self._failures[key] = self._failures.get(key, 0) + 1
            delay = min(FIRST_RETRY_S * 2 ** (self._failures[key] - 1), LONGEST_RETRY_S)
            log.exception("reconcile_failed", workspace=key, retry_s=delay)
            self.add_after(key, delay)
        else:
            self._failures.pop(key, None)
            self._due.pop(key, None)
            if after is not None:
                self.add_after(key, after)

    async def _ring(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._alarm.clear()
            for key in [key for key, due in self._due.items() if due <= loop.time()]:
                del self._due[key]
                self.add(key)
            timeout = min(self._due.values()) - loop.time() if self._due else None
            try:
                # Not wait_for: on Python 3.11 that loses a cancellation which comes together with the alarm.
                async with asyncio.timeout(timeout):
                    await self._alarm.wait()
            except TimeoutError:
                continue
