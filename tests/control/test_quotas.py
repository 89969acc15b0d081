"""Quotas of bytes, which grow by themselves: what they forbid, what goes first, and that no work is lost."""

from typing import Any

import pytest

from control.world import GPU, World, one_accelerator
from intermezzo.control.shutdown import shut_down
from intermezzo.domain.errors import Conflict, Refused
from intermezzo.domain.ledger import Event
from intermezzo.domain.policy import Allowance, Per, Place, Policy
from intermezzo.domain.workspace import Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp")
OTHER = WorkspaceKey("default", "other")


def allow(world: World, **allowed: Any) -> None:
    world.plane.context.policies = (Policy(name="bytes", quotas={Per.USER: Allowance(**allowed)}),)


async def running(world: World, *names: str) -> None:
    for name in names:
        await world.create(name)
    await world.settle()


async def paused_once(world: World, key: WorkspaceKey) -> None:
    await world.plane.pause(key, "ada")
    await world.settle()


async def resumed(world: World, key: WorkspaceKey) -> None:
    await world.plane.resume(key, "ada")
    await world.settle()


async def bytes_there(world: World) -> int:
    return sum(
        manifest.bytes for w in await world.store.workspaces() for manifest in world.cluster.world.manifests(w.uid)
    )


async def snapshots_of(world: World, key: WorkspaceKey) -> list[str]:
    return [found.manifest.id for found in await world.plane.snapshots(key)]


async def test_spare_snapshots_go_first_the_oldest_of_them_and_the_ledger_tells() -> None:
    world = World()
    await running(world, "exp")
    for _ in range(2):
        await paused_once(world, EXP)
        await resumed(world, EXP)
    newest, oldest = await snapshots_of(world, EXP)
    allow(world, snapshot_bytes=await bytes_there(world) - 1)
    await world.plane.retention.look()
    await world.settle()
    assert await snapshots_of(world, EXP) == [newest]
    (entry,) = [e for e in await world.store.ledger() if e.event is Event.SNAPSHOT_EXPIRED]
    assert (entry.details["reason"], entry.details["snapshot_id"]) == ("over-quota", oldest)


async def test_what_would_be_missed_stays_however_little_is_allowed() -> None:
    world = World(one_accelerator(accelerators=2))
    await running(world, "exp", "other")
    for key in (EXP, OTHER):
        await paused_once(world, key)
    await resumed(world, EXP)
    await paused_once(world, EXP)
    newest, older = await snapshots_of(world, EXP)
    await world.plane.pin_snapshot(EXP, older)
    allow(world, snapshot_bytes=0)
    await world.plane.retention.look()
    await world.settle()
    assert await snapshots_of(world, EXP) == [newest, older]
    assert len(await snapshots_of(world, OTHER)) == 1


async def test_what_goes_for_one_quota_counts_for_all_that_it_is_under() -> None:
    world = World()
    await running(world, "exp")
    for _ in range(3):
        await paused_once(world, EXP)
        await resumed(world, EXP)
    found = await world.plane.snapshots(EXP)
    allowed = Allowance(snapshot_bytes=await bytes_there(world) - 1)
    world.plane.context.policies = (Policy(name="bytes", quotas={Per.USER: allowed, Per.NAMESPACE: allowed}),)
    await world.plane.retention.look()
    await world.settle()
    assert await snapshots_of(world, EXP) == [each.manifest.id for each in found[:-1]]


async def test_what_is_within_the_quota_is_left_alone() -> None:
    world = World()
    await running(world, "exp")
    for _ in range(2):
        await paused_once(world, EXP)
        await resumed(world, EXP)
    allow(world, snapshot_bytes=await bytes_there(world))
    await world.plane.retention.look()
    assert len(await snapshots_of(world, EXP)) == 2


async def test_a_pause_that_would_exceed_it_is_refused_before_anything_is_stopped_and_says_what_to_delete() -> None:
    world = World(one_accelerator(accelerators=2))
    await running(world, "exp", "other")
    await world.run("exp", "x = 41")
    await paused_once(world, OTHER)
    (theirs,) = await snapshots_of(world, OTHER)
    allow(world, snapshot_bytes=await bytes_there(world))
    before = await world.get("exp")
    with pytest.raises(
        Conflict, match=r"user ada has .* of snapshots allowed \(policy bytes\); the session runs on"
    ) as no:
        await world.plane.pause(EXP, "ada")
    assert f"intermezzo snapshots delete default/other {theirs}" in no.value.hint
    assert await world.get("exp") == before
    assert (await world.run("exp", "print(x)")).strip() == "41"


