"""When a schedule's occurrences are, in every time zone, over daylight-saving changes."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.schedule import (
    HOUR_MS,
    MADE_UP_FOR_MS,
    WEEK,
    Action,
    Once,
    Rule,
    Schedule,
    Weekday,
    Weekly,
    check_zone,
    due,
    newest_until,
    next_after,
    read_days,
    read_rule,
)

DAY_MS = 24 * HOUR_MS
NEW_YORK = "America/New_York"
WARSAW = "Europe/Warsaw"

# What POSIX calls a zone and is none, and the same files once more with leap seconds, which no clock here counts.
ODD = {name for name in available_timezones() if name.startswith(("right/", "posix/")) or name == "localtime"}
zones = st.sampled_from(sorted(available_timezones() - ODD))
moments = st.integers(0, 4_000_000_000_000)
weeklies = st.builds(
    Weekly,
    st.times(timezones=st.none()).map(lambda at: at.replace(second=0, microsecond=0, fold=0)),
    st.frozensets(st.sampled_from(WEEK), min_size=1),
)
onces = st.builds(
    Once,
    st.datetimes(datetime(1971, 1, 1), datetime(2095, 1, 1)).map(lambda at: at.replace(second=0, microsecond=0)),
)
rules = st.one_of(weeklies, onces)


def utc(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def local(moment: int, zone: str) -> datetime:
    return datetime.fromtimestamp(moment / 1000, ZoneInfo(zone))


def skipped(day: date, at: time, zone: str) -> bool:
    """Whether the clocks there never show that time on that day."""
    meant = datetime.combine(day, at, ZoneInfo(zone))
    return local(int(meant.timestamp() * 1000), zone).replace(tzinfo=None) != meant.replace(tzinfo=None)


def between(rule: Rule, zone: str, first: int, last: int) -> list[int]:
    """Every occurrence after the first time up to and with the last."""
    found: list[int] = []
    while (at := next_after(rule, zone, found[-1] if found else first)) is not None and at <= last:
        found.append(at)
    return found


def test_fr48_a_time_that_the_clocks_skip_comes_once_between_the_two_that_it_could_mean() -> None:
    found = between(read_rule("02:30"), NEW_YORK, utc("2026-03-08T00:00"), utc("2026-03-09T00:00"))
    assert len(found) == 1
    assert utc("2026-03-08T07:00") <= found[0] <= utc("2026-03-08T07:30")


def test_fr48_a_time_that_comes_twice_counts_once() -> None:
    found = between(read_rule("01:30"), NEW_YORK, utc("2026-11-01T04:00"), utc("2026-11-02T04:00"))
    assert found == [utc("2026-11-01T05:30")]


def test_the_same_time_of_day_before_and_after_a_change_is_another_moment() -> None:
    rule = read_rule("20:00")
    assert next_after(rule, WARSAW, utc("2026-03-28T00:00")) == utc("2026-03-28T19:00")
    assert next_after(rule, WARSAW, utc("2026-03-29T00:00")) == utc("2026-03-29T18:00")


def test_weekdays_are_those_of_the_zone() -> None:
    rule = read_rule("mon 06:00")
    assert next_after(rule, "Asia/Tokyo", utc("2026-11-28T00:00")) == utc("2026-11-29T21:00")


def test_what_is_once_is_over_afterwards() -> None:
    rule = read_rule("2026-12-01T20:00")
    at = utc("2026-12-01T19:00")
    assert next_after(rule, WARSAW, at - 1) == at
    assert next_after(rule, WARSAW, at) is None
    assert newest_until(rule, WARSAW, at - 1) is None
    assert newest_until(rule, WARSAW, at + 5 * DAY_MS) == at


@given(rules, zones, moments)
def test_next_and_newest_leave_nothing_out_between_them(rule: Rule, zone: str, moment: int) -> None:
    newest, following = newest_until(rule, zone, moment), next_after(rule, zone, moment)
    assert newest is None or newest <= moment
    assert following is None or following > moment
    assert newest is None or next_after(rule, zone, newest) == following
    assert following is None or newest_until(rule, zone, following - 1) == newest
    assert following is None or newest_until(rule, zone, following) == following


@given(weeklies, zones, moments)
def test_an_occurrence_is_the_first_time_that_its_time_comes_on_its_day_unless_the_clocks_skip_it(
    rule: Weekly, zone: str, moment: int
) -> None:
    at = next_after(rule, zone, moment)
    assert at is not None
    told = local(at, zone)
    as_told = told.time() == rule.at and WEEK[told.weekday()] in rule.days and told.fold == 0
    assert as_told or any(skipped(told.date() - timedelta(days=back), rule.at, zone) for back in (0, 1))


@given(st.builds(Weekly, weeklies.map(lambda rule: rule.at)), zones, moments)
def test_every_day_has_one_at_any_hour_in_any_zone(rule: Weekly, zone: str, moment: int) -> None:
    last = moment + 40 * DAY_MS
    found = between(rule, zone, moment, last)
    assert found == sorted(set(found))
    assert 38 <= len(found) <= 42


@given(weeklies)
def test_a_rule_is_read_as_it_is_written(rule: Weekly) -> None:
    assert read_rule(str(rule)) == rule


@given(onces)
def test_a_moment_is_read_as_it_is_written(rule: Once) -> None:
    assert read_rule(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mon-fri", WEEK[:5]),
        ("fri-mon", (*WEEK[4:], WEEK[0])),
        ("sun", (Weekday.SUNDAY,)),
        ("MON,wed", (Weekday.MONDAY, Weekday.WEDNESDAY)),
        ("daily", WEEK),
    ],
)
def test_days_are_read_as_people_write_them(text: str, days: tuple[Weekday, ...]) -> None:
    assert read_days(text) == frozenset(days)
    assert read_rule(f"{text} 20:00") == Weekly(time(20), frozenset(days))


@pytest.mark.parametrize(
    "text",
    ["", "8pm", "25:00", "20:60", "mon", "mon- 20:00", "someday 20:00", "2026-02-30T20:00", "20:00 mon-fri", "٢٠:00"],
)
def test_what_is_no_time_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_rule(text)
    assert refused.value.hint and refused.value.fields


@pytest.mark.parametrize(
    "zone", ["", "Mars/Olympus", "../../etc/passwd", "Europe", "Europe/Warsaw\0", "/etc/localtime"]
)
def test_a_zone_that_is_not_known_is_refused(zone: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_zone(zone)
    assert refused.value.fields == {"zone": "unknown time zone"}


DAILY = Schedule(
    id="s",
    workspace_uid="u",
    action=Action.PAUSE,
    rule=read_rule("20:00"),
    zone="UTC",
    set_by="ada",
    set_at=0,
    done_until=utc("2026-11-30T14:00"),
)
EIGHT = utc("2026-11-30T20:00")


def test_nothing_is_due_before_its_time_and_once_it_is_there_it_stays_due_until_dealt_with() -> None:
    assert due(DAILY, EIGHT - 1) is None
    for late in (0, 5 * HOUR_MS, 23 * HOUR_MS):
        occurrence = due(DAILY, EIGHT + late)
        assert occurrence is not None
        assert (occurrence.at, occurrence.late_ms, occurrence.older) == (EIGHT, late, None)
    assert due(replace(DAILY, done_until=EIGHT), EIGHT + 5 * HOUR_MS) is None


def test_of_several_that_were_missed_the_newest_is_due_and_the_first_is_named() -> None:
    occurrence = due(DAILY, EIGHT + 3 * DAY_MS + 1)
    assert occurrence is not None
    assert (occurrence.at, occurrence.late_ms, occurrence.older) == (EIGHT + 3 * DAY_MS, 1, EIGHT)


def test_an_hour_late_is_made_up_for_and_later_is_not() -> None:
    at_most, too_late = due(DAILY, EIGHT + MADE_UP_FOR_MS), due(DAILY, EIGHT + MADE_UP_FOR_MS + 1)
    assert at_most is not None
    assert at_most.timely
    assert too_late is not None
    assert not too_late.timely


def test_what_a_lease_held_back_is_late_only_from_the_end_of_the_lease() -> None:
    held = replace(DAILY, held_until=EIGHT + 4 * HOUR_MS)
    occurrence = due(held, EIGHT + 4 * HOUR_MS + 5)
    assert occurrence is not None
    assert occurrence.late_ms == 5
    released_early = due(held, EIGHT + 2 * HOUR_MS)
    assert released_early is not None
    assert released_early.late_ms == 0


def test_what_is_to_be_ready_by_then_is_due_before() -> None:
    occurrence = due(DAILY, EIGHT - 10_000, lead_ms=10_000)
    assert occurrence is not None
    assert (occurrence.at, occurrence.late_ms) == (EIGHT, 0)
    assert due(DAILY, EIGHT - 10_001, lead_ms=10_000) is None
