"""Who is paused for being idle, when, and who never is. Time is simulated; the rule is half an hour, checked every
thirty seconds."""

import asyncio
from dataclasses import replace

import pytest

from control.idling import CHECK, EXP, LIMIT, MINUTE, IdleWorld, thirty_minutes
from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.activity_rules import (
    NEVER_PAUSED,
    ActivityProbe,
    ActivityRule,
    Operator,
    Protection,
    Protects,
    Requirement,
    ScriptProbe,
    Selector,
)
from intermezzo.domain.idle import Presence, Why
from intermezzo.domain.ledger import Event
from intermezzo.domain.orders import Problem
from intermezzo.domain.policy import Rules
from intermezzo.domain.readings import AcceleratorUse
from intermezzo.domain.workspace import OperationKind, Phase, WorkspaceKey

DAY = 24 * 60 * MINUTE


@pytest.fixture
def world() -> IdleWorld:
    return IdleWorld()


async def test_fr01_the_limit_begins_anew_with_a_resume(world: IdleWorld) -> None:
    await world.start()
    await world.plane.pause(EXP, "ada")
    await world.settle()
    world.clock.advance(60 * MINUTE)
    await world.plane.resume(EXP, "ada")
    await world.settle()
    resumed = (await world.get("exp")).phase_since
    await world.pass_until(resumed + 29 * MINUTE)
    assert await world.phase() is Phase.RUNNING
    assert resumed + LIMIT <= await world.paused_at() <= resumed + LIMIT + CHECK


@pytest.mark.parametrize("where", ["kernel", "terminal"])
async def test_fr02_two_hours_of_work_without_a_browser_are_protected(world: IdleWorld, where: str) -> None:
    await world.start()
    await world.run("exp", "x = 1")
    begun = world.clock.now()
    memory = await world.memory()
    kernel = next(iter(memory.kernels.values()))
    if where == "kernel":
        kernel.begin(begun)
    else:
        memory.doings.run_in_terminal(7, "sleep", begun)
    await world.pass_until(begun + 120 * MINUTE)
    assert await world.phase() is Phase.RUNNING
    kernel.end(begun + 120 * MINUTE) if where == "kernel" else memory.doings.end_in_terminal(7)
    assert begun + 150 * MINUTE <= await world.paused_at() <= begun + 150 * MINUTE + CHECK


@pytest.mark.parametrize("kind", ["jupyterlab", "vscode"])
async def test_fr03_a_tab_left_open_in_the_background_keeps_nothing_awake(world: IdleWorld, kind: str) -> None:
    up = await world.start(kind=kind)
    uid = (await world.get("exp")).uid
    touched = world.clock.now()
    await world.plane.note_activity({uid: [Activity(Source.CHANNEL, touched)]})
    doings = (await world.memory()).doings
    while await world.phase() is Phase.RUNNING:
        world.clock.advance(CHECK)
        doings.server_seen = doings.editor_seen = world.clock.now()
        await world.check()
        assert await world.store.activity(uid) == [Activity(Source.CHANNEL, touched)]
    asked = (await world.get("exp")).operation
    assert asked is not None
    assert up < touched
    assert touched + LIMIT <= asked.asked_at <= touched + LIMIT + CHECK


async def test_fr48_where_the_rule_is_off_nothing_is_ever_paused(world: IdleWorld) -> None:
    exempt = ActivityRule(pauses=False, idle_s=60)
    for activity in (NEVER_PAUSED, thirty_minutes(rules=(exempt,))):
        off = IdleWorld(activity)
        await off.start()
        off.clock.advance(10 * DAY)
        await off.check()
        look = off.plane.look((await off.get("exp")).uid)
        assert look is not None and look.decision.pauses_at is None
        assert await off.phase() is Phase.RUNNING
    await world.start()
    world.plane.context.idle = replace(world.plane.context.idle, pauses=False)
    world.clock.advance(10 * DAY)
    await world.check()
    assert await world.phase() is Phase.RUNNING
    look = world.plane.look((await world.get("exp")).uid)
    assert look is not None and look.decision.reasons[0].why is Why.SWITCHED_OFF


async def test_fr05_after_a_crash_the_rule_acts_on_every_one_again(world: IdleWorld) -> None:
    names = ("one", "two", "three")
    for name in names:
        await world.start(name)
    started = world.clock.now()
    await world.pass_until(started + 20 * MINUTE)
    world.kill_control_plane()
    world.clock.advance(5 * MINUTE)
    await world.check()
    assert {await world.phase(name) for name in names} == {Phase.RUNNING}
    await world.pass_until(started + LIMIT + 2 * CHECK)
    await world.settle()
    assert {await world.phase(name) for name in names} == {Phase.PAUSED}
    assert await world.broken_promises() == []


