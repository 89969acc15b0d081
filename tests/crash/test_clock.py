"""The clock of the control plane is set back and forward in the midst of every operation: nothing is lost, and
everything comes to rest in a state that says what it is."""

import pytest

from control.world import World
from crash.mortal import MortalWorld
from crash.operations import EXP, OPERATIONS, Operation, Witness, left_over, unsettled
from intermezzo.domain.orders import Problem
from intermezzo.domain.workspace import SETTLED, Phase

HOUR_MS = 3_600_000
JUMPS = {"an hour back": -HOUR_MS, "a year back": -8760 * HOUR_MS, "an hour on": HOUR_MS, "a year on": 8760 * HOUR_MS}
TURNS = 12


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
async def test_it_jumps_at_any_moment(operation: Operation, jump: str) -> None:
    for turns in range(TURNS):
        world = MortalWorld()
        await operation.before(world)
        witness = await Witness.of(world, operation)
        await operation.ask(world)
        for _ in range(turns):
            await world.turn()
        world.clock.advance(JUMPS[jump])
        await world.settle()
        assert await unsettled(world) == []
        assert await left_over(world) == []
        assert await witness.lost(world, engine_died=False) == []
        for workspace in await world.store.workspaces():
            assert workspace.phase in {Phase.RUNNING, Phase.QUEUED} or workspace.snapshot or workspace.condition


async def test_an_attempt_that_was_put_off_does_not_wait_for_a_clock_that_was_set_back() -> None:
    world = World()
    await world.create("exp")
    await world.settle()
    world.cluster.faults.fail_next("remove", Problem("engine_failure", "not today"))
    await world.plane.delete(EXP, "ada")
    for _ in range(3):
        world.cluster.step()
        await world.plane.reconciler.reconcile((await world.get("exp")).uid)
    assert (await world.get("exp")).operation
    world.clock.advance(-HOUR_MS)
    before = world.clock.now()
    await world.settle()
    assert await world.store.workspaces() == []
    assert world.clock.now() - before < 60_000


async def test_a_snapshot_that_is_made_after_the_clock_was_set_back_is_still_the_newest() -> None:
    world = World()
    await world.create("exp")
    await world.settle()
    for value in (1, 2, 3):
        await world.run("exp", f"x = {value}")
        await world.plane.pause(EXP, "ada")
        await world.settle()
        world.clock.advance(-HOUR_MS)
        await world.plane.resume(EXP, "ada")
        await world.settle()
        assert (await world.get("exp")).phase in SETTLED
        assert (await world.run("exp", "print(x)")).strip() == str(value)
    newest, *_ = (each.manifest.id for each in await world.plane.snapshots(EXP))
    recorded = (await world.get("exp")).snapshot
    assert recorded
    assert newest == recorded.id
