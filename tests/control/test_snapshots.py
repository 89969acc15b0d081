"""Snapshots in their owner's hands, over the shipped memory adapters."""

from dataclasses import replace

import pytest

from control.world import World, one_accelerator
from intermezzo.domain import reasons
from intermezzo.domain.compatibility import Aspect
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound
from intermezzo.domain.ledger import Event
from intermezzo.domain.orders import Problem
from intermezzo.domain.snapshot import Confirmation, SnapshotState
from intermezzo.domain.workspace import OperationKind, Outcome, Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp")


@pytest.fixture
def world() -> World:
    return World(one_accelerator())


async def paused(world: World, *values: int) -> list[str]:
    """A workspace paused once with each value of `x`; the ids of its snapshots, oldest first."""
    if not await world.store.workspaces():
        await world.create("exp")
        await world.settle()
    ids = []
    for value in values:
        if (await world.get("exp")).phase is Phase.PAUSED:
            await resumed(world)
        await world.run("exp", f"x = {value}")
        operation = await world.plane.pause(EXP, "ada")
        await world.settle()
        world.clock.advance(1_000)
        ids.append(operation.snapshot_id)
    return ids


async def resumed(world: World, snapshot_id: str = "") -> None:
    await world.plane.resume(EXP, "ada", snapshot_id)
    await world.settle()


async def listed(world: World) -> dict[str, SnapshotState]:
    return {found.manifest.id: found.state for found in await world.plane.snapshots(EXP)}


async def test_fr46_the_newest_and_the_pinned_remain(world: World) -> None:
    world.plane.context.limits = replace(world.plane.context.limits, keep_snapshots=3)
    (oldest,) = await paused(world, 0)
    await world.plane.pin_snapshot(EXP, oldest)
    later = await paused(world, 1, 2, 3, 4)
    await world.plane.retention.look()
    await world.settle()
    assert list(await listed(world)) == [*reversed(later[1:]), oldest]
    await resumed(world, oldest)
    assert (await world.run("exp", "print(x)")).strip() == "0"


async def test_an_older_session_is_restored_when_it_is_named(world: World) -> None:
    older, newer = await paused(world, 1, 2)
    await resumed(world, older)
    assert (await world.run("exp", "print(x)")).strip() == "1"
    assert {found.manifest.id: found.current for found in await world.plane.snapshots(EXP)} == {
        older: False,
        newer: True,
    }


async def test_what_was_deleted_is_gone_on_the_node_and_in_the_ledger(world: World) -> None:
    older, newer = await paused(world, 1, 2)
    await world.plane.delete_snapshot(EXP, older, "bob")
    await world.plane.delete_snapshot(EXP, older, "bob")
    assert (await listed(world))[older] is SnapshotState.DELETING
    with pytest.raises(NotFound):
        await world.plane.resume(EXP, "ada", older)
    await world.settle()
    assert await listed(world) == {newer: SnapshotState.COMPLETE}
    facts = [f for f in await world.plane.ledger(EXP) if f.event is Event.SNAPSHOT_DELETED]
    assert [(fact.actor, fact.details["snapshot_id"]) for fact in facts] == [("bob", older)]
    with pytest.raises(NotFound):
        await world.plane.delete_snapshot(EXP, older, "bob")


async def test_a_deletion_that_was_asked_for_is_done_though_everything_is_killed_meanwhile(world: World) -> None:
    older, newer = await paused(world, 1, 2)
    await world.plane.delete_snapshot(EXP, older, "ada")
    world.kill_control_plane()
    world.cluster.faults.unreachable = True
    await world.plane.reconciler.reconcile((await world.get("exp")).uid)
    world.cluster.faults.unreachable = False
    await world.settle()
    assert await listed(world) == {newer: SnapshotState.COMPLETE}
    assert (await world.get("exp")).unwanted == ()


async def test_the_live_state_goes_only_if_that_is_confirmed_and_then_the_files_are_left(world: World) -> None:
    (only,) = await paused(world, 1)
    with pytest.raises(InvalidInput, match="only its files would be left") as refused:
        await world.plane.delete_snapshot(EXP, only, "ada")
    assert set(refused.value.fields) == {"confirm"}
    assert await listed(world) == {only: SnapshotState.COMPLETE}
    await world.plane.delete_snapshot(EXP, only, "ada", Confirmation.LIVE_STATE)
    await world.settle()
    workspace = await world.get("exp")
    assert (workspace.phase, workspace.snapshot) == (Phase.PAUSED, None)
    assert workspace.condition is not None
    assert (workspace.condition.reason, workspace.condition.ways_out) == (reasons.FILES_ONLY, (reasons.FRESH_START,))
    assert (await world.plane.resume(EXP, "ada")).kind is OperationKind.START