async def test_work_that_ended_while_nobody_looked_is_not_held_against_its_owner(world: IdleWorld) -> None:
    await world.start()
    doings = (await world.memory()).doings
    doings.run_in_terminal(7, "train.py", world.clock.now())
    await world.check()
    world.kill_control_plane()
    world.clock.advance(5 * 60 * MINUTE)
    doings.end_in_terminal(7)
    world.clock.advance(MINUTE)
    back = world.clock.now()
    assert await world.paused_at() >= back + LIMIT


async def test_work_that_ended_while_nothing_was_known_is_not_held_against_its_owner(world: IdleWorld) -> None:
    await world.start()
    live = world.cluster.world.sandbox_of((await world.get("exp")).uid)
    assert live is not None
    live.memory.doings.run_in_terminal(7, "train.py", world.clock.now())
    await world.check()
    live.answers = False
    await world.pass_until(world.clock.now() + 2 * LIMIT)
    live.memory.doings.end_in_terminal(7)
    live.answers = True
    back = world.clock.now()
    assert back + LIMIT <= await world.paused_at() <= back + LIMIT + 2 * CHECK


async def test_what_is_not_known_never_pauses(world: IdleWorld) -> None:
    await world.start()
    uid = (await world.get("exp")).uid
    live = world.cluster.world.sandbox_of(uid)
    assert live is not None
    live.answers = False
    await world.pass_until(world.clock.now() + DAY)
    look = world.plane.look(uid)
    assert look is not None and look.decision.presence is Presence.UNKNOWN
    live.answers = True
    world.cluster.faults.unreachable = True
    await world.pass_until(world.clock.now() + DAY)
    assert await world.phase() is Phase.RUNNING
    world.cluster.faults.unreachable = False
    await world.check()
    assert await world.phase() is Phase.PAUSING


async def test_a_busy_accelerator_protects_and_an_idle_one_does_not(world: IdleWorld) -> None:
    up = await world.start()
    doings = (await world.memory()).doings
    doings.accelerators = (AcceleratorUse("gpu-0", "NVIDIA L4", 60, 2**30),)
    await world.pass_until(up + 2 * LIMIT)
    assert await world.phase() is Phase.RUNNING
    doings.accelerators = (AcceleratorUse("gpu-0", "NVIDIA L4", 1, 2**30),)
    quiet = world.clock.now()
    assert quiet + LIMIT <= await world.paused_at() <= quiet + LIMIT + 2 * CHECK


async def test_the_cpu_protects_only_where_the_kind_says_so() -> None:
    protection = Protection(by=frozenset({Protects.CPU}), cpu_percent=50)
    for activity, phase in ((thirty_minutes(), Phase.PAUSING), (thirty_minutes(protection=protection), Phase.RUNNING)):
        world = IdleWorld(activity)
        up = await world.start()
        (await world.memory()).doings.cpu_millis = 900
        await world.pass_until(up + LIMIT + CHECK)
        assert await world.phase() is phase


async def test_a_run_through_the_api_counts_like_a_person(world: IdleWorld) -> None:
    up = await world.start()
    await world.pass_until(up + 20 * MINUTE)
    run = await world.plane.start_run(EXP, code="x = 1")
    async for _ in world.plane.run_updates(run.id):
        pass
    assert run.started_at + LIMIT <= await world.paused_at() <= run.started_at + LIMIT + 2 * CHECK


async def test_the_rule_of_the_namespace_holds() -> None:
    production = Selector((Requirement("tier", Operator.IN, frozenset({"production"})),))
    rules = (ActivityRule(pauses=False, idle_s=60, namespaces=production), ActivityRule(pauses=True, idle_s=600))
    world = IdleWorld(thirty_minutes(rules=rules))
    await world.start()
    await world.plane.label_namespace("Default", {"tier": "production"})
    await world.pass_until(world.clock.now() + 60 * MINUTE)
    assert await world.phase() is Phase.RUNNING
    await world.plane.label_namespace("default", {})
    await world.check()
    assert await world.phase() is Phase.PAUSING


async def test_minimum_running_time_is_kept_after_each_start() -> None:
    world = IdleWorld(thirty_minutes(rules=(ActivityRule(pauses=True, idle_s=600, running_s=3600),)))
    up = await world.start()
    assert up + 60 * MINUTE <= await world.paused_at() <= up + 60 * MINUTE + CHECK


