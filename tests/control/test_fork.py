"""Forks over the shipped memory adapters: a workspace of its own, made of another one's saved session and files."""

import pytest

from control.world import World, one_accelerator
from intermezzo.domain import reasons
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.errors import AlreadyExists, Conflict, InvalidInput, NotFound, Refused, Unreachable
from intermezzo.domain.ledger import Event
from intermezzo.domain.mounts import DataVolume
from intermezzo.domain.orders import Problem, SnapshotChange, SnapshotOrder
from intermezzo.domain.snapshot import Confirmation
from intermezzo.domain.workspace import OperationKind, Phase, Workspace, WorkspaceKey, WorkspaceSpec

EXP = WorkspaceKey("default", "exp")
ONE = WorkspaceKey("default", "one")
TWO = WorkspaceKey("default", "two")
PROBLEM = Problem("engine_failure", "The engine ended with status 128.")
STEPS = ["accepted", "copied", "restored", "renamed"]


@pytest.fixture
def world() -> World:
    return World(one_accelerator(accelerators=4))


async def paused(world: World, x: int = 42) -> Workspace:
    """A paused experiment with a value in memory and a file."""
    await world.create("exp")
    await world.settle()
    await world.run("exp", f"x = {x}")
    workspace = await world.get("exp")
    world.cluster.world.volumes[workspace.volume_id]["notes.txt"] = b"as it was"
    await world.plane.pause(EXP, "ada")
    await world.settle()
    return await world.get("exp")


async def forked(world: World, key: WorkspaceKey = ONE) -> Workspace:
    await world.plane.fork(EXP, key, "ada", "ada")
    await world.settle()
    return await world.get(key.name)


async def events(world: World, workspace: Workspace) -> list[Event]:
    return [entry.event for entry in await world.store.ledger(workspace.uid)]


def seeds(world: World, workspace: Workspace) -> set[int]:
    live = world.cluster.sandbox(workspace.uid)
    assert live is not None
    return {kernel.seed for kernel in live.memory.kernels.values()}


async def test_two_forks_and_their_original_run_side_by_side_each_as_itself(world: World) -> None:
    original = await paused(world)
    await world.plane.fork(EXP, ONE, "ada", "ada")
    await world.plane.fork(EXP, TWO, "ada", "ada")
    await world.settle()
    await world.plane.resume(EXP, "ada")
    await world.settle()
    one, two, exp = [await world.get(name) for name in ("one", "two", "exp")]
    assert {each.phase for each in (one, two, exp)} == {Phase.RUNNING}
    assert [await world.run(name, "print(x)") for name in ("one", "two", "exp")] == ["42\n"] * 3
    await world.run("one", "x = 1")
    assert [await world.run(name, "print(x)") for name in ("one", "two", "exp")] == ["1\n", "42\n", "42\n"]
    assert len({each.volume_id for each in (one, two, exp)}) == 3
    assert len({(await world.access(name)).token for name in ("one", "two", "exp")}) == 3
    assert len(seeds(world, one) | seeds(world, two) | seeds(world, exp)) == 3
    assert exp.continuity is not None and exp.continuity.verdict is Verdict.RESTORED
    assert exp.snapshot == original.snapshot
    assert await world.broken_promises() == []


async def test_a_fork_is_called_forked_with_its_evidence_and_never_resumed(world: World) -> None:
    await paused(world)
    one = await forked(world)
    assert one.continuity is not None and one.continuity.verdict is Verdict.FORKED
    told = " ".join(one.continuity.evidence)
    assert "same value in memory" in told and "not with the original's" in told and "new random numbers" in told
    assert one.condition is None
    found = await events(world, one)
    assert found[:3] == [Event.CREATED, Event.FORK_ASKED, Event.QUEUED]
    assert {Event.COPIED, Event.RESTORED, Event.RENAMED, Event.PROVEN, Event.NEXT_CELL_RAN} <= set(found)
    assert found[-1] is Event.FORKED
    assert not {Event.RESUMED, Event.STARTED} & set(found)


