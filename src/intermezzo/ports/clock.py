"""Time as the control plane sees it, so that tests can move it.

`now` is for records, in whole UTC epoch milliseconds; it may jump. Durations and deadlines inside one
process belong to a monotonic clock.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> int:
        """UTC, epoch milliseconds."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> int:
        """UTC, epoch milliseconds."""
        return time.time_ns() // 1_000_000