async def test_a_pause_whose_own_older_snapshots_make_room_is_made_and_they_go_afterwards() -> None:
    world = World()
    await running(world, "exp")
    await paused_once(world, EXP)
    await resumed(world, EXP)
    allow(world, snapshot_bytes=await bytes_there(world) + 10)
    await paused_once(world, EXP)
    assert (await world.get("exp")).phase is Phase.PAUSED
    await world.plane.retention.look()
    await world.settle()
    assert len(await snapshots_of(world, EXP)) == 1
    await resumed(world, EXP)
    assert (await world.get("exp")).phase is Phase.RUNNING


async def test_a_shutdown_saves_sessions_whatever_a_quota_says() -> None:
    world = World()
    await running(world, "exp")
    allow(world, snapshot_bytes=0)
    with pytest.raises(Conflict):
        await world.plane.pause(EXP, "ada")
    await world.plane.save_before_end(EXP, "shutdown")
    await world.settle()
    assert (await world.get("exp")).phase is Phase.PAUSED
    assert await shut_down(world.plane, "pause") == []


async def test_while_over_it_nothing_is_created_and_nothing_resumed_and_both_say_why() -> None:
    world = World()
    await running(world, "exp")
    await paused_once(world, EXP)
    allow(world, snapshot_bytes=await bytes_there(world) - 1)
    for asked in (world.create("more"), world.plane.resume(EXP, "ada"), world.plane.restart_fresh(EXP, "ada")):
        with pytest.raises(Refused, match=r"of snapshots allowed \(policy bytes\)") as refused:
            await asked
        assert "Delete snapshots" in refused.value.hint
    assert (await world.get("exp")).phase is Phase.PAUSED


async def test_homes_count_as_they_were_measured_last() -> None:
    world = World()
    exp = await world.create("exp")
    await world.settle()
    allow(world, home_bytes=10)
    world.cluster.world.volumes[exp.volume_id]["data.bin"] = b"x" * 11
    await world.create("before-it-was-measured")
    await world.plane.homes.measure()
    with pytest.raises(Refused, match=r"of home allowed \(policy bytes\)"):
        await world.create("after")
    del world.cluster.world.volumes[exp.volume_id]["data.bin"]
    await world.plane.homes.measure()
    await world.create("after")


async def test_a_silent_node_keeps_nobody_from_asking() -> None:
    world = World()
    await running(world, "exp")
    await paused_once(world, EXP)
    allow(world, snapshot_bytes=0)
    world.cluster.faults.unreachable = True
    await world.create("more")


async def test_what_is_used_is_seen_before_anything_is_asked_for() -> None:
    world = World(one_accelerator(accelerators=2))
    allow(world, workspaces=5, cpu_millis=8000, snapshot_bytes=10**9)
    place = Place("jupyterlab", "gpu", "default")
    (nothing,) = await world.plane.quotas_on("ada", place)
    assert nothing.used == {"workspaces": 0, "cpu": 0, "snapshots": 0}
    await running(world, "exp", "other")
    await paused_once(world, OTHER)
    exp = await world.get("exp")
    (used,) = await world.plane.quotas_of(["ada"], [])
    assert used.used == {"workspaces": 2, "cpu": exp.demand.cpu_millis, "snapshots": await bytes_there(world)}
    (same,) = await world.plane.all_quotas()
    assert same == used
    (grace,) = await world.plane.quotas_of(["grace"], [])
    assert grace.used == {"workspaces": 0, "cpu": 0, "snapshots": 0}


async def test_accelerators_are_seen_under_the_name_that_the_policy_uses() -> None:
    world = World(one_accelerator(accelerators=2))
    await running(world, "exp")
    world.plane.context.policies = (Policy(name="g", quotas={Per.NAMESPACE: Allowance(accelerators={GPU: 2})}),)
    (found,) = await world.plane.quotas_of([], ["default"])
    assert (found.quota.scope.who, found.used) == ("namespace default", {GPU: 1})
