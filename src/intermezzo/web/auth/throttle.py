"""How often something may be tried, from one address and by all together, so that guessing is hopeless.

Memory is bounded however many addresses try: who has not tried for a window is forgotten, and of too many at once the
oldest.
"""

from collections import OrderedDict
from dataclasses import dataclass

from intermezzo.domain.errors import TooManyAttempts
from intermezzo.ports.clock import Clock

WINDOW_MS = 60_000


@dataclass(slots=True)
class _Window:
    began: int
    count: int = 0


class Throttle:
    """Counts attempts in windows of a minute. An attempt that turned out well can be taken back."""

    def __init__(self, clock: Clock, each: int, together: int, remembered: int = 10_000) -> None:
        self._clock = clock
        self._each = each
        self._together = together
        self._remembered = remembered
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        self._all = _Window(clock.now())

    def attempt(self, peer: str) -> None:
        """Count an attempt from an address. Raises `TooManyAttempts` instead where it is one too many."""
        now = self._clock.now()
        windows = ((self._window(peer, now), self._each), (self._whole(now), self._together))
        for window, most in windows:
            if window.count >= most:
                left_s = max(1, (window.began + WINDOW_MS - now + 999) // 1000)
                raise TooManyAttempts("this was tried too often lately", retry_after_s=left_s)
        for window, _ in windows:
            window.count += 1

    def forgive(self, peer: str) -> None:
        """Take an attempt back."""
        for window in (self._windows.get(peer), self._all):
            if window is not None and window.count > 0:
                window.count -= 1

    def __len__(self) -> int:
        return len(self._windows)

    def _whole(self, now: int) -> _Window:
        if self._is_over(self._all, now):
            self._all = _Window(now)
        return self._all

    def _window(self, peer: str, now: int) -> _Window:
        while self._windows and self._is_over(next(iter(self._windows.values())), now):
            self._windows.popitem(last=False)
        if peer not in self._windows:
            if len(self._windows) >= self._remembered:
                self._windows.popitem(last=False)
            self._windows[peer] = _Window(now)
        return self._windows[peer]

    def _is_over(self, window: _Window, now: int) -> bool:
        return not window.began <= now < window.began + WINDOW_MS
