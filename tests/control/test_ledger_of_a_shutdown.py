"""A shutdown that ends sessions gives their capacity back in the ledger too, or they would hold it for ever there."""

from control.world import World, one_accelerator
from intermezzo.control.shutdown import shut_down
from intermezzo.domain.intervals import State, holds, stays


async def test_a_session_that_is_lost_to_a_shutdown_holds_nothing_in_the_ledger() -> None:
    world = World(one_accelerator())
    await world.create("exp")
    await world.settle()
    await shut_down(world.plane, "lose")
    entries = await world.store.ledger()
    assert [hold.interval.end for hold in holds(entries)] == [entries[-1].at]
    assert stays(entries)[-1].state is State.FAILED
