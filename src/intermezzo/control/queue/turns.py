"""The queue in its order, with what that order comes from. Reads only; the order is made in `domain.share`."""

from dataclasses import dataclass

from intermezzo.control.context import Context
from intermezzo.control.queue.line import line
from intermezzo.control.queue.places import stands
from intermezzo.domain.workspace import WorkspaceKey


@dataclass(frozen=True, slots=True)
class Turn:
    """One who waits, at `position` (1 is next), for `reason`, and why there: those of higher `priority` come first, of
    these who resumes, of these whose `team` has had the smallest `part` (0 to 1) of what all teams had lately, of these
    who waits longest (`since`, epoch milliseconds). `expected_at` is an estimate, None where too little is known."""

    key: WorkspaceKey
    position: int
    reason: str
    expected_at: int | None
    priority: int
    resume: bool
    team: str
    part: float
    since: int


async def turns_now(context: Context) -> list[Turn]:
    """Everyone who waits, in order. Raises `Unreachable` if the nodes cannot be asked."""
    queue = await line(context)
    steps = [step async for step in queue.steps()]
    found = await stands(context, queue, steps)
    used = queue.ground.used
    together = sum(used.values())
    return [
        Turn(
            queue.queued[step.waiter.uid].key,
            step.position,
            found[step.waiter.uid].reason,
            found[step.waiter.uid].expected_at,
            step.waiter.priority,
            step.waiter.resume,
            step.waiter.team,
            used.get(step.waiter.team, 0.0) / together if together else 0.0,
            step.waiter.queued_at,
        )
        for step in steps
    ]
