"""What people ask for and what they get, over the shipped memory adapters; e2e shows the same on the real engine."""

import asyncio
import shlex
from dataclasses import replace

import pytest

from control.world import World, one_accelerator
from intermezzo.adapters.memory import simulated_node
from intermezzo.control.shutdown import shut_down
from intermezzo.domain import reasons
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.errors import AlreadyExists, Conflict, InvalidInput
from intermezzo.domain.home_record import HomeRecord
from intermezzo.domain.ledger import Event
from intermezzo.domain.orders import Problem
from intermezzo.domain.workspace import OperationKind, Phase, WorkspaceKey, WorkspaceSpec

EXP = WorkspaceKey("default", "exp")
OTHER = WorkspaceKey("default", "other")


@pytest.fixture
def world() -> World:
    return World(one_accelerator())


async def running(world: World, name: str = "exp") -> None:
    await world.create(name)
    await world.settle()
    assert (await world.get(name)).phase is Phase.RUNNING


async def test_a_pause_gives_everything_back_and_a_resume_brings_the_same_session(world: World) -> None:
    await running(world)
    await world.run("exp", "x = 41")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    paused = await world.get("exp")
    assert paused.phase is Phase.PAUSED
    assert paused.reservation is None
    assert (await world.seen("exp")).sandbox is None
    await world.plane.resume(EXP, "ada")
    await world.settle()
    resumed = await world.get("exp")
    assert resumed.continuity is not None and resumed.continuity.verdict is Verdict.RESTORED
    assert (await world.run("exp", "print(x + 1)")).strip() == "42"


async def test_a_replaced_kernel_is_called_fresh_and_never_restored(world: World) -> None:
    await running(world)
    await world.run("exp", "x = 41")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    world.cluster.faults.forgetful = True
    await world.plane.resume(EXP, "ada")
    await world.settle()
    resumed = await world.get("exp")
    assert resumed.continuity is not None and resumed.continuity.verdict is Verdict.FRESH
    assert resumed.condition is not None and resumed.condition.reason == reasons.NOT_RESTORED


async def test_fr04_ten_parallel_pauses_are_one_operation_and_a_resume_meanwhile_is_refused(world: World) -> None:
    await running(world)
    operations = await asyncio.gather(*(world.plane.pause(EXP, "ada") for _ in range(10)))
    assert len({operation.id for operation in operations}) == 1
    await world.plane.reconciler.reconcile((await world.get("exp")).uid)
    with pytest.raises(Conflict, match="pausing"):
        await world.plane.resume(EXP, "ada")
    await world.settle()
    assert len(await world.plane.snapshots(EXP)) == 1
    await world.plane.resume(EXP, "ada")
    await world.settle()
    assert (await world.get("exp")).phase is Phase.RUNNING
    assert await world.broken_promises() == []


async def test_fr07_a_resume_that_fails_stays_paused_with_the_reason_and_works_once_mended(world: World) -> None:
    await running(world)
    await world.run("exp", "x = 41")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    world.cluster.faults.fail_next("resume", Problem("engine_failure", "The engine ended with status 128."))
    await world.plane.resume(EXP, "ada")
    await world.settle()
    failed = await world.get("exp")
    assert failed.phase is Phase.PAUSED
    assert failed.reservation is None
    assert failed.condition is not None and "128" in failed.condition.message
    await world.plane.resume(EXP, "ada")
    await world.settle()
    assert (await world.run("exp", "print(x)")).strip() == "41"


async def test_fr09_a_pause_lets_the_next_in_line_start_with_no_other_event(world: World) -> None:
    await running(world)
    await world.create("other")
    await world.settle()
    waiting = await world.get("other")
    assert waiting.phase is Phase.QUEUED
    assert waiting.condition is not None and "nvidia.com/gpu" in waiting.condition.message
    assert [(place.key, place.position) for place in await world.plane.queue()] == [(OTHER, 1)]
    await world.plane.pause(EXP, "ada")
    await world.settle()
    assert (await world.get("other")).phase is Phase.RUNNING
    assert (await world.get("exp")).reservation is None


