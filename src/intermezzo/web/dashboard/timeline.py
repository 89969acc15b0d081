"""The times of one workspace as a picture: bands on a line, drawn here from its ledger. Pure.

The picture is never the only way to read it: the page shows the same bands as a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intermezzo.domain.intervals import State, Stay, stays, time_in
from intermezzo.domain.ledger import Entry

WIDTH = 1000
DAY_MS = 24 * 3600 * 1000
WEEK_MS = 7 * DAY_MS
NARROWEST = 1.5
MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class Band:
    """A stay within the picture: `x` and `width` in the picture's units, times in epoch milliseconds."""

    state: State
    start: int
    end: int
    open: bool
    x: float
    width: float

    @property
    def lasted_ms(self) -> int:
        """How long it lasted within the picture."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Timeline:
    """From `first` to `last` (epoch milliseconds). `totals` are milliseconds by state, longest first."""

    first: int
    last: int
    bands: Sequence[Band]
    totals: dict[State, int]


def timeline(entries: Sequence[Entry], now: int, longest_ms: int = WEEK_MS) -> Timeline | None:
    """The newest part of a workspace's life; None where the ledger knows nothing of it yet."""
    found = stays(entries)
    if not found:
        return None
    first = max(found[0].interval.start, now - longest_ms)
    last = max(now, first + 1)
    bands = [_band(stay, first, last) for stay in found if stay.interval.within(first, last) > 0]
    totals = {state: time_in(state, found, first, last) for state in State}
    return Timeline(first, last, bands, dict(sorted(((s, t) for s, t in totals.items() if t), key=lambda i: -i[1])))


def _band(stay: Stay, first: int, last: int) -> Band:
    start = max(stay.interval.start, first)
    end = last if stay.interval.end is None else min(stay.interval.end, last)
    unit = WIDTH / (last - first)
    x = round((start - first) * unit, 2)
    width = max(round((end - start) * unit, 2), NARROWEST)
    return Band(stay.state, start, end, stay.interval.end is None, min(x, WIDTH - width), width)
