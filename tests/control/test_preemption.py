"""Idle ones of lower priority make room where a policy allows it: paused, never killed, and their owners are told."""

import pytest

from control.idling import LIMIT, MINUTE, IdleWorld, thirty_minutes
from control.world import one_accelerator
from intermezzo.control.queue.preemption import IDLE_AT_LEAST_MS
from intermezzo.domain.ledger import Event
from intermezzo.domain.notice import Sort
from intermezzo.domain.orders import Problem
from intermezzo.domain.policy import Match, Policy, Rules
from intermezzo.domain.workspace import Phase, WorkspaceKey

LOW = WorkspaceKey("default", "low")
URGENT = WorkspaceKey("night", "urgent")
MAY_GIVE_WAY = Policy(name="any", rules=Rules(preemptible=True, warn_before_s=0))
IN_A_HURRY = Policy(
    name="night", match=Match(namespaces=frozenset({"night"})), rules=Rules(priority=5, preemptible=False)
)


class House(IdleWorld):
    """One accelerator, held by somebody of no priority; who is asked for by somebody who has one."""

    async def begin(self, *policies: Policy) -> None:
        self.plane.context.policies = policies
        await self.create("low")
        await self.settle()
        await self.run("low", "x = 41")

    async def ask(self, key: WorkspaceKey = URGENT) -> None:
        await self.create(key.name, namespace=key.namespace, owner="grace")
        await self.settle()

    async def look(self) -> None:
        """What the idle rule sees, and then who is to give way; with what it leads to."""
        await self.plane.idle_rule.sweep()
        await self.plane.preemption.look()
        await self.settle()


@pytest.fixture
async def house() -> House:
    return House(thirty_minutes())


async def test_an_idle_one_is_paused_for_one_of_higher_priority_and_can_be_resumed(house: House) -> None:
    await house.begin(MAY_GIVE_WAY, IN_A_HURRY)
    house.clock.advance(IDLE_AT_LEAST_MS + MINUTE)
    await house.ask()
    await house.look()
    assert (await house.get("low")).phase is Phase.PAUSED
    assert (await house.plane.get(URGENT)).phase is Phase.RUNNING
    await house.plane.pause(URGENT, "grace")
    await house.settle()
    await house.plane.resume(LOW, "ada")
    await house.settle()
    assert (await house.run("low", "print(x)")).strip() == "41"
    assert await house.broken_promises() == []


async def test_its_owner_is_told_and_the_ledger_says_why(house: House) -> None:
    await house.begin(MAY_GIVE_WAY, IN_A_HURRY)
    house.clock.advance(IDLE_AT_LEAST_MS + MINUTE)
    await house.ask()
    await house.look()
    (told,) = [notice for notice in await house.plane.notices_for("ada") if notice.sort is Sort.PREEMPTED]
    assert told.key == LOW
    (asked,) = [e for e in await house.store.ledger() if e.event is Event.PAUSE_ASKED]
    assert (asked.actor, asked.details["priority"], asked.details["for_priority"]) == ("preemption", 0, 5)
    assert asked.details["because"] and "idle_since" in asked.details


async def test_one_that_is_busy_is_left_alone(house: House) -> None:
    await house.begin(MAY_GIVE_WAY, IN_A_HURRY)
    kernel = next(iter((await house.memory("low")).kernels.values()))
    kernel.begin(house.clock.now())
    house.clock.advance(IDLE_AT_LEAST_MS + MINUTE)
    await house.ask()
    await house.look()
    assert (await house.get("low")).phase is Phase.RUNNING
    assert (await house.plane.get(URGENT)).phase is Phase.QUEUED


async def test_one_of_which_nothing_is_known_is_left_alone(house: House) -> None:
    await house.begin(MAY_GIVE_WAY, IN_A_HURRY)
    live = house.cluster.world.sandbox_of((await house.get("low")).uid)
    assert live is not None
    live.answers = False
    house.clock.advance(IDLE_AT_LEAST_MS + MINUTE)
    await house.ask()
    await house.look()
    assert (await house.get("low")).phase is Phase.RUNNING


async def test_one_that_was_used_a_moment_ago_is_left_alone(house: House) -> None:
    await house.begin(MAY_GIVE_WAY, IN_A_HURRY)
    house.clock.advance(IDLE_AT_LEAST_MS // 2)
    await house.ask()
    await house.look()
    assert (await house.get("low")).phase is Phase.RUNNING


@pytest.mark.parametrize(
    "policies",
    [(IN_A_HURRY,), (MAY_GIVE_WAY,), (MAY_GIVE_WAY, Policy(name="x", rules=Rules(priority=5, preemptible=True)))],
    ids=["no policy allows it", "nobody has a higher priority", "both have the same"],
)
async def test_nobody_gives_way_without_need(house: House, policies: tuple[Policy, ...]) -> None:
    await house.begin(*policies)
    house.clock.advance(IDLE_AT_LEAST_MS + MINUTE)
    await house.ask()
    await house.look()
    assert (await house.get("low")).phase is Phase.RUNNING


async def test_one_whose_pause_was_refused_is_not_asked_again_and_again(house: House) -> None:
    await house.begin(MAY_GIVE_WAY, IN_A_HURRY)
    house.clock.advance(IDLE_AT_LEAST_MS + MINUTE)
    await house.ask()
    house.cluster.faults.fail_next("pause", Problem("engine_failure", "It cannot be saved."))
    for _ in range(3):
        await house.look()
    assert (await house.get("low")).phase is Phase.RUNNING
    assert len([e for e in await house.store.ledger() if e.event is Event.PAUSE_ASKED]) == 1
    assert (await house.run("low", "print(x)")).strip() == "41"


async def test_no_more_than_needed_give_way_while_one_is_being_paused(house: House) -> None:
    house.cluster.world.nodes[0] = one_accelerator(accelerators=2)
    await house.begin(MAY_GIVE_WAY, IN_A_HURRY)
    await house.create("also-low")
    await house.settle()
    house.clock.advance(IDLE_AT_LEAST_MS + MINUTE)
    await house.create(URGENT.name, namespace=URGENT.namespace, owner="grace")
    await house.plane.idle_rule.sweep()
    for _ in range(3):
        await house.plane.preemption.look()
    phases = [(await house.get(name)).phase for name in ("low", "also-low")]
    assert sorted(phase.value for phase in phases) == ["Pausing", "Running"]


def test_the_idle_rule_would_not_have_paused_it_yet() -> None:
    assert IDLE_AT_LEAST_MS + MINUTE < LIMIT