async def test_with_the_newest_deleted_a_resume_brings_back_the_one_before(world: World) -> None:
    older, newer = await paused(world, 1, 2)
    with pytest.raises(InvalidInput, match="an older session"):
        await world.plane.delete_snapshot(EXP, newer, "ada")
    await world.plane.delete_snapshot(EXP, newer, "ada", Confirmation.LIVE_STATE)
    await resumed(world)
    assert (await world.run("exp", "print(x)")).strip() == "1"
    assert list(await listed(world)) == [older]


async def test_a_running_session_loses_nothing_by_a_deletion(world: World) -> None:
    (only,) = await paused(world, 1)
    await resumed(world)
    await world.plane.delete_snapshot(EXP, only, "ada")
    await world.settle()
    assert await listed(world) == {}
    assert (await world.run("exp", "print(x)")).strip() == "1"


async def test_a_pinned_snapshot_and_one_in_use_are_not_deleted(world: World) -> None:
    older, newer = await paused(world, 1, 2)
    await world.plane.pin_snapshot(EXP, older)
    with pytest.raises(Conflict, match="pinned"):
        await world.plane.delete_snapshot(EXP, older, "ada")
    await world.plane.unpin_snapshot(EXP, older)
    await world.plane.resume(EXP, "ada", newer)
    with pytest.raises(Conflict):
        await world.plane.delete_snapshot(EXP, older, "ada")
    await world.settle()
    await world.plane.delete_snapshot(EXP, older, "ada")


async def test_an_unknown_snapshot_is_not_found_by_any_command(world: World) -> None:
    await paused(world, 1)
    for ask in (world.plane.pin_snapshot, world.plane.unpin_snapshot, world.plane.verify_snapshot):
        with pytest.raises(NotFound):
            await ask(EXP, "nonsense")
    with pytest.raises(NotFound):
        await world.plane.delete_snapshot(EXP, "nonsense", "ada")
    with pytest.raises(NotFound):
        await world.plane.resume(EXP, "ada", "nonsense")
    assert (await world.get("exp")).phase is Phase.PAUSED


async def test_a_damaged_snapshot_is_refused_before_anything_starts_and_the_older_one_is_offered(world: World) -> None:
    older, newer = await paused(world, 1, 2)
    world.cluster.world.damage((await world.get("exp")).uid, newer)
    await world.plane.verify_snapshot(EXP, newer)
    assert await listed(world) == {newer: SnapshotState.CORRUPT, older: SnapshotState.COMPLETE}
    with pytest.raises(Conflict, match="damaged") as refused:
        await world.plane.resume(EXP, "ada")
    assert f"--snapshot {older}" in refused.value.hint
    assert (await world.get("exp")).phase is Phase.PAUSED
    await resumed(world, older)
    assert (await world.run("exp", "print(x)")).strip() == "1"


async def test_damage_that_is_found_while_it_waits_ends_the_waiting(world: World) -> None:
    older, newer = await paused(world, 1, 2)
    await world.create("other")
    await world.settle()
    await world.plane.resume(EXP, "ada")
    await world.settle()
    assert (await world.get("exp")).phase is Phase.QUEUED
    world.cluster.world.damage((await world.get("exp")).uid, newer)
    await world.plane.verify_snapshot(EXP, newer)
    await world.settle()
    workspace = await world.get("exp")
    assert (workspace.phase, workspace.reservation) == (Phase.PAUSED, None)
    assert workspace.condition is not None and "damaged" in workspace.condition.message
    assert reasons.ANOTHER_SNAPSHOT in workspace.condition.ways_out
    assert list(await listed(world)) == [newer, older]


@pytest.mark.parametrize(("values", "offered"), [((1,), False), ((1, 2), True)])
async def test_a_failed_resume_offers_an_older_snapshot_where_there_is_one(
    world: World, values: tuple[int, ...], offered: bool
) -> None:
    await paused(world, *values)
    world.cluster.faults.fail_next("resume", Problem("engine_failure", "The engine ended with status 128."))
    await resumed(world)
    condition = (await world.get("exp")).condition
    assert condition is not None
    assert (reasons.ANOTHER_SNAPSHOT in condition.ways_out) is offered


async def test_a_named_snapshot_is_judged_by_itself_and_not_by_the_newest(world: World) -> None:
    older, newer = await paused(world, 1, 2)
    saved = world.cluster.world.find((await world.get("exp")).uid, newer)
    assert saved is not None
    world.cluster.world.amend(saved.manifest.workspace_uid, newer, cpu_features=("avx512f",))
    found = {s.manifest.id: s for s in await world.plane.snapshots(EXP)}
    assert (found[older].compatible, found[newer].compatible) == (True, False)
    assert [d.aspect for d in found[newer].differences] == [Aspect.CPU_FEATURES]
    assert found[newer].state is SnapshotState.INCOMPATIBLE
    await resumed(world, older)
    assert (await world.get("exp")).phase is Phase.RUNNING
    assert (await world.run("exp", "print(x)")).strip() == "1"


