"""Pauses idle workspaces of lower priority so that somebody of higher priority need not wait, where policies allow it.

They are paused as their owners would do it, with everything that a pause keeps, and their owners are told. Whoever is
in use, or of whom nothing is known, is left alone; so is one whose pause was refused, until something has changed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import structlog

from intermezzo.control.context import Context
from intermezzo.control.pacing import attempted, paced
from intermezzo.control.queue.line import Line, line
from intermezzo.domain import reasons
from intermezzo.domain.capacity import Ground, walk
from intermezzo.domain.errors import Conflict, NotFound, Refused
from intermezzo.domain.idle import Decision, Presence
from intermezzo.domain.notice import Sort
from intermezzo.domain.preemption import Candidate, Proposal, propose
from intermezzo.domain.quota import place_of
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Operation, Phase, Workspace, WorkspaceKey

BY = "preemption"
IDLE_AT_LEAST_MS = 10 * 60 * 1000
EVERY_S = 10.0
AT_MOST_EVERY_S = 1.0

log = structlog.get_logger(__name__)

LookNow = Callable[[Workspace], Awaitable[Decision | None]]
"""What holds for a running workspace at this moment."""


class Pausing(Protocol):
    """What pauses a workspace, and tells its owner."""

    async def pause(self, key: WorkspaceKey, by: str, because: Mapping[str, Any], seen: Workspace | None) -> Operation:
        """As in `Commands`."""
        ...

    async def tell(self, workspace: Workspace, sort: Sort, occasion: str, message: str, moment: int) -> None:
        """As in `Notices`."""
        ...


class Preemption:
    """Looks, proposes, pauses. `decisions` is what the idle rule last decided about each running workspace."""

    def __init__(
        self,
        context: Context,
        commands: Pausing,
        decisions: Callable[[], Mapping[str, Decision]],
        look_now: LookNow,
    ) -> None:
        self._context = context
        self._commands = commands
        self._decisions = decisions
        self._look_now = look_now

    async def run(self) -> None:
        """Look again and again until cancelled."""
        count = 0
        while True:
            await attempted(self.look, "preemption")
            await asyncio.sleep(AT_MOST_EVERY_S)
            count, _ = await self._context.changes.wait(count, EVERY_S)

    async def look(self) -> None:
        """Pause once whoever is to give way now. Raises `Unreachable`."""
        if not any(policy.rules.preemptible for policy in self._context.policies):
            return
        queue = await line(self._context)
        if not queue.waiters:
            return
        candidates = self._candidates(queue)
        if not candidates:
            return
        steps = [step async for step in paced(walk(queue.waiters, _as_if_gone(queue)))]
        holders = {workspace.uid: workspace for workspace in queue.holders}
        for proposal in propose(steps, queue.nodes, candidates):
            await self._give_way(holders[proposal.candidate.uid], proposal)

    def _candidates(self, queue: Line) -> list[Candidate]:
        decisions = self._decisions()
        found = []
        for workspace in queue.holders:
            decision, place = decisions.get(workspace.uid), place_of(workspace)
            if decision is None or not queue.rules.preemptible(place) or not _may_rest(workspace):
                continue
            if self._idle(decision) and workspace.reservation is not None:
                held = workspace.reservation
                priority = queue.rules.priority(place)
                found.append(Candidate(workspace.uid, held.node, held.amount, priority, decision.since))
        return found

    async def _give_way(self, workspace: Workspace, proposal: Proposal) -> None:
        now_decided = await self._look_now(workspace)
        if now_decided is None or not self._idle(now_decided):
            return
        because = {
            "because": list(now_decided.because),
            "idle_since": now_decided.since,
            "priority": proposal.candidate.priority,
            "for_priority": proposal.waiter.priority,
        }
        try:
            operation = await self._commands.pause(workspace.key, BY, because, workspace)
        except (Conflict, NotFound, Refused) as changed:
            log.info("preemption_left_out", workspace=str(workspace.key), reason=changed.message)
            return
        message = "It was idle and is paused, since somebody of higher priority waits for what it held."
        await self._commands.tell(workspace, Sort.PREEMPTED, operation.id, message, operation.asked_at)

    def _idle(self, decision: Decision) -> bool:
        long_enough = self._context.clock.now() - decision.since >= IDLE_AT_LEAST_MS
        return decision.presence is Presence.IDLE and long_enough


def _may_rest(workspace: Workspace) -> bool:
    refused = workspace.condition is not None and workspace.condition.reason == reasons.PAUSE_FAILED
    return workspace.phase is Phase.RUNNING and workspace.operation is None and not refused


def _as_if_gone(queue: Line) -> Ground:
    """The ground as it is once everybody who is being paused is."""
    held = dict(queue.ground.held)
    for workspace in queue.holders:
        if workspace.phase is Phase.PAUSING and workspace.reservation is not None:
            node = workspace.reservation.node
            held[node] = held.get(node, Resources()) - workspace.reservation.amount
    return replace(queue.ground, held=held)
