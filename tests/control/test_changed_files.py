"""Files that a session holds open and that somebody edited while it was paused: found before anybody waits."""

from dataclasses import replace

import pytest

from control.world import World, one_accelerator
from intermezzo.control.queue.waiters import LASTS_MS
from intermezzo.domain.compatibility import Aspect
from intermezzo.domain.errors import Conflict, FilesChanged, InvalidInput
from intermezzo.domain.held import Acceptance
from intermezzo.domain.ledger import Event
from intermezzo.domain.orders import Problem
from intermezzo.domain.snapshot import SnapshotState
from intermezzo.domain.workspace import Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp")
NOTES = "notes.txt"


@pytest.fixture
def world() -> World:
    return World(one_accelerator())


async def opened(world: World) -> None:
    """A running session that holds a file of home open."""
    workspace = await world.create("exp")
    await world.settle()
    write(world, workspace.volume_id, b"then")
    live = world.cluster.sandbox(workspace.uid)
    assert live is not None
    live.memory.opened.add(f"{live.spec.home_mount}/{NOTES}")
    await world.run("exp", "x = 7")


def write(world: World, volume_id: str, content: bytes) -> None:
    world.cluster.world.volumes[volume_id][NOTES] = content


async def edit(world: World, content: bytes = b"later") -> None:
    write(world, (await world.get("exp")).volume_id, content)


async def paused(world: World) -> str:
    operation = await world.plane.pause(EXP, "ada")
    await world.settle()
    world.clock.advance(1_000)
    return operation.snapshot_id


async def resumed(world: World, snapshot_id: str = "", accepted: Acceptance = Acceptance.NOTHING) -> str:
    await world.plane.resume(EXP, "ada", snapshot_id, accepted)
    await world.settle()
    return (await world.run("exp", "print(x)")).strip()


async def test_a_file_that_is_as_it_was_is_in_nobodys_way(world: World) -> None:
    await opened(world)
    await paused(world)
    assert await resumed(world) == "7"


async def test_an_edited_file_is_named_before_anybody_waits_and_its_owner_decides(world: World) -> None:
    await opened(world)
    await paused(world)
    await edit(world)
    with pytest.raises(FilesChanged, match=r"notes\.txt, which the session holds open, was written to") as refused:
        await world.plane.resume(EXP, "ada")
    assert "`intermezzo resume default/exp --accept-changed-files`" in refused.value.hint
    assert "`intermezzo restart default/exp --fresh`" in refused.value.hint
    workspace = await world.get("exp")
    assert (workspace.phase, workspace.operation, workspace.reservation) == (Phase.PAUSED, None, None)
    assert await resumed(world, accepted=Acceptance.CHANGED_FILES) == "7"
    (asked,) = [fact for fact in await world.plane.ledger(EXP) if fact.event is Event.RESUME_ASKED]
    assert (asked.actor, asked.details["accepted"]) == ("ada", "changed-files")


async def test_put_back_as_it_was_it_is_in_nobodys_way(world: World) -> None:
    await opened(world)
    await paused(world)
    await edit(world)
    with pytest.raises(FilesChanged):
        await world.plane.resume(EXP, "ada")
    await edit(world, b"then")
    assert await resumed(world) == "7"


async def test_the_list_of_snapshots_tells_it_and_an_older_one_is_offered_and_never_taken(world: World) -> None:
    await opened(world)
    older = await paused(world)
    assert await resumed(world) == "7"
    newer = await paused(world)
    await edit(world)
    with pytest.raises(FilesChanged) as refused:
        await world.plane.resume(EXP, "ada")
    assert f"--snapshot {older} --accept-changed-files`" in refused.value.hint
    found = {each.manifest.id: each for each in await world.plane.snapshots(EXP)}
    assert set(found) == {older, newer}
    for each in found.values():
        assert [d.aspect for d in each.differences] == [Aspect.HELD_FILES]
        assert (each.compatible, each.state) == (True, SnapshotState.COMPLETE), "its owner may accept it"
    with pytest.raises(FilesChanged) as named:
        await world.plane.resume(EXP, "ada", older)
    assert f"--snapshot {older} --accept-changed-files" in named.value.hint


