"""Time as the ledger tells it: exact, without gaps, and the same today and tomorrow."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.cycles import PauseOutcome, cycles, takings
from intermezzo.domain.intervals import Interval, State, holds, stays, time_in
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.resources import Resources

GPU = "nvidia.com/gpu"
HELD = {"node": "n", "cpu_millis": 1000, "memory_bytes": 2**30, "accelerators": {GPU: 1}}
AMOUNT = Resources(1000, 2**30, {GPU: 1})


def told(*facts: Any, uid: str = "w", first_seq: int = 1) -> list[Entry]:
    """Entries from (milliseconds, event) or (milliseconds, event, details)."""
    entries = []
    for seq, (at, event, *more) in enumerate(facts, start=first_seq):
        details = more[0] if more else {}
        source = "node" if event in NODE else "control"
        entries.append(Entry(uid, "team", uid, at, event, f"o{seq}", "ada", source, details, seq))
    return entries


NODE = {Event.FROZEN, Event.SNAPSHOT_DONE, Event.PROCESS_GONE, Event.RESTORED, Event.SERVER_ANSWERED}

STARTED = [
    (0, Event.CREATED),
    (0, Event.START_ASKED),
    (0, Event.QUEUED),
    (1_000, Event.CAPACITY_ACQUIRED, HELD),
    (6_000, Event.STARTED),
]
PAUSED = [
    (60_000, Event.PAUSE_ASKED),
    (55_000, Event.LAST_ACTIVITY),
    (60_100, Event.FROZEN),
    (60_900, Event.SNAPSHOT_DONE, {"snapshot_id": "s1", "bytes": 2**30}),
    (61_000, Event.PROCESS_GONE),
    (61_200, Event.CAPACITY_FREED, HELD),
    (61_200, Event.PAUSED, {"phase": "Paused"}),
]
RESUMED = [
    (100_000, Event.RESUME_ASKED),
    (100_000, Event.QUEUED),
    (140_000, Event.CAPACITY_ACQUIRED, HELD),
    (140_500, Event.RESTORED),
    (140_700, Event.SERVER_ANSWERED),
    (140_800, Event.NEXT_CELL_RAN),
    (140_810, Event.PROVEN, {"verdict": "restored"}),
    (140_900, Event.RESUMED, {"phase": "Running"}),
]

moments = st.integers(0, 10**6)
histories = st.lists(
    st.tuples(moments, st.sampled_from(list(Event)), st.sampled_from([{}, HELD, {"phase": "Paused"}])), max_size=40
).map(lambda facts: told(*facts))


@given(histories, moments, moments)
def test_any_history_gives_states_that_follow_each_other_without_a_gap(
    entries: Sequence[Entry], one: int, other: int
) -> None:
    found = stays(entries)
    ends = [stay.interval.end for stay in found]
    assert None not in ends[:-1]
    for stay, following in itertools.pairwise(found):
        deleted_between = any(e.event is Event.DELETED for e in entries)
        assert stay.interval.end == following.interval.start or deleted_between
    for stay in found:
        assert stay.interval.end is None or stay.interval.end > stay.interval.start
    first, last = min(one, other), max(one, other)
    middle = (first + last) // 2
    for state in State:
        parts = time_in(state, found, first, middle) + time_in(state, found, middle, last)
        assert parts == time_in(state, found, first, last)
    assert sum(time_in(state, found, first, last) for state in State) <= last - first


@given(histories, histories)
def test_any_history_holds_capacity_at_most_once_at_a_time(one: Sequence[Entry], two: Sequence[Entry]) -> None:
    others = [replace(e, workspace_uid="v", seq=e.seq + 1000) for e in two]
    found = holds([*one, *others])
    assert len(found) == len(holds(one)) + len(holds(others))
    for uid in ("w", "v"):
        own = [hold.interval for hold in found if hold.workspace_uid == uid]
        for earlier, later in itertools.pairwise(own):
            assert earlier.end is not None
            assert earlier.start <= earlier.end <= later.start


@given(histories, st.integers(0, 100))
def test_what_is_over_does_not_change_when_time_goes_on(entries: Sequence[Entry], later: int) -> None:
    now = 10**6
    for hold in holds(entries):
        if hold.interval.end is not None:
            assert hold.interval.length(now) == hold.interval.length(now + later)


@given(histories)
def test_any_history_gives_durations_that_are_unknown_or_not_negative(entries: Sequence[Entry]) -> None:
    for cycle in cycles(entries):
        durations = [cycle.pause_to_free_ms, cycle.snapshot_ms]
        for attempt in cycle.returns:
            durations += [attempt.waited_ms, attempt.to_ready_ms, attempt.to_next_cell_ms]
        assert all(duration is None or duration >= 0 for duration in durations)
        takings(cycle, holds(entries))


def test_an_interval_is_half_open() -> None:
    interval = Interval(10, 20)
    assert (interval.within(0, 10), interval.within(10, 20), interval.within(20, 30)) == (0, 10, 0)
    assert Interval(10).length(now=15) == 5
    assert Interval(10).length(now=5) == 0


def test_a_whole_day_is_told_state_by_state() -> None:
    found = stays(told(*STARTED, *PAUSED, *RESUMED))
    assert [(stay.state, stay.interval.start, stay.interval.end) for stay in found] == [
        (State.QUEUED, 0, 1_000),
        (State.STARTING, 1_000, 6_000),
        (State.RUNNING, 6_000, 60_000),
        (State.PAUSING, 60_000, 61_200),
        (State.PAUSED, 61_200, 100_000),
        (State.QUEUED, 100_000, 140_000),
        (State.RESUMING, 140_000, 140_900),
        (State.RUNNING, 140_900, None),
    ]


def test_capacity_is_held_from_being_acquired_to_being_freed() -> None:
    found = holds(told(*STARTED, *PAUSED, *RESUMED))
    assert [(h.node, h.amount, h.interval) for h in found] == [
        ("n", AMOUNT, Interval(1_000, 61_200)),
        ("n", AMOUNT, Interval(140_000)),
    ]


def test_a_pause_and_its_resume_are_told_with_every_moment() -> None:
    (cycle,) = cycles(told(*STARTED, *PAUSED, *RESUMED))
    assert cycle.outcome is PauseOutcome.PAUSED
    assert (cycle.last_activity, cycle.asked, cycle.frozen) == (55_000, 60_000, 60_100)
    assert (cycle.snapshot_done, cycle.process_gone, cycle.freed) == (60_900, 61_000, 61_200)
    assert (cycle.pause_to_free_ms, cycle.snapshot_ms) == (1_200, 800)
    assert (cycle.snapshot_id, cycle.snapshot_bytes, cycle.freed_amount) == ("s1", 2**30, AMOUNT)
    (attempt,) = cycle.returns
    assert (attempt.fresh, attempt.succeeded, attempt.verdict) == (False, True, "restored")
    assert (attempt.waited_ms, attempt.to_ready_ms, attempt.to_next_cell_ms) == (40_000, 40_900, 40_800)
    assert cycle.without_allocation == Interval(61_200, 140_000)


def test_who_took_the_capacity_meanwhile_is_named() -> None:
    own = told(*STARTED, *PAUSED, *RESUMED)
    during = told((70_000, Event.CAPACITY_ACQUIRED, HELD), (90_000, Event.CAPACITY_FREED), uid="during", first_seq=100)
    into = told((139_000, Event.CAPACITY_ACQUIRED, HELD), uid="into", first_seq=200)
    before = told((10_000, Event.CAPACITY_ACQUIRED, HELD), uid="before", first_seq=300)
    elsewhere = told((70_000, Event.CAPACITY_ACQUIRED, {**HELD, "node": "m"}), uid="elsewhere", first_seq=400)
    (cycle,) = cycles(own)
    found = takings(cycle, holds([*own, *during, *into, *before, *elsewhere]))
    assert [(t.workspace_uid, t.interval) for t in found] == [
        ("during", Interval(70_000, 90_000)),
        ("into", Interval(139_000, 140_000)),
    ]


def test_a_failed_pause_frees_nothing_and_has_no_return() -> None:
    failed = [(60_000, Event.PAUSE_ASKED), (60_500, Event.PAUSE_FAILED, {"phase": "Running"})]
    entries = told(*STARTED, *failed, (70_000, Event.START_ASKED), (75_000, Event.STARTED))
    (cycle,) = cycles(entries)
    assert cycle.outcome is PauseOutcome.FAILED
    assert (cycle.freed, cycle.returns, cycle.without_allocation) == (None, (), None)
    running = [s.interval for s in stays(entries) if s.state is State.RUNNING]
    assert running == [Interval(6_000, 60_000), Interval(60_500, 70_000), Interval(75_000)]


def test_every_attempt_to_come_back_is_kept() -> None:
    failed = [
        (80_000, Event.RESUME_ASKED),
        (80_100, Event.CAPACITY_ACQUIRED, HELD),
        (80_500, Event.CAPACITY_FREED, HELD),
    ]
    fresh = [(90_000, Event.START_ASKED), (90_100, Event.CAPACITY_ACQUIRED, HELD), (95_000, Event.STARTED)]
    entries = told(*STARTED, *PAUSED, *failed, (80_500, Event.RESUME_FAILED, {"phase": "Paused"}), *fresh)
    (cycle,) = cycles([*entries, *told((99_000, Event.START_ASKED), first_seq=100)])
    assert [(a.fresh, a.succeeded, a.to_ready_ms) for a in cycle.returns] == [(False, False, None), (True, True, 5_000)]


def test_a_clock_that_is_set_back_gives_no_negative_time() -> None:
    entries = told((50_000, Event.CAPACITY_ACQUIRED, HELD), (10_000, Event.CAPACITY_FREED, HELD))
    assert [h.interval for h in holds(entries)] == [Interval(50_000, 50_000)]


def test_a_deleted_workspace_holds_nothing_and_is_in_no_state() -> None:
    entries = told(*STARTED, (70_000, Event.DELETE_ASKED), (71_000, Event.DELETED))
    assert stays(entries)[-1].state is State.DELETING
    assert stays(entries)[-1].interval == Interval(70_000, 71_000)
    assert [h.interval for h in holds(entries)] == [Interval(1_000, 71_000)]


def test_fr19_an_hour_and_a_half_is_the_same_today_and_tomorrow_and_a_failed_start_is_nothing() -> None:
    run = [
        (0, Event.START_ASKED),
        (0, Event.CAPACITY_ACQUIRED, HELD),
        (0, Event.STARTED),
        (5_400_000, Event.PAUSE_ASKED),
        (5_400_000, Event.CAPACITY_FREED, HELD),
        (5_400_000, Event.PAUSED),
        (6_000_000, Event.START_ASKED),
        (6_000_000, Event.QUEUED),
        (6_010_000, Event.START_FAILED, {"phase": "Paused"}),
    ]
    found = holds(told(*run))
    for now in (6_100_000, 6_100_000 + 86_400_000):
        seconds = Decimal(sum(hold.interval.length(now) for hold in found)) / 1000
        assert seconds == 5400
        assert seconds / 3600 * Decimal("0.67") == Decimal("1.005")
    running = stays(told(*run))
    assert time_in(State.RUNNING, running, 0, 10**9) == 5_400_000
    assert time_in(State.RUNNING, running, 6_000_000, 10**9) == 0