async def test_fr28_a_delete_takes_over_from_a_resume_and_leaves_nothing(world: World) -> None:
    await running(world)
    await world.plane.pause(EXP, "ada")
    await world.settle()
    await world.plane.resume(EXP, "ada")
    uid = (await world.get("exp")).uid
    await world.plane.reconciler.reconcile(uid)
    assert (await world.get("exp")).phase is Phase.RESUMING
    await world.plane.delete(EXP, "ada", delete_files=True)
    with pytest.raises(Conflict):
        await world.plane.resume(EXP, "ada")
    await world.settle()
    assert await world.store.workspaces() == []
    assert await world.cluster.observe_all() == {}
    assert await world.store.reservations() == {}


async def test_fr44_a_snapshot_that_fits_no_node_waits_and_says_what_is_missing() -> None:
    able = replace(one_accelerator(), cpu_features=("avx2", "avx512f"))
    world = World(able)
    await running(world)
    await world.run("exp", "x = 41")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    world.cluster.world.nodes[:] = [replace(able, cpu_features=("avx2",))]
    await world.plane.resume(EXP, "ada")
    await world.settle()
    waiting = await world.get("exp")
    assert waiting.phase is Phase.QUEUED
    assert waiting.condition is not None and "avx512f" in waiting.condition.message
    world.cluster.world.nodes[:] = [able]
    await world.settle()
    assert (await world.run("exp", "print(x)")).strip() == "41"


async def test_a_failed_pause_leaves_the_session_running_and_says_why(world: World) -> None:
    await running(world)
    await world.run("exp", "x = 41")
    world.cluster.faults.fail_next("pause", Problem("not_enough_space", "600 MB needed, 100 MB free"), "frozen")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    workspace = await world.get("exp")
    assert workspace.phase is Phase.RUNNING and workspace.reservation is not None
    assert workspace.condition is not None and "100 MB free" in workspace.condition.message
    assert (await world.run("exp", "print(x)")).strip() == "41"
    assert await world.plane.snapshots(EXP) == []


async def test_a_session_that_ended_by_itself_needs_its_owner_and_offers_the_ways_out(world: World) -> None:
    await running(world)
    world.cluster.lose_sandbox((await world.get("exp")).uid)
    await world.settle()
    lost = await world.get("exp")
    assert lost.phase is Phase.FAILED and lost.reservation is None
    assert lost.condition is not None and lost.condition.ways_out == (reasons.FRESH_START,)
    await world.plane.restart_fresh(EXP, "ada")
    await world.settle()
    fresh = await world.get("exp")
    assert fresh.phase is Phase.RUNNING
    assert fresh.continuity is not None and fresh.continuity.verdict is Verdict.FRESH


async def test_without_an_engine_that_keeps_processes_a_pause_says_so_beforehand_and_keeps_files() -> None:
    world = World(one_accelerator(keeps_process=False))
    await running(world)
    live = (await world.plane.layers(await world.get("exp"), HomeRecord()))[2]
    assert not live.kept_by_pause and "NOT" in live.statement
    await world.plane.pause(EXP, "ada")
    await world.settle()
    assert (await world.get("exp")).phase is Phase.PAUSED
    operation = await world.plane.resume(EXP, "ada")
    assert operation.kind is OperationKind.START
    await world.settle()
    resumed = await world.get("exp")
    assert resumed.continuity is not None and resumed.continuity.verdict is Verdict.FRESH


async def test_the_files_only_kind_makes_no_snapshot(world: World) -> None:
    await world.create("exp", "", "script")
    await world.settle()
    await world.plane.pause(EXP, "ada")
    await world.settle()
    assert (await world.get("exp")).phase is Phase.PAUSED
    assert await world.plane.snapshots(EXP) == []


async def test_a_queued_workspace_can_be_taken_out_of_the_queue(world: World) -> None:
    await running(world)
    await world.create("other")
    await world.settle()
    await world.plane.pause(OTHER, "ada")
    await world.settle()
    other = await world.get("other")
    assert other.phase is Phase.PAUSED
    live = (await world.plane.layers(other, HomeRecord()))[2]
    assert (live.statement, live.way_back) == (
        "There is no snapshot: only its files are kept.",
        "A fresh start from the files, or an older snapshot if there is one.",
    )


async def test_what_cannot_be_done_meanwhile_is_refused_with_the_command_that_waits(world: World) -> None:
    key = (created := await world.create("tom's exp")).key
    await world.plane.reconciler.reconcile(created.uid)
    assert (await world.get(key.name)).phase is Phase.STARTING
    with pytest.raises(Conflict) as refused:
        await world.plane.pause(key, "ada")
    command = refused.value.hint.split("`")[1]
    assert shlex.split(command) == ["intermezzo", "wait", str(key), "--for", "settled"]
    assert await world.plane.queue() == []