async def test_a_file_that_is_edited_while_somebody_waits_is_found_before_capacity_is_taken(world: World) -> None:
    await opened(world)
    await paused(world)
    await world.create("other")
    await world.settle()
    await world.plane.resume(EXP, "ada")
    await world.settle()
    assert (await world.get("exp")).phase is Phase.QUEUED
    await edit(world)
    world.clock.advance(LASTS_MS)  # what is known of those who wait is asked for again after some time
    await world.plane.pause(WorkspaceKey("default", "other"), "ada")
    await world.settle()
    waiting = await world.get("exp")
    assert (waiting.phase, waiting.reservation) == (Phase.QUEUED, None)
    assert waiting.condition is not None and NOTES in waiting.condition.message
    await edit(world, b"then")
    await world.settle()
    assert (await world.run("exp", "print(x)")).strip() == "7"


async def test_a_node_that_finds_it_last_refuses_with_the_same_reason(world: World) -> None:
    """It was accepted by nobody, and written to after capacity was taken."""
    await opened(world)
    await paused(world)
    await world.plane.resume(EXP, "ada")
    uid = (await world.get("exp")).uid
    for _ in range(20):
        if (await world.get("exp")).phase is Phase.RESUMING:
            break
        await world.plane.reconciler.reconcile(uid)
    await edit(world)
    await world.settle()
    failed = await world.get("exp")
    assert (failed.phase, failed.reservation) == (Phase.PAUSED, None)
    assert failed.condition is not None and NOTES in failed.condition.message
    assert await resumed(world, accepted=Acceptance.CHANGED_FILES) == "7"


async def test_damage_that_only_the_node_sees_is_told_before_anybody_waits(world: World) -> None:
    await opened(world)
    older = await paused(world)
    assert await resumed(world) == "7"
    newer = await paused(world)
    world.cluster.world.cut((await world.get("exp")).uid, newer)
    with pytest.raises(Conflict, match="memory has 0 bytes") as refused:
        await world.plane.resume(EXP, "ada")
    assert f"--snapshot {older}" in refused.value.hint
    assert (await world.get("exp")).phase is Phase.PAUSED
    assert await resumed(world, older) == "7"


async def test_what_is_accepted_is_accepted_for_that_resume_only(world: World) -> None:
    await opened(world)
    await paused(world)
    await edit(world)
    world.cluster.faults.fail_next("resume", Problem("engine_failure", "Not today."))
    await world.plane.resume(EXP, "ada", accepted=Acceptance.CHANGED_FILES)
    await world.settle()
    assert (await world.get("exp")).phase is Phase.PAUSED
    with pytest.raises(FilesChanged):
        await world.plane.resume(EXP, "ada")


async def test_a_file_that_is_not_there_cannot_be_accepted_and_is_put_back(world: World) -> None:
    await opened(world)
    await paused(world)
    files = world.cluster.world.volumes[(await world.get("exp")).volume_id]
    del files[NOTES]
    with pytest.raises(FilesChanged, match=r"notes\.txt, which the session holds open, is missing") as refused:
        await world.plane.resume(EXP, "ada", accepted=Acceptance.CHANGED_FILES)
    assert "accept" not in refused.value.hint
    (found,) = await world.plane.snapshots(EXP)
    assert ([d.aspect for d in found.differences], found.compatible) == ([Aspect.LOST_FILES], False)
    await edit(world, b"other")
    assert await resumed(world, accepted=Acceptance.CHANGED_FILES) == "7"


async def test_a_fork_is_told_what_belongs_to_a_fork_and_nothing_that_would_touch_the_original(world: World) -> None:
    await opened(world)
    snapshot = await paused(world)
    await edit(world)
    fork = WorkspaceKey("default", "fork")
    with pytest.raises(InvalidInput):
        await world.plane.fork(EXP, WorkspaceKey("default", "a/b"), "ada", "ada")
    with pytest.raises(FilesChanged) as refused:
        await world.plane.fork(EXP, fork, "ada", "ada")
    hint = refused.value.hint
    assert f"`intermezzo fork default/exp default/fork --snapshot {snapshot} --accept-changed-files`" in hint
    assert "`intermezzo snapshots list default/exp`" in hint
    assert "intermezzo resume" not in hint
    assert "intermezzo restart" not in hint


async def test_only_an_older_snapshot_that_could_be_had_back_is_offered(world: World) -> None:
    await opened(world)
    older = await paused(world)
    assert await resumed(world) == "7"
    newer = await paused(world)
    uid = (await world.get("exp")).uid
    world.cluster.world.cut(uid, newer)
    world.cluster.world.nodes[:] = [
        replace(n, engine=replace(n.engine, version="9")) for n in world.cluster.world.nodes
    ]
    with pytest.raises(Conflict, match="memory has 0 bytes") as refused:
        await world.plane.resume(EXP, "ada")
    assert older not in refused.value.hint
    assert refused.value.hint == "Start fresh from the files: `intermezzo restart default/exp --fresh`."
