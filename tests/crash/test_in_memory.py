"""Control plane, node agent, engine and all of them at once, killed at every step of every operation on the shipped
simulated cluster: whatever is cut off, nothing is lost, nothing is left over, and it comes to rest."""

from collections.abc import Callable, Iterator

import pytest

from crash.figures import Book, Run
from crash.mortal import MortalWorld
from crash.operations import OPERATIONS, Operation, Witness, left_over, unsettled

TURNS = 60
Kill = Callable[[MortalWorld], None]


def the_agent(world: MortalWorld) -> None:
    world.cluster.restart_agent()


def the_engine(world: MortalWorld) -> None:
    for live in list(world.cluster.world.sandboxes.values()):
        world.cluster.lose_sandbox(live.workspace_uid)


def everything(world: MortalWorld) -> None:
    world.cluster.reboot_nodes()
    world.kill_control_plane()


KILLS: dict[str, Kill] = {"node agent": the_agent, "engine": the_engine, "all at once": everything}


@pytest.fixture(scope="module")
def book() -> Iterator[Book]:
    yield Book("memory")


async def prepared(operation: Operation) -> tuple[MortalWorld, Witness]:
    world = MortalWorld()
    await operation.before(world)
    return world, await Witness.of(world, operation)


async def steps_of(operation: Operation) -> list[str]:
    """The steps that the control plane takes when nobody disturbs it."""
    world, _ = await prepared(operation)
    life = world.begin()
    await operation.ask(world)
    await world.settle()
    return life.steps


async def orders_of(operation: Operation) -> list[str]:
    """The steps that the node takes when nobody disturbs it, each with the order that it belongs to."""
    world, _ = await prepared(operation)
    before = await reached(world)
    await operation.ask(world)
    found: list[str] = []
    for _ in range(TURNS):
        await world.turn()
        found += [step for step in await reached(world) if step not in (*found, *before)]
    return found


async def reached(world: MortalWorld) -> list[str]:
    """The steps so far of the order under way, or of the last one; each with its order's token."""
    seen = await world.cluster.observe_all()
    reports = [each.report for each in seen.values() if each.report]
    return [f"{report.kind} {report.token} {step}" for report in reports for step in report.times]


async def judged(world: MortalWorld, witness: Witness, process: str, step: str, engine_died: bool) -> Run:
    """Let everything come to rest, and look at what there is."""
    name = witness.operation.name
    try:
        await world.settle()
    except AssertionError as error:
        return Run("memory", process, name, step, str(error), settled=False)
    moving, left = await unsettled(world), await left_over(world)
    phases = ", ".join(f"{each.key.name} {each.phase.value}" for each in await world.store.workspaces()) or "gone"
    lost = await witness.lost(world, engine_died)
    return Run("memory", process, name, step, phases, not moving, lost, left)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
async def test_the_control_plane_is_killed_after_every_step_of(operation: Operation, book: Book) -> None:
    steps = await steps_of(operation)
    assert steps
    for last, step in enumerate(steps):
        world, witness = await prepared(operation)
        life = world.begin(last)
        alive = await world.do(operation.ask(world))
        for _ in range(TURNS):
            alive = alive and await world.turn()
        assert life.steps == steps[: last + 1]
        book.write(await judged(world, witness, "control plane", f"{last} {step}", engine_died=False))
    assert book.bad == []


@pytest.mark.parametrize("process", KILLS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
async def test_a_process_is_killed_at_every_step_of_the_order_of(
    operation: Operation, process: str, book: Book
) -> None:
    for step in await orders_of(operation):
        world, witness = await prepared(operation)
        await operation.ask(world)
        while step not in await reached(world):
            await world.turn()
        KILLS[process](world)
        book.write(await judged(world, witness, process, step, engine_died=process != "node agent"))
    assert book.bad == []


def test_every_step_of_every_operation_had_its_turn(book: Book) -> None:
    """Held to what the operations do: a part of the harness that does not run is seen here."""
    for operation in OPERATIONS:
        killed = {run.process for run in book.runs if run.operation == operation.name}
        expected = {"control plane"} if "expiry" in operation.name else {"control plane", *KILLS}
        assert killed == expected
