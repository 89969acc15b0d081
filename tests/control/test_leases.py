"""Keeping a workspace awake: what is promised is kept, whatever the idle rule is about to do."""

import asyncio
from pathlib import Path

import pytest

from control.idling import CHECK, EXP, LIMIT, MINUTE, IdleWorld
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.domain.errors import Conflict, Refused
from intermezzo.domain.idle import Presence
from intermezzo.domain.lease import LeaseSource
from intermezzo.domain.ledger import Event
from intermezzo.domain.policy import Rules
from intermezzo.domain.readings import KeepAwake
from intermezzo.domain.workspace import Phase

HOUR = 60 * MINUTE


@pytest.fixture
def world() -> IdleWorld:
    return IdleWorld(rules=Rules(warn_before_s=0, keep_awake_longest_s=12 * 3600))


async def keep(world: IdleWorld, hours: float) -> int:
    until = world.clock.now() + int(hours * HOUR)
    return (await world.plane.keep_awake(EXP, until, "ada", LeaseSource.CLI)).until


async def test_it_is_not_paused_before_the_lease_ends_and_is_soon_after(world: IdleWorld) -> None:
    await world.start()
    until = await keep(world, 4)
    await world.pass_until(until - 1)
    assert await world.phase() is Phase.RUNNING
    look = world.plane.look((await world.get("exp")).uid)
    assert look is not None and (look.decision.presence, look.decision.pauses_at) == (Presence.ACTIVE, until)
    assert until <= await world.paused_at() <= until + 2 * CHECK


async def test_a_lease_survives_a_crash(world: IdleWorld) -> None:
    await world.start()
    until = await keep(world, 4)
    world.kill_control_plane()
    assert await world.paused_at() >= until


async def test_released_the_rule_holds_again_at_once(world: IdleWorld) -> None:
    up = await world.start()
    await keep(world, 4)
    await world.pass_until(up + HOUR)
    await world.plane.end_lease(EXP, "ada", LeaseSource.PAGE)
    await world.plane.end_lease(EXP, "ada", LeaseSource.PAGE)
    assert await world.plane.lease(EXP) is None
    await world.check()
    assert await world.phase() is Phase.PAUSING


async def test_the_ledger_says_who_kept_it_awake_and_who_ended_that(world: IdleWorld) -> None:
    await world.start()
    until = await keep(world, 1)
    await keep(world, 0.5)
    await world.plane.end_lease(EXP, "boss", LeaseSource.PAGE)
    told = [
        (e.event, e.details["by"], e.details["through"]) for e in await world.plane.ledger(EXP) if "by" in e.details
    ]
    assert told == [(Event.KEPT_AWAKE, "ada", "cli"), (Event.KEEP_AWAKE_ENDED, "boss", "page")]
    assert until == world.clock.now() + HOUR


async def test_more_than_the_policy_allows_is_refused_and_changes_nothing(world: IdleWorld) -> None:
    await world.start()
    with pytest.raises(Refused, match="12h"):
        await keep(world, 13)
    assert await world.plane.leases() == {}


async def test_what_is_paused_cannot_be_kept_awake(world: IdleWorld) -> None:
    await world.start()
    await world.plane.pause(EXP, "ada")
    with pytest.raises(Conflict, match="pausing"):
        await keep(world, 1)
    await world.settle()
    with pytest.raises(Conflict, match="paused") as refused:
        await keep(world, 1)
    assert "intermezzo resume" in refused.value.hint


async def test_of_leases_that_are_asked_for_at_the_same_moment_the_longest_holds(
    world: IdleWorld, tmp_path: Path
) -> None:
    # A real database: only there do they really come between each other.
    store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path}/intermezzo.db")
    world.store = store  # type: ignore[assignment]
    world.kill_control_plane()
    await world.start()
    promised = await asyncio.gather(*(keep(world, hours) for hours in (1, 5, 2, 4, 3)))
    held = await world.plane.lease(EXP)
    await store.close()
    assert held is not None and held.until == max(promised) == world.clock.now() + 5 * HOUR


@pytest.mark.parametrize("head_start", range(0, 40, 2))
async def test_whoever_is_told_that_it_stays_awake_is_told_the_truth(
    world: IdleWorld, tmp_path: Path, head_start: int
) -> None:
    # A real database: only there do the two really come between each other.
    store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path}/intermezzo.db")
    world.store = store  # type: ignore[assignment]
    world.kill_control_plane()
    up = await world.start()
    world.clock.set(up + LIMIT)
    sweep = asyncio.create_task(world.plane.idle_rule.sweep())
    for _ in range(head_start):
        await asyncio.sleep(0)
    try:
        await keep(world, 1)
    except Conflict:
        promised = False
    else:
        promised = True
    await sweep
    assert (await world.phase() is Phase.RUNNING) == promised
    await store.close()


async def test_what_a_notebook_asks_for_holds_within_the_policy_and_is_taken_back_by_it(world: IdleWorld) -> None:
    up = await world.start()
    doings = (await world.memory()).doings
    doings.keep_awake = KeepAwake(up + 100 * HOUR, up, "the notebook a.ipynb")
    await world.check()
    held = await world.plane.lease(EXP)
    assert held is not None
    assert (held.source, held.until, held.asked_by) == (LeaseSource.NOTEBOOK, up + 12 * HOUR, "the notebook a.ipynb")
    await world.pass_until(up + 2 * HOUR)
    assert await world.phase() is Phase.RUNNING
    doings.keep_awake = None
    await world.check()
    assert await world.plane.lease(EXP) is None
    assert await world.paused_at() <= up + 2 * HOUR + 2 * CHECK


async def test_a_lease_that_its_owner_ended_is_not_revived_by_an_older_word_of_the_notebook(world: IdleWorld) -> None:
    up = await world.start()
    doings = (await world.memory()).doings
    doings.keep_awake = KeepAwake(up + 10 * HOUR, up, "the notebook a.ipynb")
    await world.check()
    world.clock.advance(HOUR)
    await world.plane.end_lease(EXP, "ada", LeaseSource.PAGE)
    await world.check()
    assert await world.plane.lease(EXP) is None
