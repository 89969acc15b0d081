"""When a workspace is to be paused or resumed by itself: at a time of day, on some days of the week or once, in a
time zone. Pure.

Times are told as RFC 5545 tells them over daylight-saving changes: a time that the clocks pass over is taken by the
offset before the change, one that comes twice is its first. So each day has exactly one of each.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from zoneinfo import ZoneInfo

from intermezzo.domain.errors import InvalidInput

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS

MADE_UP_FOR_MS = HOUR_MS
"""What was missed, because the control plane was down, is made up for if it is at most so old."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# An offset differs from UTC by less than a day, and a change of the offset may skip one.
_MARGIN_DAYS = 3
_WEEK_DAYS = 7
_TIME = re.compile(r"\d{2}:\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}")


class Weekday(StrEnum):
    """The days of the week, in the order of ISO 8601."""

    MONDAY = "mon"
    TUESDAY = "tue"
    WEDNESDAY = "wed"
    THURSDAY = "thu"
    FRIDAY = "fri"
    SATURDAY = "sat"
    SUNDAY = "sun"


WEEK = tuple(Weekday)


class Action(StrEnum):
    """What is to happen. `ready` begins the resume so early that the session answers by then."""

    PAUSE = "pause"
    RESUME = "resume"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Weekly:
    """At a time of day on these days of the week."""

    at: time
    days: frozenset[Weekday] = frozenset(WEEK)

    def __str__(self) -> str:
        return f"{days_in_words(self.days)} {self.at:%H:%M}"


@dataclass(frozen=True, slots=True)
class Once:
    """At one time of one day."""

    at: datetime

    def __str__(self) -> str:
        return self.at.isoformat(timespec="minutes")


Rule = Weekly | Once


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One wish about one workspace. All times are epoch milliseconds.

    Every occurrence up to `done_until` was dealt with. `held_until` is how long a keep-awake lease holds back the one
    that is due, as it was last seen; 0 where none does.
    """

    id: str
    workspace_uid: str
    action: Action
    rule: Rule
    zone: str
    set_by: str
    set_at: int
    done_until: int
    held_until: int = 0

    @property
    def wish(self) -> tuple[Action, Rule, str]:
        """What two schedules that want the same have in common."""
        return self.action, self.rule, self.zone

    def contradicts(self, other: "Schedule") -> bool:
        """Whether both come at the same times, the one to pause and the other not."""
        same_times = (self.rule, self.zone) == (other.rule, other.zone)
        return same_times and (self.action is Action.PAUSE) != (other.action is Action.PAUSE)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One that is due. `late_ms` is how late it is, not counting what a lease held it back for; `older` is the first
    of those before it that were missed too, None if there are none. Times are epoch milliseconds."""

    at: int
    late_ms: int
    older: int | None

    @property
    def timely(self) -> bool:
        """Whether it is still to be made up for."""
        return self.late_ms <= MADE_UP_FOR_MS


def due(schedule: Schedule, now: int, lead_ms: int = 0) -> Occurrence | None:
    """The newest occurrence that is due at `now` and was not dealt with; one is due `lead_ms` before its time."""
    at = newest_until(schedule.rule, schedule.zone, now + lead_ms)
    if at is None or at <= schedule.done_until:
        return None
    first = next_after(schedule.rule, schedule.zone, schedule.done_until)
    late = now - max(at, schedule.held_until)
    return Occurrence(at, max(0, late), None if first == at else first)


def next_after(rule: Rule, zone: str, moment: int) -> int | None:
    """The first occurrence after `moment` (epoch milliseconds); None if there is none any more."""
    if isinstance(rule, Once):
        at = _moment(rule.at.date(), rule.at.time(), zone)
        return at if at > moment else None
    first = _day(moment, zone) - timedelta(days=_MARGIN_DAYS)
    days = (first + timedelta(days=number) for number in range(2 * _MARGIN_DAYS + _WEEK_DAYS))
    occurrences = (_moment(day, rule.at, zone) for day in days if WEEK[day.weekday()] in rule.days)
    return next(at for at in occurrences if at > moment)