async def test_both_ledgers_say_what_became_of_what(world: World) -> None:
    original = await paused(world)
    assert original.snapshot is not None
    one = await forked(world)
    created = next(e for e in await world.store.ledger(one.uid) if e.event is Event.CREATED)
    assert created.details["fork_of"]["uid"] == original.uid
    assert created.details["snapshot_id"] == original.snapshot.id
    (told,) = [e for e in await world.store.ledger(original.uid) if e.event is Event.WAS_FORKED]
    assert told.details == {
        "snapshot_id": original.snapshot.id,
        "into": {"uid": one.uid, "namespace": "default", "name": "one", "owner": "ada"},
    }
    assert told.actor == "ada"


async def test_a_fork_has_the_files_as_they_are_and_changes_only_its_own(world: World) -> None:
    original = await paused(world)
    one = await forked(world)
    volumes = world.cluster.world.volumes
    assert volumes[one.volume_id] == {"notes.txt": b"as it was"}
    volumes[one.volume_id]["notes.txt"] = b"another"
    assert volumes[original.volume_id]["notes.txt"] == b"as it was"


async def test_a_fork_pauses_and_resumes_as_any_workspace_and_can_be_forked_again(world: World) -> None:
    await paused(world)
    one = await forked(world)
    await world.run("one", "x = x + 1")
    await world.plane.pause(ONE, "ada")
    await world.settle()
    await world.plane.fork(ONE, TWO, "ada", "ada")
    await world.plane.resume(ONE, "ada")
    await world.settle()
    one, two = await world.get("one"), await world.get("two")
    assert one.continuity is not None and one.continuity.verdict is Verdict.RESTORED
    assert two.continuity is not None and two.continuity.verdict is Verdict.FORKED
    assert await world.run("one", "print(x)") == await world.run("two", "print(x)") == "43\n"
    assert two.origin is not None and two.origin.key == ONE


async def test_a_running_original_is_forked_from_its_last_snapshot(world: World) -> None:
    await paused(world)
    await world.plane.resume(EXP, "ada")
    await world.settle()
    await world.run("exp", "x = 7")
    await forked(world)
    assert await world.run("one", "print(x)") == "42\n"
    assert await world.run("exp", "print(x)") == "7\n"


@pytest.mark.parametrize("after", STEPS)
async def test_a_fork_that_fails_leaves_nothing_and_can_be_tried_again(world: World, after: str) -> None:
    original = await paused(world)
    world.cluster.faults.fail_next("fork", PROBLEM, after)
    one = await forked(world)
    assert one.phase is Phase.FAILED and one.reservation is None
    assert one.condition is not None and one.condition.reason == reasons.FORK_FAILED
    assert "status 128" in one.condition.message and "default/exp" in one.condition.message
    assert world.cluster.sandbox(one.uid) is None and one.volume_id not in world.cluster.world.volumes
    assert (await events(world, one))[-1] is Event.FORK_FAILED
    assert Event.WAS_FORKED not in await events(world, original)
    with pytest.raises(Conflict, match="not come to be"):
        await world.plane.restart_fresh(ONE, "ada")
    await world.plane.resume(ONE, "ada")
    await world.settle()
    assert (await world.get("one")).phase is Phase.RUNNING
    assert await world.run("one", "print(x)") == "42\n"


@pytest.mark.parametrize("passes", range(1, 12))
async def test_a_control_plane_killed_at_any_step_of_a_fork_goes_on(world: World, passes: int) -> None:
    await paused(world)
    await world.plane.fork(EXP, ONE, "ada", "ada")
    for _ in range(passes):
        await world.plane.reconciler.reconcile((await world.get("one")).uid)
        world.kill_control_plane()
        world.cluster.step()
        world.kill_control_plane()
    await world.settle()
    one = await world.get("one")
    assert one.phase is Phase.RUNNING
    assert one.continuity is not None and one.continuity.verdict is Verdict.FORKED
    assert await world.broken_promises() == []


