"""Numbers, sizes, durations and moments as a language writes them. Pure."""

from datetime import UTC, datetime

from babel.dates import format_skeleton
from babel.numbers import format_decimal
from markupsafe import Markup

from intermezzo.web.words.locale import Locale

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
STEP = 1024

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def number(locale: Locale, amount: float) -> str:
    """A number with the language's separators, at most three decimals."""
    return str(format_decimal(amount, locale=locale.formats))


def size(locale: Locale, count: int) -> str:
    """Bytes in binary units: `6.1 GiB`."""
    amount, unit = float(count), UNITS[0]
    for unit in UNITS:
        if amount < STEP:
            break
        if unit != UNITS[-1]:
            amount /= STEP
    return f"{format_decimal(amount, '#,##0' if unit == 'B' else '#,##0.0', locale=locale.formats)} {unit}"


def duration(locale: Locale, milliseconds: int) -> str:
    """How long, in the two units that matter: `0.4 s`, `41 min 7 s`, `12 h 40 min`, `2 d 3 h`."""
    _ = locale.gettext
    seconds = milliseconds // 1000
    if seconds < MINUTE:
        return _("{seconds} s", seconds=format_decimal(milliseconds // 100 / 10, "0.0", locale=locale.formats))
    if seconds < HOUR:
        return _("{minutes} min {seconds} s", minutes=seconds // MINUTE, seconds=seconds % MINUTE)
    if seconds < 2 * DAY:
        return _("{hours} h {minutes} min", hours=seconds // HOUR, minutes=seconds % HOUR // MINUTE)
    return _("{days} d {hours} h", days=seconds // DAY, hours=seconds % DAY // HOUR)


def moment(locale: Locale, at: int) -> str:
    """Epoch milliseconds in local time with its zone, as a `<time>` element that carries exact UTC; 0 is never."""
    if not at:
        return locale.gettext("never")
    utc = _utc(at)
    exact = utc.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        exact, utc.strftime("%Y-%m-%d %H:%M:%S UTC"), _local(locale, utc)
    )


def plain_moment(locale: Locale, at: int) -> str:
    """The same without markup, for what is not a page."""
    return _local(locale, _utc(at)) if at else locale.gettext("never")


def _utc(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)


def _local(locale: Locale, utc: datetime) -> str:
    local = utc.astimezone(locale.timezone)
    day, time = (format_skeleton(skeleton, local, locale=locale.formats) for skeleton in ("yMMMd", "Hm"))
    name = local.strftime("%Z")
    together = str(locale.formats.datetime_formats["medium"]).format(time, day)
    return f"{together} {name if name.isalpha() else f'UTC{name}'}"
