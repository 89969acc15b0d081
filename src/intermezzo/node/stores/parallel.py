"""Several parts at once, and none begun after one has failed or somebody needs the line.

Results come in the order of what was given. When this returns or raises, nothing of it is under way any more.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

A = TypeVar("A")
B = TypeVar("B")
AT_ONCE = 4


class Cancelled(Exception):
    """Given up because somebody asked for it; what was done so far is kept."""


def each(work: Callable[[A], B], items: Sequence[A], cancelled: threading.Event) -> list[B]:
    """`work` of every item. Raises Cancelled, or the first failure that came."""
    results: dict[int, B] = {}
    failures: list[BaseException] = []
    left, taking = iter(enumerate(items)), threading.Lock()

    def run() -> None:
        while not failures and not cancelled.is_set():
            with taking:
                number, item = next(left, (-1, None))
            if number < 0:
                return
            try:
                results[number] = work(cast(A, item))
            except BaseException as error:  # noqa: BLE001 - raised below, in the thread that asked
                failures.append(error)

    # No pool: the end of the process does not wait for threads of this kind.
    threads = [threading.Thread(target=run, name="part", daemon=True) for _ in range(min(AT_ONCE, len(items)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    if len(results) < len(items):
        raise Cancelled
    return [results[number] for number in range(len(items))]
