"""A clock that stands still until it is told to move."""


class ManualClock:
    """Implements `ports.clock.Clock` for tests. Times are epoch milliseconds, UTC."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        """The time it was last set to."""
        return self._now

    def advance(self, milliseconds: int) -> int:
        """Move on by a number of milliseconds and return the new time."""
        self._now += milliseconds
        return self._now

    def set(self, now: int) -> None:
        """Jump to a time, backwards too: a wall clock may."""
        self._now = now
