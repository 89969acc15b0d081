"""How many do the same at once, across all workspaces: each of them takes memory and the line."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from intermezzo.node.stores.parallel import Cancelled

LOOK_S = 0.2


class Turns:
    """At most `at_once` are let in; the others wait, and leave when they are cancelled."""

    def __init__(self, at_once: int) -> None:
        self._free = threading.Semaphore(at_once)

    @contextmanager
    def one(self, cancelled: threading.Event) -> Iterator[None]:
        """Wait for a turn and have it. Raises Cancelled."""
        while not self._free.acquire(timeout=LOOK_S):
            if cancelled.is_set():
                raise Cancelled
        try:
            yield
        finally:
            self._free.release()
