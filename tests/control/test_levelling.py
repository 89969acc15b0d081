"""A pool of unlike machines: what began on the better one comes back on the other, if the engine can do that."""

from dataclasses import replace

from control.world import World, one_accelerator
from intermezzo.domain.levelling import LEVELLING
from intermezzo.domain.resources import Node
from intermezzo.domain.workspace import Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp")


def pool(*engine_features: str) -> tuple[Node, Node]:
    """A better machine and another."""
    better, other = one_accelerator("better"), one_accelerator("other")
    engine = replace(better.engine, features=engine_features)
    return (
        replace(better, engine=engine, cpu_features=("avx2", "avx512f")),
        replace(other, engine=engine, cpu_features=("avx2",)),
    )


async def paused_on_the_better(world: World) -> tuple[str, ...]:
    """A session that began on the better machine, which is gone afterwards; the features that its snapshot needs."""
    await world.create("exp")
    await world.settle()
    sandbox = (await world.seen("exp")).sandbox
    assert sandbox is not None and sandbox.node == "better"
    await world.run("exp", "x = 3")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    world.cluster.world.nodes[:] = world.cluster.world.nodes[1:]
    snapshot = (await world.get("exp")).snapshot
    assert snapshot is not None
    return snapshot.cpu_features


async def test_a_levelled_session_comes_back_on_the_lesser_machine() -> None:
    world = World(*pool(LEVELLING))
    assert await paused_on_the_better(world) == ("avx2",)
    await world.plane.resume(EXP, "ada")
    await world.settle()
    assert (await world.run("exp", "print(x)")).strip() == "3"


async def test_one_that_is_started_afresh_where_it_runs_is_levelled_again() -> None:
    world = World(*pool(LEVELLING))
    await world.create("exp")
    await world.settle()
    await world.plane.restart_fresh(EXP, "ada")
    await world.settle()
    made = (await world.get("exp")).blueprint
    assert made is not None and made.cpu_features == ("avx2",)


async def test_without_levelling_it_waits_for_a_machine_that_has_what_it_saw() -> None:
    world = World(*pool())
    assert await paused_on_the_better(world) == ("avx2", "avx512f")
    await world.plane.resume(EXP, "ada")
    await world.settle()
    waiting = await world.get("exp")
    assert waiting.phase is Phase.QUEUED
    assert waiting.condition is not None and "no node with avx512f" in waiting.condition.message