def newest_until(rule: Rule, zone: str, moment: int) -> int | None:
    """The last occurrence at or before `moment` (epoch milliseconds); None if there was none yet."""
    if isinstance(rule, Once):
        at = _moment(rule.at.date(), rule.at.time(), zone)
        return at if at <= moment else None
    last = _day(moment, zone) + timedelta(days=_MARGIN_DAYS)
    days = (last - timedelta(days=number) for number in range(2 * _MARGIN_DAYS + _WEEK_DAYS))
    occurrences = (_moment(day, rule.at, zone) for day in days if WEEK[day.weekday()] in rule.days)
    return next(at for at in occurrences if at <= moment)


def read_rule(text: str) -> Rule:
    """What `str` of a rule gives: `mon-fri 20:00`, `daily 20:00` or `2026-12-01T20:00`. Raises `InvalidInput`."""
    days, _, at = text.rpartition(" ")
    return rule_of(at, days)


def rule_of(at: str, days: str = "") -> Rule:
    """A rule as people write it: `20:00` on `days` (`mon-fri`; every day where empty), or `2026-12-01T20:00` once.

    Raises `InvalidInput`.
    """
    try:
        if _TIME.fullmatch(at):
            return Weekly(time.fromisoformat(at), read_days(days) if days else frozenset(WEEK))
        if _MOMENT.fullmatch(at) and not days:
            return Once(datetime.fromisoformat(at))
    except ValueError:
        pass
    if _MOMENT.fullmatch(at) and days:
        raise InvalidInput("what is once has no days", "Leave the days out.", {"days": "must be left out with a date"})
    raise InvalidInput(
        f"{at!r} is no time that a schedule can have",
        "Write 20:00 for every day, or 2026-12-01T20:00 for once.",
        {"at": "must be HH:MM or YYYY-MM-DDTHH:MM"},
    )


def read_days(text: str) -> frozenset[Weekday]:
    """Days as people write them: `mon-fri`, `sat,sun`, `fri-mon`, `daily`. Raises `InvalidInput`."""
    if text == "daily":
        return frozenset(WEEK)
    found: set[Weekday] = set()
    for part in text.lower().split(","):
        first, dash, last = part.partition("-")
        try:
            begin, end = WEEK.index(Weekday(first)), WEEK.index(Weekday(last if dash else first))
        except ValueError:
            hint = "Write days as mon-fri, as sat,sun or as daily."
            raise InvalidInput(f"{part!r} is no day of the week", hint, {"days": "must be days of the week"}) from None
        found |= {WEEK[(begin + number) % _WEEK_DAYS] for number in range((end - begin) % _WEEK_DAYS + 1)}
    return frozenset(found)


def days_in_words(days: frozenset[Weekday]) -> str:
    """As `read_days` takes them, in the shortest form: `daily`, `mon-fri`, `mon,wed`."""
    if days == frozenset(WEEK):
        return "daily"
    in_order = [day for day in WEEK if day in days]
    numbers = [WEEK.index(day) for day in in_order]
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{in_order[0]}-{in_order[-1]}"
    return ",".join(in_order)


def check_zone(zone: str) -> None:
    """Raises `InvalidInput` unless that is a time zone of the IANA's database that this machine knows."""
    try:
        _zone(zone)
    except (LookupError, ValueError, OSError):
        hint = "Name it as in Europe/Warsaw or UTC; if no zone is known, install the system's package tzdata."
        raise InvalidInput(f"unknown time zone {zone!r}", hint, {"zone": "unknown time zone"}) from None


@lru_cache(maxsize=1024)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def _day(moment: int, zone: str) -> date:
    return (_EPOCH + timedelta(milliseconds=moment)).astimezone(_zone(zone)).date()


def _moment(day: date, at: time, zone: str) -> int:
    local = datetime.combine(day, at, _zone(zone))  # `fold` is 0: what RFC 5545 asks for, in a gap and in an overlap
    return (local - _EPOCH) // timedelta(milliseconds=1)
