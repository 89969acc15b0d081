"""Measures how far a transfer is and how fast it goes. Written by many threads, read by any."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from intermezzo.domain.transfer import Transfer, TransferStep

LEAST_S = 0.5


@dataclass(slots=True)
class Meter:
    """`total` bytes of a snapshot to go through; what was there already counts as done and not as speed.

    `clock` gives seconds that only go up.
    """

    snapshot_id: str
    step: TransferStep
    total: int
    clock: Callable[[], float] = time.monotonic
    _done: int = 0
    _moved: int = 0
    _began: float = field(default=0.0)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def moved(self, count: int) -> None:
        """So many bytes more were transferred."""
        with self._counting:
            self._done += count
            self._moved += count

    def found(self, count: int) -> None:
        """So many bytes more were there already."""
        with self._counting:
            self._done += count

    def reading(self, trouble: str = "") -> Transfer:
        """How it stands now."""
        with self._counting:
            lasted = self.clock() - self._began
            rate = int(self._moved / lasted) if lasted >= LEAST_S else 0
            return Transfer(self.snapshot_id, self.step, self._done, self.total, 0 if trouble else rate, trouble)
