"""An older backup was put back: what happened since is found, not forgotten."""

import pytest

from control.world import World, one_accelerator
from intermezzo.domain import reasons
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey

KEY = WorkspaceKey("default", "exp")


@pytest.fixture
async def world() -> World:
    made = World(one_accelerator())
    await made.create("exp")
    await made.settle()
    await made.run("exp", "x = 41")
    return made


async def put_back(world: World, then: Workspace) -> None:
    """As a restore does: the record is what it was, the node is not."""
    now = await world.get("exp")
    await world.store.save(then.with_(revision=now.revision, reservation=None))
    world.clock.advance(60_000)
    await world.plane.reconciler.reconcile(now.uid)
    await world.settle()


async def test_what_was_paused_since_is_found_paused_and_its_newest_snapshot_comes_back(world: World) -> None:
    then = await world.get("exp")
    world.clock.advance(60_000)
    await world.plane.pause(KEY, "ada")
    await world.settle()
    newest = (await world.get("exp")).snapshot
    await put_back(world, then)
    found = await world.get("exp")
    assert (found.phase, found.snapshot) == (Phase.PAUSED, newest)
    assert found.condition and found.condition.reason == reasons.RECORD_REPAIRED
    assert await world.broken_promises() == []
    await world.plane.resume(KEY, "ada")
    await world.settle()
    resumed = await world.get("exp")
    assert resumed.continuity and resumed.continuity.verdict is Verdict.UNKNOWN
    assert await world.run("exp", "print(x)") == "41\n"


async def test_a_session_that_was_lost_is_not_called_paused_for_an_older_snapshot(world: World) -> None:
    await world.plane.pause(KEY, "ada")
    await world.settle()
    await world.plane.resume(KEY, "ada")
    await world.settle()
    world.clock.advance(60_000)
    world.cluster.lose_sandbox((await world.get("exp")).uid)
    await world.settle()
    assert (await world.get("exp")).phase is Phase.FAILED
