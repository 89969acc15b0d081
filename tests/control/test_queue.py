"""The queue at work: who is served, what those who wait are told, and what quotas do to it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from control.crowd import Crowd
from control.world import GPU, World, one_accelerator
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.control.plane import ControlPlane
from intermezzo.control.queue.dispatch import LINE
from intermezzo.domain import reasons
from intermezzo.domain.errors import Refused
from intermezzo.domain.policy import Allowance, Match, Per, Place, Policy, Rules
from intermezzo.domain.workspace import OperationKind, Phase, WorkspaceKey
from intermezzo.ports.store import Store

FOUR = Policy(name="gpus", quotas={Per.USER: Allowance(accelerators={GPU: 4})})
HOUR_MS = 3_600_000
HERE = Place("jupyterlab", "gpu", "default")


def one(**allowed: int) -> Policy:
    return Policy(name="gpus", quotas={Per.USER: Allowance(accelerators={GPU: 1}, **allowed)})


async def test_fr08_twenty_starts_and_resumes_at_once_keep_a_quota_of_four(store: Store) -> None:
    crowd = Crowd(store, accelerators=20, policies=(FOUR,))
    paused = [("default", f"paused-{n}") for n in range(10)]
    async with crowd.control_plane() as plane:
        await crowd.create_paused(plane, paused)
        crowd.most = 0
        await asyncio.gather(
            *(plane.resume(WorkspaceKey(*name), "ada") for name in paused),
            *(crowd.create(plane, "default", f"new-{n}") for n in range(10)),
        )
        await crowd.until(plane, lambda: four_run_and_sixteen_wait(crowd))
        places = await plane.queue()
        shown = [w.condition for w in await plane.workspaces() if w.phase is Phase.QUEUED]
    assert crowd.most == 4
    assert [place.position for place in places] == list(range(1, 17))
    told = f"needs 1 {GPU}, user ada has 4 of 4 allowed (policy gpus)"
    assert {place.reason for place in places} == {told}
    assert {condition.reason for condition in shown if condition} == {reasons.OVER_QUOTA}


async def four_run_and_sixteen_wait(crowd: Crowd) -> bool:
    phases = list((await crowd.phases()).values())
    return phases.count(Phase.RUNNING) == 4 and phases.count(Phase.QUEUED) == 16


async def test_fr08_two_control_planes_at_once_keep_one_quota(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/intermezzo.db"
    stores = [await SqlStore.open(url) for _ in range(2)]
    crowds = [Crowd(opened, accelerators=20, policies=(FOUR,)) for opened in stores]
    crowds[1].cluster, crowds[1].session = crowds[0].cluster, crowds[0].session
    async with crowds[0].control_plane() as first, crowds[1].control_plane() as second:
        await asyncio.gather(*(crowds[n % 2].create((first, second)[n % 2], "default", f"new-{n}") for n in range(20)))
        await crowds[0].until(first, lambda: four_run_and_sixteen_wait(crowds[0]))
    assert max(crowd.most for crowd in crowds) == 4
    assert crowds[0].cluster.violations == []
    for opened in stores:
        await opened.close()


async def test_fr09_the_next_starts_when_one_is_paused_with_no_other_event(store: Store) -> None:
    crowd = Crowd(store, accelerators=1)
    async with crowd.control_plane() as plane:
        await crowd.create(plane, "default", "a")
        await crowd.until(plane, lambda: is_running(crowd, "a"))
        await crowd.create(plane, "default", "b")
        await crowd.until(plane, lambda: is_shown_a_place(plane, "b"))
        await plane.pause(WorkspaceKey("default", "a"), "ada")
        await crowd.until(plane, lambda: is_running(crowd, "b"))
        assert (await store.get(WorkspaceKey("default", "a"))).reservation is None


async def test_fr09_what_a_quota_held_back_starts_when_the_quota_lets_it(store: Store) -> None:
    crowd = Crowd(store, accelerators=4, policies=(one(),))
    async with crowd.control_plane() as plane:
        await crowd.create(plane, "default", "a")
        await crowd.until(plane, lambda: is_running(crowd, "a"))
        await crowd.create(plane, "default", "b")
        await crowd.create(plane, "default", "others", owner="grace")
        await crowd.until(plane, lambda: is_running(crowd, "others"))
        assert (await crowd.phases())["b"] is Phase.QUEUED
        await plane.pause(WorkspaceKey("default", "a"), "ada")
        await crowd.until(plane, lambda: is_running(crowd, "b"))


async def is_running(crowd: Crowd, name: str) -> bool:
    return (await crowd.phases())[name] is Phase.RUNNING


async def is_shown_a_place(plane: ControlPlane, name: str) -> bool:
    condition = (await plane.get(WorkspaceKey("default", name))).condition
    return condition is not None and "Position 1 in the queue." in condition.message


async def test_a_step_forward_writes_nothing_about_those_behind() -> None:
    world = World()
    for number in range(5):
        await world.create(f"w{number}")
        world.clock.advance(1)
    await world.settle()
    waiting = {name: (await world.get(name)) for name in ("w2", "w3", "w4")}
    assert [w.condition and w.condition.message[-24:] for w in waiting.values()] == [
        f"Position {n} in the queue." for n in (2, 3, 4)
    ]
    await world.plane.pause(WorkspaceKey("default", "w0"), "ada")
    await world.settle()
    assert (await world.get("w1")).phase is Phase.RUNNING
    for name, before in waiting.items():
        after = await world.get(name)
        assert after.revision == before.revision, "its record was not written"
        assert after.condition != before.condition, "and yet its new place is shown"


async def test_only_the_one_whose_turn_it_is_is_woken() -> None:
    world = World()
    for number in range(6):
        await world.create(f"w{number}")
        world.clock.advance(1)
    await world.settle()
    await world.plane.pause(WorkspaceKey("default", "w0"), "ada")
    woken: list[str] = []
    world.plane.context.wake = woken.append
    await world.settle()
    names = {w.uid: w.key.name for w in await world.store.workspaces()}
    assert {names.get(uid, uid) for uid in woken} == {"w1", LINE}


async def test_one_under_a_quota_that_it_alone_exceeds_is_refused_and_does_not_wait_for_ever() -> None:
    world = World(one_accelerator(accelerators=4))
    world.plane.context.policies = (Policy(name="none", quotas={Per.USER: Allowance(accelerators={GPU: 0})}),)
    with pytest.raises(Refused, match=r"this needs 1 nvidia.com/gpu; user ada may have 0 nvidia.com/gpu at a time"):
        await world.create("exp")
    assert await world.store.workspaces() == []


async def test_a_resume_under_a_quota_that_was_lowered_is_refused_and_loses_nothing() -> None:
    world = World()
    await world.create("exp")
    await world.settle()
    await world.plane.pause(WorkspaceKey("default", "exp"), "ada")
    await world.settle()
    world.plane.context.policies = (Policy(name="none", quotas={Per.USER: Allowance(accelerators={GPU: 0})}),)
    before = await world.get("exp")
    with pytest.raises(Refused, match="at a time"):
        await world.plane.resume(before.key, "ada")
    assert await world.get("exp") == before


async def test_one_workspace_too_many_is_refused_with_the_numbers() -> None:
    world = World()
    world.plane.context.policies = (one(workspaces=2),)
    await world.create("a")
    await world.create("b")
    with pytest.raises(Refused, match="user ada has 2 of 2 workspaces allowed"):
        await world.create("c")
    await world.create("theirs", owner="grace")


async def test_one_who_waits_takes_its_turn_in_a_policy_that_was_changed_meanwhile() -> None:
    world = World()
    for name in ("holds", "first", "urgent"):
        await world.create(name)
        world.clock.advance(1)
    await world.settle()
    assert [place.key.name for place in await world.plane.queue()] == ["first", "urgent"]
    await world.create("shift", namespace="night")
    world.plane.context.policies = (
        Policy(name="night", match=Match(namespaces=frozenset({"night"})), rules=Rules(priority=9)),
    )
    assert [place.key.name for place in await world.plane.queue()] == ["shift", "first", "urgent"]


async def lived(world: World, name: str, milliseconds: int) -> None:
    """A session that held its accelerator for that long."""
    await world.plane.resume(WorkspaceKey("default", name), "ada")
    await world.settle()
    began = (await world.get(name)).reservation
    assert began is not None
    world.clock.set(began.since + milliseconds)
    await world.plane.pause(WorkspaceKey("default", name), "ada")
    await world.settle()


async def test_how_long_it_will_probably_take_is_unknown_and_then_estimated_from_the_ledger() -> None:
    world = World()
    await world.create("exp")
    await world.settle()
    await world.create("waits")
    await world.settle()
    (place,) = await world.plane.queue()
    assert place.expected_at is None
    await world.plane.pause(WorkspaceKey("default", "waits"), "ada")
    await world.plane.pause(WorkspaceKey("default", "exp"), "ada")
    await world.settle()
    for _ in range(6):
        await lived(world, "exp", HOUR_MS)
    await world.plane.resume(WorkspaceKey("default", "exp"), "ada")
    await world.settle()
    held = (await world.get("exp")).reservation
    await world.plane.resume(WorkspaceKey("default", "waits"), "ada")
    await world.settle()
    (place,) = await world.plane.queue()
    assert held is not None and place.expected_at is not None
    assert abs(place.expected_at - (held.since + HOUR_MS)) < 60_000
    world.kill_control_plane()
    (again,) = await world.plane.queue()
    assert again.expected_at == place.expected_at, "the ledger tells the same after a restart"


async def test_who_waits_while_the_nodes_are_silent_says_so_and_gets_its_place_back() -> None:
    world = World()
    await world.create("holds")
    await world.settle()
    await world.create("waits")
    await world.settle()
    world.cluster.faults.unreachable = True
    await world.plane.reconciler.reconcile(LINE)
    await world.plane.reconciler.reconcile((await world.get("waits")).uid)
    condition = (await world.get("waits")).condition
    assert condition is not None and condition.reason == reasons.NODE_SILENT
    world.cluster.faults.clear()
    await world.settle()
    condition = (await world.get("waits")).condition
    assert condition is not None and condition.reason == reasons.WAITING


async def test_what_asking_would_mean_includes_the_quota() -> None:
    world = World(one_accelerator(accelerators=4))
    world.plane.context.policies = (one(),)
    exp = await world.create("exp")
    await world.settle()
    found = await world.plane.forecast(exp.demand, OperationKind.START, "ada", HERE)
    assert (found.node, "user ada has 1 of 1 allowed" in found.reason) == ("", True)
    assert (await world.plane.forecast(exp.demand, OperationKind.START, "grace", HERE)).node == "node-1"


async def test_an_unowned_namespace_waits_like_any_team() -> None:
    world = World()
    await world.create("holds")
    await world.settle()
    for namespace in ("a", "b"):
        for number in range(2):
            await world.create(f"{namespace}{number}", namespace=namespace)
            world.clock.advance(1)
    assert [place.key.name for place in await world.plane.queue()] == ["a0", "b0", "a1", "b1"]


def test_the_hint_of_a_quota_says_what_to_do() -> None:
    assert replace(reasons.over_quota(1, "x"), at=0).hint.startswith("Pause another one of yours")
