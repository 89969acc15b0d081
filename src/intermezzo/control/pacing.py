"""How the loops of the control plane work beside each other: in small parts, so that nothing else waits for them, and
each for itself, so that what goes wrong in one ends no other."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import structlog

from intermezzo.domain.errors import Unreachable

AT_ONCE = 100

T = TypeVar("T")

log = structlog.get_logger(__name__)


async def paced(items: Iterable[T], at_once: int = AT_ONCE) -> AsyncIterator[T]:
    """The items, with a turn for everything else after so many of them."""
    for number, item in enumerate(items, start=1):
        yield item
        if number % at_once == 0:
            await asyncio.sleep(0)


def in_parts(items: Iterable[T], at_once: int) -> Iterator[list[T]]:
    """The items in lists of at most so many, for what takes several at once."""
    iterator = iter(items)
    while part := list(islice(iterator, at_once)):
        yield part


async def attempted(work: Callable[[], Awaitable[T]], what: str) -> T | None:
    """One round of a loop that goes on whatever comes of it; None where it failed, and the log says why."""
    try:
        return await work()
    except Unreachable as silent:
        log.warning("round_left_out", of=what, reason=silent.message)
    except Exception:
        log.exception("round_failed", of=what)
    return None
