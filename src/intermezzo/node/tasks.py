"""Waiting that a cancellation does not tear apart.

A thread, or a step past its commit point, cannot be stopped halfway: the cancelled caller waits for it to end
before the cancellation goes on, so that whoever comes next finds the world at rest.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def finished(awaitable: Awaitable[T]) -> T:
    """Await to the end; a cancellation that comes meanwhile is raised afterwards."""
    task = asyncio.ensure_future(awaitable)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
        except BaseException:
            if not cancelled:
                raise
    if cancelled:
        raise asyncio.CancelledError
    return task.result()


async def in_own_thread(work: Callable[[], T]) -> T:
    """Run blocking work in a thread of its own, which may keep a low priority for good. Neither a cancelled caller nor
    the end of the process waits for it: it must be safe to cut short anywhere."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def tell(settle: Callable[[Any], None], value: object) -> None:
        if not outcome.done():
            settle(value)

    def run() -> None:
        told: tuple[Callable[[Any], None], object]
        try:
            told = outcome.set_result, work()
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            told = outcome.set_exception, error
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits
            loop.call_soon_threadsafe(tell, *told)

    threading.Thread(target=run, daemon=True).start()
    return await outcome


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Run blocking work beside the event loop, and wait for its end even when cancelled."""
    return await finished(asyncio.to_thread(function, *arguments))
