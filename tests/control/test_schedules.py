"""Schedules are kept: what is due is done once, whatever dies, and what is not done is told."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from control.world import World, one_accelerator
from intermezzo.control.edits import Edit
from intermezzo.control.schedules.occurrences import ACTOR
from intermezzo.control.schedules.schedules import MOST_PER_WORKSPACE, Planned
from intermezzo.control.schedules.timetable import LEAD_UNKNOWN_MS, LONGEST_LEAD_MS, RESUMES_LOOKED_AT, lead
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound
from intermezzo.domain.lease import Lease, LeaseSource
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.notice import Sort
from intermezzo.domain.schedule import HOUR_MS, MINUTE_MS, Action, read_rule
from intermezzo.domain.workspace import Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp")
WARSAW = "Europe/Warsaw"
DAY_MS = 24 * HOUR_MS
TOLD = {Event.SCHEDULE_MET, Event.SCHEDULE_SKIPPED, Event.SCHEDULE_HELD}


def moment(text: str) -> int:
    """A time of Warsaw's winter in epoch milliseconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000) - HOUR_MS


class Days(World):
    """A world in which time passes until a certain moment, and the timetable looks every minute."""

    async def until(self, text: str) -> None:
        """Let the time pass, with everything that comes of it."""
        end = moment(text)
        while self.clock.now() < end:
            self.clock.advance(min(MINUTE_MS, end - self.clock.now()))
            await self.look()

    async def look(self) -> None:
        """One look at the timetable, and what comes of it."""
        await self.plane.timetable.look()
        await self.settle()

    async def asleep_until(self, text: str) -> None:
        """Nobody looks meanwhile: the control plane is not there."""
        self.kill_control_plane()
        self.clock.advance(moment(text) - self.clock.now())

    async def told(self, name: str = "exp") -> list[Entry]:
        """What schedules did, by the ledger."""
        uid = (await self.get(name)).uid
        return [entry for entry in await self.store.ledger(uid) if entry.event in TOLD]

    async def keep_awake(self, until: str) -> None:
        """A lease on `exp`."""
        uid = (await self.get("exp")).uid
        await self.store.leases.put(Lease(uid, moment(until), LeaseSource.API, "ada", self.clock.now()))

    async def asked(self, event: Event) -> list[int]:
        """When that was asked for `exp`."""
        return [e.at for e in await self.store.ledger((await self.get("exp")).uid) if e.event is event]

    async def set(self, action: Action, rule: str) -> Planned:
        """A schedule of `exp` in Warsaw."""
        return await self.plane.set_schedule(EXP, action, read_rule(rule), WARSAW, "ada")


@pytest.fixture
async def days() -> Days:
    """Monday, 30 November 2026, two in the afternoon, with one workspace that runs."""
    world = Days()
    world.clock.advance(moment("2026-11-30T14:00") - world.clock.now())
    await world.create("exp")
    await world.settle()
    assert (await world.get("exp")).phase is Phase.RUNNING
    return world


async def test_fr48_a_stop_set_for_eight_is_at_eight_though_the_workspace_was_edited_before(days: Days) -> None:
    planned = await days.set(Action.PAUSE, "20:00")
    await days.until("2026-11-30T14:49")
    await days.plane.edit(EXP, Edit(display_name="Other"), "ada")
    assert (
        [each.next_at for each in await days.plane.schedules(EXP)] == [planned.next_at] == [moment("2026-11-30T20:00")]
    )
    await days.until("2026-11-30T19:59")
    assert (await days.get("exp")).phase is Phase.RUNNING
    await days.until("2026-11-30T20:00")
    assert (await days.get("exp")).phase is Phase.PAUSED


async def test_a_scheduled_pause_keeps_the_process_and_the_ledger_says_what_it_came_of(days: Days) -> None:
    await days.run("exp", "x = 7")
    planned = await days.set(Action.PAUSE, "20:00")
    await days.until("2026-11-30T20:00")
    (told,) = await days.told()
    assert (told.event, told.actor) == (Event.SCHEDULE_MET, "schedule")
    assert told.details == {
        "schedule_id": planned.schedule.id,
        "action": "pause",
        "due_at": moment("2026-11-30T20:00"),
        "late_ms": 0,
    }
    await days.plane.resume(EXP, "ada")
    await days.settle()
    assert await days.run("exp", "print(x)") == "7\n"