async def test_the_ledger_says_why_it_was_paused(world: IdleWorld) -> None:
    up = await world.start()
    asked = await world.paused_at()
    entries = [e for e in await world.plane.ledger(EXP) if e.event is Event.PAUSE_ASKED]
    assert [(e.at, e.actor) for e in entries] == [(asked, "idle rule")]
    assert entries[0].details["idle_since"] == up
    assert entries[0].details["due_at"] == up + LIMIT
    assert any("up since" in reason for reason in entries[0].details["because"])


async def test_a_pause_that_failed_is_left_alone_for_a_while_and_says_so(world: IdleWorld) -> None:
    await world.start()
    world.cluster.faults.fail_next("pause", Problem("not_enough_space", "There is no room for the snapshot."))
    await world.paused_at()
    await world.settle()
    failed = await world.get("exp")
    assert failed.phase is Phase.RUNNING and failed.last_operation is not None
    await world.check()
    look = world.plane.look(failed.uid)
    assert look is not None and look.decision.reasons[0].why is Why.NOT_PAUSED
    assert "no room" in look.decision.because[0]
    ended = failed.last_operation.ended_at
    assert ended + 10 * MINUTE <= await world.paused_at() <= ended + 10 * MINUTE + CHECK
    await world.settle()
    assert await world.phase() is Phase.PAUSED


async def test_no_pause_comes_before_its_warning_was_out_for_its_time() -> None:
    world = IdleWorld(rules=Rules(warn_before_s=600))
    up = await world.start()
    assert up + LIMIT <= await world.paused_at() <= up + LIMIT + 2 * CHECK
    warned = [e.at for e in await world.plane.ledger(EXP) if e.event is Event.WARNED]
    assert len(warned) == 1 and warned[0] <= world.clock.now() - 10 * MINUTE
    late = IdleWorld(rules=Rules(warn_before_s=600))
    await late.start()
    uid = (await late.get("exp")).uid
    late.clock.advance(10 * LIMIT)
    back = late.clock.now()
    await late.check()
    look = late.plane.look(uid)
    assert look is not None and look.decision.reasons[0].why is Why.WARNED_FIRST
    assert await late.paused_at() >= back + 10 * MINUTE


async def test_what_was_done_since_the_check_began_is_not_paused(world: IdleWorld) -> None:
    up = await world.start()
    uid = (await world.get("exp")).uid
    world.clock.set(up + LIMIT)
    sweep = asyncio.create_task(world.plane.idle_rule.sweep())
    await world.plane.note_activity({uid: [Activity(Source.TERMINAL, world.clock.now())]})
    await sweep
    assert await world.phase() is Phase.RUNNING


async def test_an_activity_script_is_asked_in_its_time_and_once_more_before_a_pause() -> None:
    probe = ActivityProbe(ScriptProbe("#!/bin/sh\n"), every_s=3600, at_least_s=300)
    world = IdleWorld(thirty_minutes(probe=probe))
    up = await world.start(kind="vscode")
    doings = (await world.memory()).doings
    doings.probe = '{"has_activity": false}'
    await world.check()
    asked = world.plane.idle_rule.scripts.asked((await world.get("exp")).uid)
    assert asked is not None and not asked.failed
    assert up + LIMIT <= await world.paused_at() <= up + LIMIT + 2 * CHECK
    lively = IdleWorld(thirty_minutes(probe=probe))
    up = await lively.start(kind="vscode")
    (await lively.memory()).doings.probe = '{"has_activity": true}'
    await lively.pass_until(up + 10 * LIMIT)
    assert await lively.phase() is Phase.RUNNING


async def test_an_activity_script_that_fails_never_leads_to_a_pause() -> None:
    world = IdleWorld(thirty_minutes(probe=ActivityProbe(ScriptProbe("#!/bin/sh\n"), every_s=600)))
    up = await world.start(kind="vscode")
    doings = (await world.memory()).doings
    doings.probe = None
    await world.pass_until(up + 10 * LIMIT)
    assert await world.phase() is Phase.RUNNING
    look = world.plane.look((await world.get("exp")).uid)
    assert look is not None and look.decision.reasons[0].why is Why.PROBE_FAILED
    doings.probe = '{"has_activity": false}'
    await world.paused_at(within=20 * MINUTE)


async def test_a_workspace_that_is_being_paused_or_is_paused_is_not_decided_about(world: IdleWorld) -> None:
    await world.start()
    await world.plane.pause(EXP, "ada")
    await world.check()
    assert world.plane.decisions() == {}
    await world.settle()
    world.clock.advance(DAY)
    await world.check()
    last = (await world.get("exp")).last_operation
    assert last is not None and last.kind is OperationKind.PAUSE
    assert await world.phase() is Phase.PAUSED
    await world.plane.delete(WorkspaceKey("default", "exp"), "ada")
    await world.settle()
    await world.check()