@pytest.mark.parametrize("steps", range(1, 6))
async def test_an_agent_restarted_at_any_step_leaves_a_whole_fork_or_nothing(world: World, steps: int) -> None:
    await paused(world)
    await world.plane.fork(EXP, ONE, "ada", "ada")
    one = await world.get("one")
    for _ in range(2):
        await world.plane.reconciler.reconcile("line")
        await world.plane.reconciler.reconcile(one.uid)
    for _ in range(steps):
        world.cluster.step()
    world.cluster.restart_agent()
    await world.settle()
    one = await world.get("one")
    there = one.volume_id in world.cluster.world.volumes, world.cluster.sandbox(one.uid) is not None
    assert (one.phase, there) in {(Phase.RUNNING, (True, True)), (Phase.FAILED, (False, False))}


async def test_a_fork_whose_session_ends_before_it_is_proven_leaves_nothing(world: World) -> None:
    await paused(world)
    await world.plane.fork(EXP, ONE, "ada", "ada")
    one = await world.get("one")
    for _ in range(3):
        await world.plane.reconciler.reconcile("line")
        await world.plane.reconciler.reconcile(one.uid)
    world.cluster.settle()
    world.cluster.lose_sandbox(one.uid)
    await world.settle()
    one = await world.get("one")
    assert one.phase is Phase.FAILED
    assert one.condition is not None and "ended as soon as it was up" in one.condition.message
    assert one.volume_id not in world.cluster.world.volumes


async def test_a_fork_that_keeps_the_originals_identity_never_runs(world: World) -> None:
    await paused(world)
    world.cluster.world.stubborn = True
    one = await forked(world)
    assert one.phase is Phase.FAILED
    assert one.condition is not None and one.condition.reason == reasons.FORK_FAILED
    assert world.cluster.sandbox(one.uid) is None and one.volume_id not in world.cluster.world.volumes
    assert Event.FORKED not in await events(world, one)


async def test_a_fork_without_the_originals_memory_never_runs(world: World) -> None:
    await paused(world)
    world.cluster.faults.forgetful = True
    one = await forked(world)
    assert one.phase is Phase.FAILED
    assert one.condition is not None and "another process" in one.condition.message
    assert world.cluster.sandbox(one.uid) is None


async def test_what_cannot_be_forked_is_refused_and_makes_nothing(world: World) -> None:
    await world.create("exp")
    await world.settle()
    with pytest.raises(Conflict, match="no snapshot"):
        await world.plane.fork(EXP, ONE, "ada", "ada")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    with pytest.raises(NotFound):
        await world.plane.fork(EXP, ONE, "ada", "ada", "no-such-snapshot")
    with pytest.raises(NotFound):
        await world.plane.fork(TWO, ONE, "ada", "ada")
    with pytest.raises(AlreadyExists):
        await world.plane.fork(EXP, EXP, "ada", "ada")
    with pytest.raises(InvalidInput):
        await world.plane.fork(EXP, WorkspaceKey("default", "a/b"), "ada", "ada")
    with pytest.raises(InvalidInput):
        await world.plane.fork(EXP, ONE, "ada", "ada", pod="no-such-size")
    with pytest.raises(Refused, match="other accelerators"):
        await world.plane.fork(EXP, ONE, "ada", "ada", pod="small")
    assert [w.key.name for w in await world.store.workspaces()] == ["exp"]
    assert len(await world.store.volumes.volumes("default")) == 1


async def test_a_session_in_which_nothing_was_planted_is_not_forked(world: World) -> None:
    await world.create("exp")
    await world.settle()
    live = world.cluster.sandbox((await world.get("exp")).uid)
    assert live is not None
    live.answers = False
    await world.plane.pause(EXP, "ada")
    await world.settle()
    with pytest.raises(Conflict, match="nothing was planted"):
        await world.plane.fork(EXP, ONE, "ada", "ada")


async def test_data_volumes_go_along_inside_their_namespace_only(world: World) -> None:
    await world.plane.volumes.create("default", "sets", "ada")
    spec = WorkspaceSpec("jupyterlab", "", "small", data=(DataVolume("sets", read_only=True),))
    await world.plane.create("default", "exp", "ada", spec, "ada")
    await world.settle()
    await world.plane.pause(EXP, "ada")
    await world.settle()
    with pytest.raises(Refused, match="sets"):
        await world.plane.fork(EXP, WorkspaceKey("elsewhere", "one"), "ada", "ada")
    one = await forked(world)
    assert one.mounts == (await world.get("exp")).mounts
    assert one.phase is Phase.RUNNING


