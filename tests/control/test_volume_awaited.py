"""Files that are not there yet hold a resume up; they neither fail it nor are made anew in their place."""

import pytest

from control.world import World
from intermezzo.domain import reasons
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.orders import VOLUME_UNAVAILABLE
from intermezzo.domain.workspace import Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp")
DELAY_MS = 40_000


@pytest.fixture
async def paused() -> World:
    """A world with a paused workspace whose kernel knows `x`."""
    world = World()
    await world.create("exp")
    await world.settle()
    await world.run("exp", "x = 41")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    return world


async def pass_by(world: World, milliseconds: int) -> list[Phase]:
    """Let that time go by while everything works; the phases that the workspace was in."""
    end, phases = world.clock.now() + milliseconds, []
    uid = (await world.get("exp")).uid
    while world.clock.now() < end:
        world.cluster.settle()
        await world.plane.reconciler.reconcile(uid)
        phases.append((await world.get("exp")).phase)
        world.clock.advance(500)
    return phases


async def test_fr47_a_volume_that_is_detached_late_holds_the_resume_up_and_nothing_else(paused: World) -> None:
    before = await paused.get("exp")
    paused.cluster.world.detached.add(before.volume_id)
    await paused.plane.resume(EXP, "ada")
    phases = await pass_by(paused, DELAY_MS)
    waiting = await paused.get("exp")
    assert set(phases[2:]) == {Phase.RESUMING}
    assert waiting.condition is not None
    assert (waiting.condition.reason, waiting.condition.ways_out) == (VOLUME_UNAVAILABLE, ())
    assert "still held by another node" in waiting.condition.message
    assert "goes on by itself" in waiting.condition.message
    assert waiting.reservation is not None
    assert (await paused.seen("exp")).sandbox is None

    paused.cluster.world.detached.clear()
    await paused.settle()
    resumed = await paused.get("exp")
    assert (resumed.phase, resumed.condition) == (Phase.RUNNING, None)
    assert resumed.volume_id == before.volume_id
    assert resumed.continuity is not None
    assert resumed.continuity.verdict is Verdict.RESTORED
    assert (await paused.run("exp", "print(x)")).strip() == "41"
    assert await paused.broken_promises() == []


async def test_fr47_the_control_plane_may_be_killed_while_it_waits(paused: World) -> None:
    record = await paused.get("exp")
    paused.cluster.world.detached.add(record.volume_id)
    await paused.plane.resume(EXP, "ada")
    await pass_by(paused, DELAY_MS // 2)
    paused.kill_control_plane()
    await pass_by(paused, DELAY_MS // 2)
    paused.cluster.world.detached.clear()
    await paused.settle()
    assert (await paused.get("exp")).phase is Phase.RUNNING
    assert await paused.broken_promises() == []


async def test_a_volume_that_never_comes_leaves_it_paused_and_whole_with_the_ways_out(paused: World) -> None:
    record = await paused.get("exp")
    paused.cluster.world.detached.add(record.volume_id)
    await paused.plane.resume(EXP, "ada")
    await pass_by(paused, paused.plane.context.limits.resume_ms + 60_000)
    failed = await paused.get("exp")
    assert (failed.phase, failed.reservation, failed.snapshot) == (Phase.PAUSED, None, record.snapshot)
    assert failed.condition is not None
    assert failed.condition.reason == reasons.RESUME_FAILED
    assert reasons.RETRY in failed.condition.ways_out


async def test_a_fresh_start_waits_for_its_files_too(paused: World) -> None:
    record = await paused.get("exp")
    paused.cluster.world.detached.add(record.volume_id)
    await paused.plane.restart_fresh(EXP, "ada")
    phases = await pass_by(paused, DELAY_MS)
    assert set(phases[2:]) == {Phase.STARTING}
    paused.cluster.world.detached.clear()
    await paused.settle()
    started = await paused.get("exp")
    assert (started.phase, started.condition, started.volume_id) == (Phase.RUNNING, None, record.volume_id)


async def test_one_that_waits_for_its_files_can_be_deleted(paused: World) -> None:
    record = await paused.get("exp")
    paused.cluster.world.detached.add(record.volume_id)
    await paused.plane.resume(EXP, "ada")
    await pass_by(paused, DELAY_MS)
    await paused.plane.delete(EXP, "ada", delete_files=False)
    await paused.settle()
    assert await paused.plane.workspaces() == []
    assert (await paused.store.reservations()) == {}
