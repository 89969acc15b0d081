"""What every store promises about schedules."""

from dataclasses import replace

import pytest

from contract.samples import entry, workspace
from intermezzo.domain.errors import NotFound
from intermezzo.domain.ledger import Event
from intermezzo.domain.schedule import Action, Schedule, read_rule
from intermezzo.ports.schedules import Schedules
from intermezzo.ports.store import Store

RULES = ("20:00", "mon-fri 20:00", "sat,mon 07:05", "2026-12-01T20:00")
KNOWN_TO_NOBODY = "nobody"


@pytest.fixture
async def schedules(store: Store) -> Schedules:
    """What a store that has one workspace, `u1`, keeps about when to pause and resume it."""
    await store.add(workspace("u1"))
    return store.schedules


def schedule(number: int = 1, **changes: object) -> Schedule:
    made = Schedule(
        id=f"s{number}",
        workspace_uid="u1",
        action=Action.PAUSE,
        rule=read_rule("mon-fri 20:00"),
        zone="Europe/Warsaw",
        set_by="ada",
        set_at=number,
        done_until=number,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("action", Action)
async def test_a_schedule_comes_back_as_it_was_stored(schedules: Schedules, rule: str, action: Action) -> None:
    kept = schedule(rule=read_rule(rule), action=action, held_until=9)
    await schedules.add(kept)
    assert await schedules.of("u1") == [kept]
    assert await schedules.page() == [kept]


async def test_those_of_one_workspace_come_in_the_order_in_which_they_were_set(
    store: Store, schedules: Schedules
) -> None:
    await store.add(workspace("u2", "other"))
    first, second, other = schedule(2, set_at=5), schedule(1, set_at=6), schedule(3, workspace_uid="u2")
    for each in (second, other, first):
        await schedules.add(each)
    assert await schedules.of("u1") == [first, second]
    assert await schedules.of(KNOWN_TO_NOBODY) == []


async def test_all_of_them_can_be_read_a_part_at_a_time(schedules: Schedules) -> None:
    for number in range(5):
        await schedules.add(schedule(number))
    seen, after = [], ""
    while page := await schedules.page(after, 2):
        assert len(page) <= 2
        seen += [each.id for each in page]
        after = page[-1].id
    assert seen == ["s0", "s1", "s2", "s3", "s4"]


async def test_how_far_it_was_dealt_with_is_kept_and_told_in_one(store: Store, schedules: Schedules) -> None:
    await schedules.add(schedule())
    await schedules.mark("s1", 70, 80, [entry(event=Event.SCHEDULE_HELD)])
    assert await schedules.of("u1") == [schedule(done_until=70, held_until=80)]
    assert [fact.event for fact in await store.ledger("u1")] == [Event.SCHEDULE_HELD]


async def test_what_was_dropped_meanwhile_does_not_come_back_but_what_happened_is_told(
    store: Store, schedules: Schedules
) -> None:
    await schedules.add(schedule())
    await schedules.drop("s1", [entry(event=Event.SCHEDULE_REMOVED)])
    await schedules.mark("s1", 70, 0, [entry(event=Event.SCHEDULE_MET)])
    await schedules.drop("s1", [entry(event=Event.SCHEDULE_REMOVED)])
    assert await schedules.page() == []
    assert [fact.event for fact in await store.ledger("u1")] == [Event.SCHEDULE_REMOVED, Event.SCHEDULE_MET]


async def test_a_schedule_goes_with_its_workspace_and_needs_one(store: Store, schedules: Schedules) -> None:
    await schedules.add(schedule())
    await store.remove(await store.get(workspace("u1").key))
    assert await schedules.page() == []
    assert await schedules.of("u1") == []
    with pytest.raises(NotFound):
        await schedules.add(schedule(2), [entry(event=Event.SCHEDULE_SET)])
    assert await store.ledger("u1") == []


async def test_how_long_resumes_took_is_what_the_ledger_says(store: Store, schedules: Schedules) -> None:
    happened = [
        ("u1", "o1", Event.RESUME_ASKED, 10),
        ("u1", "o1", Event.RESUMED, 40),
        ("u1", "o2", Event.RESUME_ASKED, 100),
        ("u1", "o2", Event.RESUME_FAILED, 200),
        ("u1", "o3", Event.START_ASKED, 300),
        ("u1", "o3", Event.STARTED, 400),
        ("u2", "o4", Event.RESUME_ASKED, 900),
        ("u2", "o4", Event.RESUMED, 999),
        ("u1", "o5", Event.RESUME_ASKED, 500),
        ("u1", "o5", Event.RESUMED, 520),
    ]
    await store.append(
        [replace(entry(uid, at, event), operation_id=operation) for uid, operation, event, at in happened]
    )
    assert await schedules.resumed("u1") == [30, 20]
    assert await schedules.resumed(KNOWN_TO_NOBODY) == []
