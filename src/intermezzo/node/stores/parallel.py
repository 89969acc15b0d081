"""Several parts at once, and none begun after one has failed or somebody needs the line.

Results come in the order of what was given. When this returns or raises, nothing of it is under way any more.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")
AT_ONCE = 4


class Cancelled(Exception):
    """Given up because somebody asked for it; what was done so far is kept."""


def each(work: Callable[[A], B], items: Sequence[A], cancelled: threading.Event) -> list[B]:
    """`work` of every item. Raises Cancelled, or the first failure in order."""
    failed = threading.Event()

    def one(item: A) -> B:
        if cancelled.is_set() or failed.is_set():
            raise Cancelled
        try:
            return work(item)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(min(AT_ONCE, max(1, len(items)))) as pool:
        futures = [pool.submit(one, item) for item in items]
    errors = [error for future in futures if (error := future.exception())]
    for error in sorted(errors, key=lambda error: isinstance(error, Cancelled)):
        raise error
    return [future.result() for future in futures]