async def test_the_control_plane_may_be_killed_after_every_single_step(world: World) -> None:
    await world.create("exp")
    for ask in (None, world.plane.pause, world.plane.resume):
        if ask is not None:
            await ask(EXP, "ada")
        for _ in range(40):
            world.kill_control_plane()
            workspace = await world.get("exp")
            await world.plane.reconciler.reconcile(workspace.uid)
            world.cluster.step()
        assert (await world.get("exp")).operation is None
        if ask is None:
            await world.run("exp", "x = 41")
    assert (await world.run("exp", "print(x)")).strip() == "41"


async def test_shutting_down_pauses_what_runs_or_says_that_it_is_lost(world: World) -> None:
    await running(world)
    stopping = asyncio.create_task(shut_down(world.plane, "pause"))
    while not stopping.done():
        await asyncio.sleep(0)
        await world.settle()
    assert (await world.get("exp")).phase is Phase.PAUSED
    await world.plane.resume(EXP, "ada")
    await world.settle()
    await shut_down(world.plane, "lose")
    lost = await world.get("exp")
    assert lost.phase is Phase.FAILED and lost.condition is not None
    assert lost.condition.reason == reasons.SHUT_DOWN


async def test_the_ledger_has_every_timestamp_in_order(world: World) -> None:
    await running(world)
    await world.run("exp", "x = 41")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    await world.plane.resume(EXP, "bob")
    await world.settle()
    facts = await world.plane.ledger(EXP)
    events = [fact.event for fact in facts]
    wanted = [
        Event.PAUSE_ASKED,
        Event.FROZEN,
        Event.SNAPSHOT_DONE,
        Event.PROCESS_GONE,
        Event.CAPACITY_FREED,
        Event.PAUSED,
        Event.RESUME_ASKED,
        Event.CAPACITY_ACQUIRED,
        Event.NEXT_CELL_RAN,
        Event.PROVEN,
        Event.RESTORED,
        Event.RESUMED,
    ]
    positions = [events.index(event, events.index(Event.PAUSE_ASKED)) for event in wanted if event in events]
    assert {event for event in wanted if event not in events} == set()
    assert positions[:6] == sorted(positions[:6])
    assert {fact.actor for fact in facts if fact.event is Event.RESUME_ASKED} == {"bob"}


async def test_bad_input_names_the_field_and_makes_nothing(world: World) -> None:
    for spec, field in [
        (WorkspaceSpec("nonsense", "", ""), "spec.kind"),
        (WorkspaceSpec("jupyterlab", "", "huge"), "spec.podTemplate.options.podConfig"),
        (WorkspaceSpec("jupyterlab", "", "", home="../../etc"), "spec.podTemplate.volumes.home"),
        (WorkspaceSpec("jupyterlab", "", "", home="/etc"), "spec.podTemplate.volumes.home"),
    ]:
        with pytest.raises(InvalidInput) as wrong:
            await world.plane.create("default", "exp", "ada", spec, "ada")
        assert field in wrong.value.fields
    assert await world.store.workspaces() == []


async def test_a_name_in_use_is_refused_whatever_its_case(world: World) -> None:
    await world.create("exp")
    with pytest.raises(AlreadyExists):
        await world.create("EXP")


async def test_capacity_shows_who_holds_what(world: World) -> None:
    await running(world)
    (use,) = await world.plane.capacity()
    assert set(use.holders) == {"default/exp"}
    assert use.held.accelerators["nvidia.com/gpu"] == 1


def test_a_node_may_be_simulated_without_accelerators() -> None:
    assert simulated_node().capacity.accelerators == {}


async def test_an_order_that_the_cluster_never_takes_is_not_sent_for_ever(world: World) -> None:
    world.cluster.faults.refuses = frozenset({"start", "pause", "resume"})
    await world.create("other")
    await world.settle()
    refused = await world.get("other")
    assert refused.phase is Phase.FAILED and refused.reservation is None
    assert refused.condition is not None and "never be carried out" in refused.condition.message
    world.cluster.faults.clear()
    await running(world)
    world.cluster.faults.refuses = frozenset({"pause"})
    await world.plane.pause(EXP, "ada")
    await world.settle()
    kept = await world.get("exp")
    assert kept.phase is Phase.RUNNING and kept.reservation is not None
    assert kept.condition is not None and kept.condition.reason == reasons.PAUSE_FAILED
