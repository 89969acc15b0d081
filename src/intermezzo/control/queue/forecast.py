"""What asking for capacity now would mean, without asking for it. Reads only, and promises nothing."""

from dataclasses import dataclass

from intermezzo.control.context import Context
from intermezzo.control.queue.line import line
from intermezzo.domain.capacity import Waiter
from intermezzo.domain.policy import Place
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import OperationKind

HYPOTHETICAL = chr(0x10FFFF)  # after everyone who came at the same moment


@dataclass(frozen=True, slots=True)
class Forecast:
    """Where the capacity would be had at once (`node`, empty if it would have to wait), else at which `position` of
    the queue and, in plain words, for what. `ahead` is how many wait before it."""

    node: str
    position: int
    reason: str

    @property
    def ahead(self) -> int:
        """How many wait before it."""
        return self.position - 1


async def forecast(context: Context, demand: Resources, kind: OperationKind, owner: str, place: Place) -> Forecast:
    """For one more start or resume that needs `demand`, of a workspace of this owner there. Raises `Unreachable` if
    the nodes cannot be asked."""
    queue = await line(context)
    waiter = Waiter(
        HYPOTHETICAL,
        demand,
        context.clock.now(),
        kind is OperationKind.RESUME,
        priority=queue.rules.priority(place),
        team=queue.rules.team(place.namespace),
        quotas=queue.rules.quotas(owner, place),
    )
    async for step in queue.steps(waiter):
        if step.waiter is waiter:
            return Forecast(step.node, step.position, queue.why(step))
    raise AssertionError