async def test_evening_and_morning_through_a_working_week(days: Days) -> None:
    await days.set(Action.PAUSE, "mon-fri 20:00")
    await days.set(Action.RESUME, "mon-fri 08:00")
    seen = {}
    for day in ("2026-11-30", "2026-12-04", "2026-12-05", "2026-12-07"):
        for hour in ("07:59", "09:00", "21:00"):
            if f"{day}T{hour}" > "2026-11-30T14:00":
                await days.until(f"{day}T{hour}")
                seen[f"{day[5:]} {hour}"] = (await days.get("exp")).phase
    up, down = Phase.RUNNING, Phase.PAUSED
    assert seen == {
        "11-30 21:00": down,
        **{"12-04 07:59": down, "12-04 09:00": up, "12-04 21:00": down},
        **{"12-05 07:59": down, "12-05 09:00": down, "12-05 21:00": down},
        **{"12-07 07:59": down, "12-07 09:00": up, "12-07 21:00": down},
    }


async def test_a_pause_and_a_resume_at_the_very_same_times_are_not_taken(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    for action in (Action.RESUME, Action.READY):
        with pytest.raises(Conflict, match="at the very same time"):
            await days.set(action, "20:00")
    await days.set(Action.RESUME, "20:01")


async def test_what_a_person_does_afterwards_is_left_alone_until_the_next_time(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.until("2026-11-30T20:05")
    await days.plane.resume(EXP, "ada")
    await days.until("2026-12-01T19:59")
    assert (await days.get("exp")).phase is Phase.RUNNING
    await days.until("2026-12-01T20:00")
    assert (await days.get("exp")).phase is Phase.PAUSED


async def test_what_is_so_already_is_neither_done_nor_told(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.plane.pause(EXP, "ada")
    await days.until("2026-11-30T20:30")
    assert (await days.get("exp")).phase is Phase.PAUSED
    assert await days.told() == []
    await days.plane.resume(EXP, "ada")
    await days.until("2026-11-30T21:30")
    assert (await days.get("exp")).phase is Phase.RUNNING


async def test_who_waits_for_capacity_in_the_evening_is_taken_out_of_the_queue(days: Days) -> None:
    await days.create("late")
    await days.settle()
    late = WorkspaceKey("default", "late")
    await days.plane.set_schedule(late, Action.PAUSE, read_rule("20:00"), WARSAW, "ada")
    await days.until("2026-11-30T20:00")
    assert (await days.get("late")).phase is Phase.PAUSED
    assert (await days.get("exp")).phase is Phase.RUNNING


async def test_what_is_under_way_is_waited_for(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.until("2026-11-30T19:59")
    days.clock.advance(MINUTE_MS // 2)
    await days.plane.restart_fresh(EXP, "ada")
    days.clock.advance(MINUTE_MS // 2)
    await days.plane.timetable.look()
    assert (await days.get("exp")).phase is Phase.STARTING
    await days.settle()
    await days.look()
    assert (await days.get("exp")).phase is Phase.PAUSED


async def test_a_lease_holds_a_pause_back_until_it_ends_and_that_is_told_once(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.keep_awake("2026-11-30T23:00")
    await days.until("2026-11-30T22:59")
    assert (await days.get("exp")).phase is Phase.RUNNING
    assert [planned.schedule.held_until for planned in await days.plane.schedules(EXP)] == [moment("2026-11-30T23:00")]
    await days.until("2026-11-30T23:01")
    assert (await days.get("exp")).phase is Phase.PAUSED
    held, met = await days.told()
    assert (held.event, held.details["held_until"]) == (Event.SCHEDULE_HELD, moment("2026-11-30T23:00"))
    assert (met.event, met.details["late_ms"]) == (Event.SCHEDULE_MET, 0)


async def test_a_lease_that_is_released_lets_the_pause_happen_however_long_it_held(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.keep_awake("2026-12-01T08:00")
    await days.until("2026-11-30T22:30")
    await days.keep_awake("2026-11-30T22:30")
    await days.look()
    assert (await days.get("exp")).phase is Phase.PAUSED


class GivenAfterwards:
    """Leases of which one is given to `exp` just after it was looked for the first time."""

    def __init__(self, days: Days) -> None:
        self._days = days
        self._kept = days.store.leases
        self._given = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kept, name)

    async def lease(self, workspace_uid: str) -> Lease | None:
        found = await self._kept.lease(workspace_uid)
        if not self._given:
            self._given = True
            await self._days.plane.keep_awake(EXP, moment("2026-11-30T23:00"), "ada", LeaseSource.PAGE)
        return found


async def test_a_lease_that_was_promised_while_the_pause_was_decided_holds(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.until("2026-11-30T19:59")
    days.store.leases = GivenAfterwards(days)  # type: ignore[assignment]
    await days.until("2026-11-30T20:02")
    assert (await days.get("exp")).phase is Phase.RUNNING
    assert await days.asked(Event.PAUSE_ASKED) == []
    assert [entry.event for entry in await days.told()] == [Event.SCHEDULE_HELD]
    await days.until("2026-11-30T23:01")
    assert (await days.get("exp")).phase is Phase.PAUSED


async def test_what_was_left_due_because_the_workspace_had_changed_is_looked_at_again_at_once(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.until("2026-11-30T19:59")
    days.store.leases = GivenAfterwards(days)  # type: ignore[assignment]
    days.clock.advance(MINUTE_MS)
    assert await days.plane.timetable.look() <= 1
    assert await days.told() == []


async def test_a_schedule_that_cannot_be_dealt_with_keeps_no_other_waiting(days: Days) -> None:
    planned = await days.set(Action.PAUSE, "20:00")
    await days.store.schedules.add(replace(planned.schedule, id="0", zone="Europe/Nowhere"))
    await days.until("2026-11-30T20:00")
    assert (await days.get("exp")).phase is Phase.PAUSED


async def test_what_was_missed_is_made_up_for_within_an_hour_and_that_is_told(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.asleep_until("2026-11-30T20:40")
    await days.look()
    assert (await days.get("exp")).phase is Phase.PAUSED
    (told,) = await days.told()
    assert (told.event, told.details["late_ms"]) == (Event.SCHEDULE_MET, 40 * MINUTE_MS)


async def test_what_was_missed_by_more_is_skipped_and_that_is_told_once(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.asleep_until("2026-12-02T21:30")
    await days.look()
    await days.look()
    assert (await days.get("exp")).phase is Phase.RUNNING
    told = [(entry.event, entry.details["due_at"]) for entry in await days.told()]
    assert told == [
        (Event.SCHEDULE_SKIPPED, moment("2026-11-30T20:00")),
        (Event.SCHEDULE_SKIPPED, moment("2026-12-02T20:00")),
    ]
    await days.until("2026-12-03T20:00")
    assert (await days.get("exp")).phase is Phase.PAUSED


async def test_who_dies_after_asking_and_before_writing_it_down_asks_for_nothing_more(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    days.clock.advance(moment("2026-11-30T20:00") - days.clock.now())
    await days.plane.pause(EXP, ACTOR)
    days.kill_control_plane()
    await days.look()
    await days.look()
    assert (await days.get("exp")).phase is Phase.PAUSED
    assert len(await days.asked(Event.PAUSE_ASKED)) == 1


async def test_a_session_is_ready_by_the_time_because_its_resume_begins_before_it(days: Days) -> None:
    await days.set(Action.READY, "2026-12-01T09:00")
    await days.plane.pause(EXP, "ada")
    await days.until("2026-12-01T09:00")
    (asked,) = await days.asked(Event.RESUME_ASKED)
    assert 0 <= asked - (moment("2026-12-01T09:00") - LEAD_UNKNOWN_MS) < MINUTE_MS
    assert (await days.asked(Event.RESUMED))[0] < moment("2026-12-01T09:00")


async def test_a_resume_begins_as_early_as_the_last_ones_took(days: Days) -> None:
    await days.plane.pause(EXP, "ada")
    await days.settle()
    await days.create("other")
    await days.settle()
    await days.plane.resume(EXP, "ada")
    await days.settle()
    days.clock.advance(20 * MINUTE_MS)
    await days.plane.pause(WorkspaceKey("default", "other"), "ada")
    await days.settle()
    await days.plane.pause(EXP, "ada")
    await days.settle()
    (began, *_), (ended, *_) = await days.asked(Event.RESUME_ASKED), await days.asked(Event.RESUMED)
    planned = await days.set(Action.READY, "2026-12-01T09:00")
    assert planned.begins_at == planned.next_at - (ended - began)
    await days.until("2026-12-01T09:00")
    asked = (await days.asked(Event.RESUME_ASKED))[-1]
    assert 0 <= asked - planned.begins_at < MINUTE_MS


async def test_once_reckoned_the_beginning_does_not_move_away(days: Days) -> None:
    await days.set(Action.READY, "2026-12-01T09:00")
    await days.plane.pause(EXP, "ada")
    await days.until("2026-12-01T08:30")
    await days.plane.resume(EXP, "ada")
    await days.settle()
    await days.plane.pause(EXP, "ada")
    await days.until("2026-12-01T09:00")
    asked = (await days.asked(Event.RESUME_ASKED))[-1]
    assert 0 <= asked - (moment("2026-12-01T09:00") - LEAD_UNKNOWN_MS) < MINUTE_MS


def test_the_slowest_of_the_last_few_counts_within_bounds() -> None:
    assert lead([]) == LEAD_UNKNOWN_MS
    assert lead([90_000, *[5] * (RESUMES_LOOKED_AT - 1)]) == 90_000
    assert lead([90_000, *[5] * RESUMES_LOOKED_AT]) == 5
    assert lead([30 * DAY_MS]) == LONGEST_LEAD_MS


async def test_a_workspace_that_needs_its_owner_is_not_resumed_and_that_is_told(days: Days) -> None:
    await days.set(Action.RESUME, "20:00")
    days.cluster.lose_sandbox((await days.get("exp")).uid)
    await days.settle()
    assert (await days.get("exp")).phase is Phase.FAILED
    await days.until("2026-11-30T20:01")
    assert (await days.get("exp")).phase is Phase.FAILED
    assert [entry.event for entry in await days.told()] == [Event.SCHEDULE_SKIPPED]


async def test_once_is_gone_when_it_is_over(days: Days) -> None:
    await days.set(Action.PAUSE, "2026-11-30T20:00")
    await days.until("2026-11-30T20:01")
    await days.look()
    assert (await days.get("exp")).phase is Phase.PAUSED
    assert await days.plane.schedules(EXP) == []
    assert await days.store.schedules.page() == []


async def test_removed_it_does_nothing_any_more_and_both_are_told(days: Days) -> None:
    planned = await days.set(Action.PAUSE, "20:00")
    await days.plane.remove_schedule(EXP, planned.schedule.id, "bob")
    await days.until("2026-11-30T20:30")
    assert (await days.get("exp")).phase is Phase.RUNNING
    ledger = await days.store.ledger((await days.get("exp")).uid)
    by = [(e.event, e.actor) for e in ledger if e.event in {Event.SCHEDULE_SET, Event.SCHEDULE_REMOVED}]
    assert by == [(Event.SCHEDULE_SET, "ada"), (Event.SCHEDULE_REMOVED, "bob")]
    with pytest.raises(NotFound):
        await days.plane.remove_schedule(EXP, planned.schedule.id, "bob")


async def test_asked_twice_it_is_one(days: Days) -> None:
    first = await days.set(Action.PAUSE, "mon-fri 20:00")
    again = await days.set(Action.PAUSE, "mon,tue,wed,thu,fri 20:00")
    assert again == first
    assert len(await days.plane.schedules(EXP)) == 1


async def test_what_cannot_be_meant_is_refused(days: Days) -> None:
    with pytest.raises(InvalidInput):
        await days.set(Action.PAUSE, "2026-11-30T13:59")
    with pytest.raises(InvalidInput):
        await days.plane.set_schedule(EXP, Action.PAUSE, read_rule("20:00"), "Europe/Nowhere", "ada")
    with pytest.raises(NotFound):
        await days.plane.set_schedule(WorkspaceKey("default", "none"), Action.PAUSE, read_rule("20:00"), WARSAW, "ada")
    for minute in range(MOST_PER_WORKSPACE):
        await days.set(Action.PAUSE, f"20:{minute:02}")
    with pytest.raises(Conflict):
        await days.set(Action.PAUSE, "21:00")
    assert len(await days.plane.schedules(EXP)) == MOST_PER_WORKSPACE


async def test_a_busy_kernel_or_not_its_owner_is_told_before_the_pause_and_may_put_it_off(days: Days) -> None:
    uid = (await days.get("exp")).uid
    await days.set(Action.PAUSE, "20:00")
    await days.until("2026-11-30T19:49")
    assert await days.plane.notices_about([uid]) == []
    await days.until("2026-11-30T19:51")
    (notice,) = await days.plane.notices_about([uid])
    assert (notice.sort, notice.subject, notice.moment) == (Sort.SCHEDULED_PAUSE, "ada", moment("2026-11-30T20:00"))
    await days.plane.keep_awake(EXP, moment("2026-11-30T21:00"), "ada", LeaseSource.PAGE)
    await days.until("2026-11-30T19:53")
    assert await days.plane.notices_about([uid]) == []
    await days.until("2026-11-30T20:30")
    assert (await days.get("exp")).phase is Phase.RUNNING


async def test_of_two_pauses_the_next_is_told(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    await days.set(Action.PAUSE, "20:05")
    await days.until("2026-11-30T19:58")
    (notice,) = await days.plane.notices_about([(await days.get("exp")).uid])
    assert notice.moment == moment("2026-11-30T20:00")


async def test_what_was_told_is_taken_back_when_the_schedule_is_removed(days: Days) -> None:
    planned = await days.set(Action.PAUSE, "20:00")
    await days.until("2026-11-30T19:55")
    await days.plane.remove_schedule(EXP, planned.schedule.id, "ada")
    await days.look()
    assert await days.plane.notices_about([(await days.get("exp")).uid]) == []


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 180), st.booleans()), min_size=1, max_size=40))
async def test_however_often_it_is_killed_each_evening_is_dealt_with_once(steps: list[tuple[int, bool]]) -> None:
    days = Days(one_accelerator())
    days.clock.advance(moment("2026-11-30T14:00") - days.clock.now())
    await days.create("exp")
    await days.settle()
    await days.set(Action.PAUSE, "20:00")
    await days.set(Action.RESUME, "08:00")
    for minutes, killed in steps:
        days.clock.advance(minutes * MINUTE_MS)
        if killed:
            await days.plane.timetable.look()
            days.kill_control_plane()
        await days.look()
        assert await days.broken_promises() == []
    met = [(e.details["action"], e.details["due_at"]) for e in await days.told()]
    assert len(met) == len(set(met))
    assert met == sorted(met, key=lambda each: each[1])


async def test_at_work_it_looks_at_once_when_something_is_set_and_not_only_at_the_next_alarm(days: Days) -> None:
    await days.set(Action.PAUSE, "20:00")
    at_work = asyncio.create_task(days.plane.timetable.run())
    try:
        count, _ = await days.plane.wait_changed(0, 5)
        days.clock.advance(moment("2026-11-30T20:00") - days.clock.now())
        await days.set(Action.RESUME, "08:00")
        while (await days.get("exp")).phase is Phase.RUNNING:
            count, changed = await days.plane.wait_changed(count, 20)
            assert changed
    finally:
        at_work.cancel()
        with suppress(asyncio.CancelledError):
            await at_work
    assert (await days.get("exp")).phase is Phase.PAUSING
