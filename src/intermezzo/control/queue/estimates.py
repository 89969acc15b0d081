"""When it will probably be the turn of each who waits: what is held and asked for, put before `domain.estimate`.

Nothing is decided from it, and what is not known is not told.
"""

from collections.abc import Mapping

from intermezzo.control.context import Context
from intermezzo.control.pacing import paced
from intermezzo.control.queue.line import Line
from intermezzo.domain.capacity import Step, free
from intermezzo.domain.estimate import Asked, Forecaster, Held, Pool, sort_of
from intermezzo.domain.quota import Models, Quota, counted, models_of, place_of
from intermezzo.domain.resources import Resources

LOOKED_AHEAD = 500  # positions: so far behind, nobody can tell anything


class Estimates:
    """Asked about everyone who waits, in the order of the queue."""

    def __init__(self, context: Context, line: Line, forecaster: Forecaster) -> None:
        self._durations = context.usage.durations
        self._models = models_of(line.nodes)
        self._forecaster = forecaster

    @classmethod
    async def of(cls, context: Context, line: Line) -> "Estimates":
        """What is held now will end when its like has ended before."""
        now, held = context.clock.now(), []
        models = models_of(line.nodes)
        spare: dict[Pool, int] = {}
        for node in line.nodes:
            rest = free(node.capacity, line.ground.held.get(node.name, Resources()))
            for name, amount in _of_nodes(rest):
                spare[name] = spare.get(name, 0) + amount
        for quota in {quota for waiter in line.waiters for quota in waiter.quotas}:
            used = line.ground.tally.used(quota)
            spare |= {(quota, item): max(0, most - used.get(item, 0)) for item, most in quota.allowed.items()}
        async for holder in paced(line.holders):
            reservation = holder.reservation
            if reservation is not None:
                quotas = line.rules.quotas(holder.owner, place_of(holder))
                amounts = _pools(reservation.amount, quotas, models.get(reservation.node, {}))
                left = context.usage.durations.left(sort_of(reservation.amount), now - reservation.since)
                held.append(Held(amounts, now + left))
        return cls(context, line, Forecaster(now, spare, held))

    def expected_at(self, step: Step) -> int | None:
        """When the next in the queue will probably have what it asks for, in epoch milliseconds; None if unknown."""
        if step.position > LOOKED_AHEAD:
            return None
        waiter = step.waiter
        models = next((self._models.get(name, {}) for name in waiter.nodes or ()), {})
        amounts = _pools(waiter.demand, waiter.quotas, models)
        return self._forecaster.start_of(Asked(amounts, self._durations.left(sort_of(waiter.demand))))


def _of_nodes(amount: Resources) -> list[tuple[Pool, int]]:
    return [("cpu", amount.cpu_millis), ("memory", amount.memory_bytes), *amount.accelerators.items()]


def _pools(amount: Resources, quotas: tuple[Quota, ...], models: Models) -> Mapping[Pool, int]:
    """What holding that amount takes from each pool: of the nodes, and of each quota."""
    found: dict[Pool, int] = {name: taken for name, taken in _of_nodes(amount) if taken}
    if quotas:
        items = counted(amount, models)
        for quota in quotas:
            found |= {(quota, item): items[item] for item in quota.allowed if items.get(item)}
    return found
