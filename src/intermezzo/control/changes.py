"""Tells those who watch that a workspace may have changed; it carries no content, only which one."""

import asyncio
from collections import deque

REMEMBERED = 4096


class Changes:
    """A counter of changes with the uids behind the newest of them."""

    def __init__(self) -> None:
        self._condition = asyncio.Condition()
        self._count = 0
        self._recent: deque[tuple[int, str]] = deque(maxlen=REMEMBERED)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def count(self) -> int:
        """How many changes there have been; pass it to `wait`."""
        return self._count

    def touch(self, *uids: str) -> None:
        """Say that these workspaces may have changed."""
        for uid in uids:
            self._count += 1
            self._recent.append((self._count, uid))
        task = asyncio.get_running_loop().create_task(self._notify())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait(self, after: int, timeout_s: float) -> tuple[int, set[str]]:
        """The count and the uids changed since `after`; none if nothing changed within the time."""
        try:
            async with asyncio.timeout(timeout_s), self._condition:
                await self._condition.wait_for(lambda: self._count > after)
        except TimeoutError:
            pass
        return self._count, {uid for number, uid in self._recent if number > after}

    async def _notify(self) -> None:
        async with self._condition:
            self._condition.notify_all()
