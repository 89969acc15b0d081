"""When Intermezzo is stopped nothing is called lost that is not, and what is lost says why."""

import asyncio

from control.world import World, one_accelerator
from intermezzo.control.shutdown import shut_down
from intermezzo.domain import reasons
from intermezzo.domain.ledger import Event
from intermezzo.domain.orders import Problem
from intermezzo.domain.workspace import Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp")
OTHER = WorkspaceKey("default", "other")


async def paused(world: World, name: str) -> None:
    await world.create(name)
    await world.settle()
    await world.plane.pause(WorkspaceKey("default", name), "ada")
    await world.settle()


async def stopped(world: World, way: str) -> list[str]:
    """Shut down while everything else goes on; the names of those whose session was lost unasked."""
    stopping = asyncio.create_task(shut_down(world.plane, way))  # type: ignore[arg-type]
    while not stopping.done():
        await asyncio.sleep(0)
        await world.settle()
    return [workspace.key.name for workspace in await stopping]


async def test_a_resume_that_is_cut_short_leaves_it_paused_with_its_snapshot() -> None:
    world = World(one_accelerator())
    await paused(world, "exp")
    await world.plane.resume(EXP, "ada")
    await world.plane.reconciler.reconcile((await world.get("exp")).uid)
    assert (await world.get("exp")).phase is Phase.RESUMING
    await shut_down(world.plane, "lose")
    found = await world.get("exp")
    assert (found.phase, found.reservation) == (Phase.PAUSED, None)
    assert found.snapshot is not None and found.condition is not None
    assert "The snapshot and the files are untouched" in found.condition.message
    assert Event.LOST not in {entry.event for entry in await world.store.ledger()}


async def test_whoever_waits_is_taken_out_of_the_queue_and_keeps_its_snapshot() -> None:
    world = World(one_accelerator())
    await paused(world, "exp")
    await world.create("other")
    await world.settle()
    await world.plane.resume(EXP, "ada")
    await world.plane.reconciler.reconcile((await world.get("exp")).uid)
    assert (await world.get("exp")).phase is Phase.QUEUED
    await shut_down(world.plane, "lose")
    found = await world.get("exp")
    assert (found.phase, found.snapshot is not None) == (Phase.PAUSED, True)
    assert (await world.get("other")).phase is Phase.FAILED


async def test_a_pause_under_way_is_waited_for_even_if_sessions_are_to_be_lost() -> None:
    world = World(one_accelerator())
    await world.create("exp")
    await world.settle()
    await world.plane.pause(EXP, "ada")
    await stopped(world, "lose")
    assert (await world.get("exp")).phase is Phase.PAUSED


async def test_a_refused_pause_is_the_reason_that_is_told() -> None:
    world = World(one_accelerator())
    await world.create("exp")
    await world.settle()
    world.cluster.faults.fail_next("pause", Problem("unsaveable", "lost.bin is deleted but open."))
    lost = await stopped(world, "pause")
    found = await world.get("exp")
    assert lost == ["exp"]
    assert found.phase is Phase.FAILED and found.condition is not None
    assert found.condition.reason == reasons.SHUT_DOWN
    assert found.condition.message.startswith(
        "Intermezzo was shut down; this session could not be paused: lost.bin is deleted but open."
    )


async def test_what_was_paused_or_had_failed_before_is_not_among_the_losses() -> None:
    world = World(one_accelerator())
    await paused(world, "exp")
    world.cluster.faults.fail_next("start", Problem("engine_failure", "no such environment"))
    await world.create("broken")
    await world.settle()
    assert await stopped(world, "pause") == []


async def test_sessions_that_are_to_be_lost_are_no_losses_to_tell_of() -> None:
    world = World(one_accelerator())
    await world.create("exp")
    await world.settle()
    assert await stopped(world, "lose") == []
    assert (await world.get("exp")).phase is Phase.FAILED


async def test_the_reason_of_a_refused_pause_is_gone_once_a_pause_succeeds() -> None:
    world = World(one_accelerator())
    await world.create("exp")
    await world.settle()
    world.cluster.faults.fail_next("pause", Problem("unsaveable", "lost.bin is deleted but open."))
    await world.plane.pause(EXP, "ada")
    await world.settle()
    assert (await world.get("exp")).condition is not None
    await world.plane.pause(EXP, "ada")
    await world.settle()
    found = await world.get("exp")
    assert (found.phase, found.condition) == (Phase.PAUSED, None)
