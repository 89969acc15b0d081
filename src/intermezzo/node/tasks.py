"""Waiting that a cancellation does not tear apart.

A thread, or a step past its commit point, cannot be stopped halfway: the cancelled caller waits for it to end
before the cancellation goes on, so that whoever comes next finds the world at rest.
"""

import asyncio
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


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Run blocking work beside the event loop, and wait for its end even when cancelled."""
    return await finished(asyncio.to_thread(function, *arguments))
