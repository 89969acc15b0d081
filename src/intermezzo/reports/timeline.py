"""Who held what when, laid out for a drawing: one row a workspace, bars in tenths of a percent of the width.

Geometry only; how it looks is the template's business.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from intermezzo.reports.figures import seconds
from intermezzo.reports.trial import Holding, Moment

WIDTH = 1000
STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
MOST_TICKS = 8
NARROWEST = 4


@dataclass(frozen=True, slots=True)
class Bar:
    """A hold: `x` and `width` in units of which the whole drawing has 1000."""

    row: int
    x: float
    width: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment on the axis."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The whole drawing. `rows` are names from top to bottom."""

    rows: tuple[str, ...]
    bars: tuple[Bar, ...]
    ticks: tuple[Mark, ...]
    marks: tuple[Mark, ...]


def timeline(holds: Iterable[Holding], moments: Iterable[Moment], start: int, end: int) -> Timeline:
    """Lay out the holds between two moments (epoch milliseconds), with a mark for each moment given."""
    span = max(1, end - start)

    def place(at: int) -> float:
        return round(WIDTH * min(max(at - start, 0), span) / span, 1)

    kept = list(holds)
    rows = tuple(dict.fromkeys(hold.name for hold in kept))
    bars = tuple(
        Bar(
            rows.index(hold.name),
            place(hold.start),
            max(NARROWEST, round(place(hold.end or end) - place(hold.start), 1)),
            f"{hold.name} held it for {seconds(((hold.end or end) - hold.start) / 1000)}",
        )
        for hold in kept
    )
    step = next((s for s in STEPS_S if span / 1000 / s <= MOST_TICKS), STEPS_S[-1])
    ticks = tuple(Mark(place(start + s * 1000), seconds_label(s)) for s in range(0, span // 1000 + 1, step))
    return Timeline(rows, bars, ticks, tuple(Mark(place(moment.at), moment.name) for moment in moments))


def seconds_label(count: int) -> str:
    """A tick's label: `0:00`, `1:30`, `2:05:00`."""
    hours, rest = divmod(count, 3600)
    text = f"{rest // 60}:{rest % 60:02}"
    return text if not hours else f"{hours}:{rest // 60:02}:{rest % 60:02}"
