"""What the ledger tells of holds of capacity, as it is read on."""

import asyncio
from math import inf

from intermezzo.control.queue.usage import Usage
from intermezzo.domain.account import Team
from intermezzo.domain.estimate import FEWEST, sort_of
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.resources import Resources
from intermezzo.ports.store import Store

ONE = Resources(1000, 2**30)
WHOLE = Resources(8000, 8 * 2**30)


def hold(number: int) -> list[Entry]:
    """Somebody had capacity for a second."""
    amount = {"cpu_millis": ONE.cpu_millis, "memory_bytes": ONE.memory_bytes, "accelerators": {}}
    return [
        Entry(f"w{number}", "default", "exp", number * 2000, Event.CAPACITY_ACQUIRED, details=amount),
        Entry(f"w{number}", "default", "exp", number * 2000 + 1000, Event.CAPACITY_FREED),
    ]


async def test_who_reads_on_at_the_same_moment_counts_no_hold_twice(store: Store) -> None:
    usage = Usage()
    for number in range(FEWEST - 1):
        await store.append(hold(number))
    await asyncio.gather(*(usage.catch_up(store, WHOLE) for _ in range(4)))
    assert usage.durations.left(sort_of(ONE)) == inf
    await store.append(hold(FEWEST))
    await asyncio.gather(*(usage.catch_up(store, WHOLE) for _ in range(4)))
    assert usage.durations.left(sort_of(ONE)) == 1000


async def test_a_namespace_without_a_team_has_had_what_it_had(store: Store) -> None:
    usage = Usage()
    await store.append(hold(1))
    await usage.catch_up(store, WHOLE)
    alone = usage.by_team([], 4000)
    assert alone["default"] > 0
    assert usage.by_team([Team("us", ("Default",))], 4000) == {"us": alone["default"]}
