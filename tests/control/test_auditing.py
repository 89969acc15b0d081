"""The disks beside the records: what agrees, what is left over, and that nothing else can be cleared away."""

from dataclasses import replace

import pytest

from control.world import World, one_accelerator
from intermezzo.domain.errors import Conflict, InvalidInput, Unreachable
from intermezzo.domain.storage import StorageItem, Verdict
from intermezzo.domain.workspace import WorkspaceKey

EXP = WorkspaceKey("default", "exp")


@pytest.fixture
async def world() -> World:
    world = World(one_accelerator())
    await world.create("exp")
    await world.settle()
    await world.plane.pause(EXP, "ada")
    await world.settle()
    return world


async def uid(world: World) -> str:
    return (await world.get("exp")).uid


async def orphans(world: World) -> list[StorageItem]:
    return list((await world.plane.audit_storage()).found.orphans)


async def test_after_a_pause_every_byte_is_listed(world: World) -> None:
    found = (await world.plane.audit_storage()).found
    assert found.agrees
    (line,) = found.lines()
    assert (line.workspace_uid, line.snapshots) == (await uid(world), 1)
    assert line.listed_bytes == line.disk_bytes > 0


async def test_what_a_deletion_has_not_taken_yet_is_seen_and_is_no_orphan(world: World) -> None:
    await world.plane.resume(EXP, "ada")
    await world.settle()
    await world.plane.pause(EXP, "ada")
    await world.settle()
    older = (await world.plane.snapshots(EXP))[1].manifest
    world.cluster.faults.keeps_bytes = True
    await world.plane.delete_snapshot(EXP, older.id, "ada")
    await world.settle()
    found = (await world.plane.audit_storage()).found
    assert [(item.id, item.bytes) for item in found.of(Verdict.LEAVING)] == [(older.id, older.bytes)]
    assert found.agrees and found.lines()[0].disk_bytes - found.lines()[0].listed_bytes == older.bytes
    world.cluster.faults.keeps_bytes = False
    await world.settle()
    found = (await world.plane.audit_storage()).found
    assert found.agrees and found.lines()[0].disk_bytes == found.lines()[0].listed_bytes


async def test_leftovers_are_counted_and_cleared_and_nothing_else_goes(world: World) -> None:
    there = world.cluster.world
    there.saved["gone"] = list(there.saved[await uid(world)])
    there.partials = {await uid(world): {"begun": 7}}
    there.withdrawn = {"gone": {"cut-short": 5}}
    there.volumes["nobodys"] = {"data": b"12"}
    audited = (await world.plane.audit_storage()).found
    assert not audited.agrees
    found = {item.id: item for item in audited.orphans if item.workspace_uid != "gone" or item.id == "cut-short"}
    assert {id_: item.bytes for id_, item in found.items()} == {"begun": 7, "cut-short": 5}
    assert [item.id for item in audited.of(Verdict.OWNERLESS)] == ["nobodys"]
    for item in audited.orphans:
        assert await world.plane.clear_storage(item.key, "root") == item
        assert await world.plane.clear_storage(item.key, "root") is None
    after = (await world.plane.audit_storage()).found
    assert after.agrees and after.of(Verdict.OWNERLESS)
    await world.plane.resume(EXP, "ada")
    await world.settle()
    assert (await world.seen("exp")).sandbox is not None


async def test_nothing_that_a_record_refers_to_is_cleared_whoever_asks(world: World) -> None:
    for finding in (await world.plane.audit_storage()).found.findings:
        with pytest.raises(Conflict, match="no orphan"):
            await world.plane.clear_storage(finding.item.key, "root")
    world.cluster.world.volumes["nobodys"] = {"data": b"12"}
    (ownerless,) = (await world.plane.audit_storage()).found.of(Verdict.OWNERLESS)
    with pytest.raises(Conflict):
        await world.plane.clear_storage(ownerless.key, "root")
    with pytest.raises(InvalidInput):
        await world.cluster.clear(replace(ownerless, workspace_uid="x"))
    assert (await world.seen("exp")).snapshots


async def test_a_workspace_that_came_to_be_meanwhile_is_no_orphan(world: World) -> None:
    assert await orphans(world) == []
    await world.create("more", pod="small")
    await world.settle()
    await world.plane.pause(WorkspaceKey("default", "more"), "ada")
    await world.settle()
    assert await orphans(world) == []


async def test_a_silent_node_is_not_an_empty_disk(world: World) -> None:
    world.cluster.faults.unreachable = True
    with pytest.raises(Unreachable):
        await world.plane.audit_storage()
