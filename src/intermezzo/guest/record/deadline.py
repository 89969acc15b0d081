"""How long something may still take. What is not done by then is left out and said to be; nothing waits for it."""

import time


class Deadline:
    """A moment on the monotonic clock, `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds
        self.missed = False

    @property
    def passed(self) -> bool:
        """Whether it is over; from then on `missed` says that something was left out because of it."""
        self.missed = self.missed or time.monotonic() >= self._at
        return self.missed
