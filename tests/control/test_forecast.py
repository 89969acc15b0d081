"""What asking for capacity now would mean is what then happens."""

import pytest

from control.world import GPU, World, one_accelerator
from intermezzo.domain.policy import Place
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import OperationKind

HERE = Place("jupyterlab", "gpu", "default")
ONE = Resources(1000, 2 * 2**30, {GPU: 1})


async def test_free_capacity_would_be_had_at_once_and_is_not_taken_by_asking() -> None:
    world = World()
    found = await world.plane.forecast(ONE, OperationKind.START, "ada", HERE)
    assert (found.node, found.ahead) == ("node-1", 0)
    assert await world.store.reservations() == {}


@pytest.mark.parametrize("waiting", [0, 1, 3])
async def test_what_is_held_makes_it_wait_behind_those_who_wait_already(waiting: int) -> None:
    world = World()
    await world.create("holds")
    await world.settle()
    for number in range(waiting):
        await world.create(f"waits-{number}")
    await world.settle()
    found = await world.plane.forecast(ONE, OperationKind.START, "ada", HERE)
    assert (found.node, found.ahead) == ("", waiting)
    assert f"needs 1 {GPU}, 0 of 1 free" in found.reason


async def test_a_resume_would_go_before_those_who_start() -> None:
    world = World()
    await world.create("holds")
    await world.settle()
    await world.create("waits")
    await world.settle()
    assert (await world.plane.forecast(ONE, OperationKind.RESUME, "ada", HERE)).position == 1
    assert (await world.plane.forecast(ONE, OperationKind.START, "ada", HERE)).position == 2


async def test_what_no_node_has_is_said_before_anyone_waits_for_it() -> None:
    world = World(one_accelerator())
    found = await world.plane.forecast(Resources(1000, 2**30, {GPU: 2}), OperationKind.START, "ada", HERE)
    assert (found.node, found.reason) == ("", f"no node has 2 {GPU}")
