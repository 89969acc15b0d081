"""Figures as people read them in reports: seconds, bytes, times of day, amounts of compute, ratios."""

from datetime import UTC, datetime

from intermezzo.reports.trial import Amount

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
STEP = 1024
MINUTE_S = 60
UNKNOWN = "not measured"


def seconds(count: float | None) -> str:
    """`0.85 s`, `24.3 s`, `2 min 5 s`."""
    if count is None:
        return UNKNOWN
    if count < 10:
        return f"{count:.2f} s"
    if count < 2 * MINUTE_S:
        return f"{count:.1f} s"
    minutes, rest = divmod(round(count), MINUTE_S)
    return f"{minutes} min {rest} s"


def size(count: int | None) -> str:
    """`647.4 MiB`."""
    if count is None:
        return UNKNOWN
    amount = float(count)
    for unit in UNITS:
        if amount < STEP or unit == UNITS[-1]:
            break
        amount /= STEP
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def clock(milliseconds: int) -> str:
    """A time of day in UTC, to the thousandth of a second."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]


def day(milliseconds: int) -> str:
    """A date and time in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def compute(amount: Amount) -> str:
    """`1 CPU, 2.0 GiB, 1 nvidia.com/gpu (virtual)`."""
    parts = [f"{amount.cpu:g} CPU", size(amount.memory_bytes)]
    for name, count in sorted(amount.accelerators.items()):
        if count:
            parts.append(f"{count} {name}" + (" (virtual)" if name in amount.virtual else ""))
    return ", ".join(parts)


def times(slow: float | None, fast: float | None) -> str:
    """How many times as fast: `58 times`; empty if it cannot be said."""
    if not slow or not fast:
        return ""
    ratio = slow / fast
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.1f} times"