async def test_the_snapshot_of_a_waiting_fork_is_kept_and_an_original_that_goes_takes_no_fork_along(
    world: World,
) -> None:
    original = await paused(world)
    assert original.snapshot is not None
    await world.plane.fork(EXP, ONE, "ada", "ada")
    with pytest.raises(Conflict, match="default/one"):
        await world.plane.delete_snapshot(EXP, original.snapshot.id, "ada", Confirmation.LIVE_STATE)
    await world.settle()
    assert (await world.get("one")).phase is Phase.RUNNING
    await world.plane.delete(EXP, "ada", delete_files=True)
    await world.settle()
    assert [w.key.name for w in await world.store.workspaces()] == ["one"]
    assert await world.run("one", "print(x)") == "42\n"
    await world.plane.pause(ONE, "ada")
    await world.settle()
    await world.plane.resume(ONE, "ada")
    await world.settle()
    assert await world.run("one", "print(x)") == "42\n"


async def test_an_original_is_deleted_once_the_fork_from_it_is_there(world: World) -> None:
    original = await paused(world)
    assert original.snapshot is not None
    await world.plane.fork(EXP, ONE, "ada", "ada")
    one = await world.get("one")
    await world.plane.reconciler.reconcile("line")
    await world.plane.reconciler.reconcile(one.uid)
    await world.plane.reconciler.reconcile(one.uid)
    world.cluster.step(one.uid)
    with pytest.raises(Conflict, match="fork"):
        await world.cluster.tend(SnapshotOrder(original.uid, original.snapshot.id, SnapshotChange.WITHDRAW))
    await world.plane.delete(EXP, "ada", delete_files=True)
    await world.settle(800)
    assert [(w.key.name, w.phase) for w in await world.store.workspaces()] == [("one", Phase.RUNNING)]
    assert await world.broken_promises() == []


async def test_a_fork_of_an_original_that_is_gone_fails_plainly_and_can_only_be_deleted(world: World) -> None:
    world_full = World(one_accelerator(accelerators=1))
    await paused(world_full)
    await world_full.create("holder")
    await world_full.settle()
    await world_full.plane.fork(EXP, ONE, "ada", "ada")
    await world_full.settle()
    assert (await world_full.get("one")).phase is Phase.QUEUED
    await world_full.plane.delete(EXP, "ada")
    await world_full.settle()
    one = await world_full.get("one")
    assert one.phase is Phase.FAILED
    with pytest.raises(Conflict, match="gone"):
        await world_full.plane.resume(ONE, "ada")
    await world_full.plane.delete(ONE, "ada")
    await world_full.settle()
    assert [w.key.name for w in await world_full.store.workspaces()] == ["holder"]
    assert one.volume_id not in {v.id for v in await world_full.store.volumes.volumes("default")}


async def test_a_fork_waits_in_the_queue_and_can_be_taken_out_of_it(world: World) -> None:
    full = World(one_accelerator(accelerators=1))
    await paused(full)
    await full.create("holder")
    await full.settle()
    await full.plane.fork(EXP, ONE, "ada", "ada")
    await full.settle()
    await full.plane.pause(ONE, "ada")
    one = await full.get("one")
    assert one.phase is Phase.PAUSED and one.volume_id not in full.cluster.world.volumes
    await full.plane.delete(WorkspaceKey("default", "holder"), "ada")
    await full.settle()
    operation = await full.plane.resume(ONE, "ada")
    assert operation.kind is OperationKind.FORK
    await full.settle()
    assert await full.run("one", "print(x)") == "42\n"


async def test_a_silent_node_while_a_fork_is_asked_for_makes_nothing(world: World) -> None:
    await paused(world)
    world.cluster.faults.unreachable = True
    with pytest.raises(Unreachable):
        await world.plane.fork(EXP, ONE, "ada", "ada")
    assert [w.key.name for w in await world.store.workspaces()] == ["exp"]