async def test_an_environment_that_was_changed_is_found_before_capacity_is_asked_for(world: World) -> None:
    await paused(world, 1)
    world.cluster.world.digests["jupyter"] = "changed"
    await resumed(world)
    waiting = await world.get("exp")
    assert (waiting.phase, waiting.reservation) == (Phase.QUEUED, None)
    assert waiting.condition is not None and "environment" in waiting.condition.message
    assert "make setup" in waiting.condition.hint
    world.cluster.world.digests.clear()
    await world.settle()
    assert (await world.run("exp", "print(x)")).strip() == "1"


async def test_fr44_it_waits_for_a_node_with_the_feature_and_keeps_x_when_one_joins() -> None:
    able = replace(one_accelerator("able"), cpu_features=("avx2", "avx512f"))
    unable = replace(one_accelerator("unable"), cpu_features=("avx2",))
    world = World(able)
    await paused(world, 41)
    world.cluster.world.nodes[:] = [unable]
    await resumed(world)
    waiting = await world.get("exp")
    assert (waiting.phase, waiting.reservation) == (Phase.QUEUED, None)
    assert waiting.condition is not None and "no node with avx512f" in waiting.condition.message
    report = (await world.seen("exp")).report
    assert report is not None and report.kind == "pause", "no restore was attempted"
    world.cluster.world.nodes[:] = [unable, able]
    await world.settle()
    sandbox = (await world.seen("exp")).sandbox
    assert sandbox is not None and sandbox.node == "able"
    assert (await world.run("exp", "print(x)")).strip() == "41"


async def test_fr28_a_half_failed_delete_is_still_a_delete_and_another_one_completes_it(world: World) -> None:
    await paused(world, 1)
    workspace = await world.get("exp")
    world.cluster.faults.fail_next("remove", Problem("disk", "The disk refused."))
    await world.plane.delete(EXP, "ada")
    for _ in range(3):
        await world.plane.reconciler.reconcile(workspace.uid)
        world.cluster.step()
    assert (await world.get("exp")).phase is Phase.DELETING
    for start in (world.plane.resume, world.plane.restart_fresh):
        with pytest.raises(Conflict):
            await start(EXP, "ada")
    with pytest.raises(Conflict):
        await world.plane.pin_snapshot(EXP, "any")
    await world.plane.delete(EXP, "ada", delete_files=True)
    await world.settle()
    assert await world.store.workspaces() == []
    assert await world.cluster.observe_all() == {}
    assert await world.store.reservations() == {}


async def test_fr47_a_name_that_is_used_again_gets_a_volume_of_its_own(world: World) -> None:
    first = await world.create("exp")
    await world.settle()
    world.cluster.world.volumes[first.volume_id]["old.txt"] = b"old"
    await world.plane.delete(EXP, "ada", delete_files=True)
    await world.settle()
    second = await world.create("exp")
    await world.settle()
    assert second.volume_id != first.volume_id
    assert world.cluster.world.volumes == {second.volume_id: {}}


async def test_fr47_a_create_that_is_refused_leaves_no_volume(world: World) -> None:
    with pytest.raises(InvalidInput):
        await world.create("exp", "no-such-size")
    await world.settle()
    assert world.cluster.world.volumes == {}
    assert await world.store.workspaces() == []


async def test_a_node_that_lost_the_snapshot_makes_no_fresh_start_of_a_resume(world: World) -> None:
    (only,) = await paused(world, 1)
    uid = (await world.get("exp")).uid
    kept = world.cluster.world.find(uid, only)
    assert kept is not None
    world.cluster.world.discard(uid, only)
    with pytest.raises(Conflict, match="not on its node"):
        await world.plane.resume(EXP, "ada")
    world.cluster.world.saved[uid].append(kept)
    await resumed(world)
    last = (await world.get("exp")).last_operation
    assert last is not None and last.outcome is Outcome.SUCCEEDED
    assert (await world.run("exp", "print(x)")).strip() == "1"


async def test_of_a_snapshot_that_is_missing_it_is_not_said_that_it_is_untouched(world: World) -> None:
    (only,) = await paused(world, 1)
    uid = (await world.get("exp")).uid
    await world.create("other")
    await world.settle()
    await world.plane.resume(EXP, "ada")
    world.cluster.world.discard(uid, only)
    await world.settle()
    workspace = await world.get("exp")
    assert (workspace.phase, workspace.reservation) == (Phase.PAUSED, None)
    assert workspace.condition is not None
    assert workspace.condition.message.endswith("is not on its node. The files are untouched.")
