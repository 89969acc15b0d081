"""Schedules in words: on which days and when. Pure."""

from datetime import time

from babel.dates import format_skeleton, format_time, get_day_names

from intermezzo.domain.schedule import WEEK, Once, Rule, Weekday, Weekly
from intermezzo.web.words.locale import Locale

FEWEST_IN_A_RANGE = 3


def rule(locale: Locale, shown: Rule) -> str:
    """`every day at 20:00`, `Mon–Fri at 20:00`, `once, 1 Dec 2026 at 20:00`; in the rule's own time zone."""
    _ = locale.gettext
    if isinstance(shown, Once):
        day = format_skeleton("yMMMd", shown.at, locale=locale.formats)
        return _("once, {day} at {time}", day=day, time=_time(locale, shown.at.time()))
    if shown.days == frozenset(WEEK):
        return _("every day at {time}", time=_time(locale, shown.at))
    return _("{days} at {time}", days=_days(locale, shown), time=_time(locale, shown.at))


def day_name(locale: Locale, day: Weekday) -> str:
    """The short name of a day of the week."""
    return str(get_day_names("abbreviated", context="stand-alone", locale=locale.formats)[WEEK.index(day)])


def _days(locale: Locale, shown: Weekly) -> str:
    days = [day for day in WEEK if day in shown.days]
    first, last = WEEK.index(days[0]), WEEK.index(days[-1])
    if len(days) >= FEWEST_IN_A_RANGE and last - first == len(days) - 1:
        return f"{day_name(locale, days[0])}–{day_name(locale, days[-1])}"
    return ", ".join(day_name(locale, day) for day in days)


def _time(locale: Locale, at: time) -> str:
    return str(format_time(at, "HH:mm", locale=locale.formats))
