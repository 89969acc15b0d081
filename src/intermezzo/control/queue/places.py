"""The places of those who wait, as people are shown them: position, reason, and when their turn probably comes."""

from collections.abc import Iterable
from dataclasses import dataclass

from intermezzo.control.context import Context
from intermezzo.control.pacing import paced
from intermezzo.control.queue.estimates import Estimates
from intermezzo.control.queue.line import Line, line
from intermezzo.control.queue.standing import Stand
from intermezzo.domain import reasons
from intermezzo.domain.capacity import Step
from intermezzo.domain.workspace import Condition, Phase, Workspace, WorkspaceKey


@dataclass(frozen=True, slots=True)
class Place:
    """A waiting workspace's place in the queue (1 is next), why it waits, and when its turn probably comes (epoch
    milliseconds): an estimate, None where too little is known for one."""

    key: WorkspaceKey
    position: int
    reason: str
    expected_at: int | None = None


async def stands(context: Context, queue: Line, steps: Iterable[Step]) -> dict[str, Stand]:
    """Everyone's place, in order, by workspace uid."""
    estimates = await Estimates.of(context, queue)
    found = {}
    async for step in paced(steps):
        why = queue.why(step)
        operation = queue.queued[step.waiter.uid].operation
        found[step.waiter.uid] = Stand(
            operation.id if operation is not None else "",
            step.position,
            why,
            _condition(queue, step, why),
            estimates.expected_at(step),
        )
    return found


async def queue_now(context: Context) -> list[Place]:
    """Everyone who waits, in order. Raises `Unreachable` if the nodes cannot be asked."""
    queue = await line(context)
    found = await stands(context, queue, [step async for step in queue.steps()])
    return [_place(queue.queued[uid].key, stand) for uid, stand in found.items()]


async def place_now(context: Context, workspace: Workspace) -> Place | None:
    """Where one of them waits; None for one that does not. Raises `Unreachable`."""
    if workspace.phase is not Phase.QUEUED:
        return None
    stand = context.standing.get(workspace.uid)
    if stand is not None and context.standing.knows(workspace):
        return _place(workspace.key, stand)
    return next((place for place in await queue_now(context) if place.key == workspace.key), None)


def _place(key: WorkspaceKey, stand: Stand) -> Place:
    return Place(key, stand.position, stand.reason, stand.expected_at)


def _condition(queue: Line, step: Step, why: str) -> Condition:
    if step.node:
        return reasons.its_turn()
    if step.waiter.uid in queue.misfits:
        return reasons.fits_nowhere(step.position, why, queue.mend(step))
    if step.excess is not None:
        return reasons.over_quota(step.position, why)
    return reasons.waiting(step.position, why)
