"""Gives out capacity: takes it when it is a workspace's turn, else says at which place it waits and why.

The order of the queue is decided in `domain.capacity`; that nothing is ever given out twice is the store's promise.
"""

import asyncio
from dataclasses import replace

from intermezzo.control import entries
from intermezzo.control.context import Context
from intermezzo.control.queue.line import Line, line
from intermezzo.control.queue.places import stands
from intermezzo.domain import reasons
from intermezzo.domain.blueprint import Blueprint
from intermezzo.domain.capacity import Step
from intermezzo.domain.errors import InvalidInput, Unreachable
from intermezzo.domain.ledger import Event
from intermezzo.domain.levelling import level
from intermezzo.domain.quota import models_of, place_of
from intermezzo.domain.resources import labelled
from intermezzo.domain.tally import Quotas
from intermezzo.domain.workspace import Condition, Operation, OperationKind, Phase, Reservation, Workspace

LINE = "line"
"""What stands on the work queue for the queue of those who wait: one look along it, whoever it is for."""


class Dispatch:
    """The queue's working side."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._looking = asyncio.Lock()
        self._outdated = True
        self._line: Line | None = None
        self._turns: dict[str, str] = {}
        self._untold: list[Step] | None = None

    async def acquire(self, workspace: Workspace) -> bool:
        """Take capacity for a queued workspace if it is its turn; returns whether to plan again."""
        try:
            queue = await self._looked_along_for(workspace)
        except Unreachable:
            self._context.standing.forget()
            await self._explain(workspace, reasons.node_silent())
            return False
        if workspace.uid not in queue.queued:
            return True  # it has left the queue since it was read: look again
        node = self._turns.pop(workspace.uid, "")
        if node:
            return await self._take(workspace, node, queue)
        await self._explain(workspace, None)
        return False

    async def serve(self) -> None:
        """Look along the queue: whose turn it is is woken, everyone's place is noted. Raises `Unreachable`."""
        async with self._looking:
            if self._outdated or self._untold is None or self._line is None:
                await self._look()
            queue, steps, self._untold = self._line, self._untold or [], None
        assert queue is not None
        # Nobody whose turn it is waits until the places of all others are known.
        changed = self._context.standing.replace(await stands(self._context, queue, steps))
        self._context.changes.touch(*changed)

    def wake_waiting(self) -> None:
        """Have the queue looked along again: capacity may have come free."""
        self._outdated = True
        self._context.wake(LINE)

    async def _looked_along_for(self, workspace: Workspace) -> Line:
        """The queue as it was when it was last looked along, with this workspace in it."""
        if self._line is not None and workspace.uid in self._turns:
            return self._line
        async with self._looking:
            if self._line is None or self._outdated or not _has(self._line, workspace):
                await self._look()
                self._context.wake(LINE)
            assert self._line is not None
            return self._line

    async def _look(self) -> None:
        """One pass, in order."""
        self._outdated = False
        try:
            queue = await line(self._context)
        except Unreachable:
            self._outdated = True
            raise
        self._line, self._turns, self._untold = queue, {}, []
        async for step in queue.steps():
            self._untold.append(step)
            if step.node:
                self._turns[step.waiter.uid] = step.node
                self._context.wake(step.waiter.uid)

    async def _take(self, workspace: Workspace, node: str, queue: Line) -> bool:
        operation = workspace.operation
        assert operation is not None
        now = self._context.clock.now()
        resuming = operation.kind is OperationKind.RESUME
        restoring = operation.snapshot is not None
        demand = labelled(workspace.demand, [n for n in queue.nodes if n.name == node])
        limit = self._context.limits.resume_ms if restoring else self._context.limits.start_ms
        blueprint = self._blueprint(workspace, operation, level(node, queue.nodes))
        record = workspace.with_(
            phase=Phase.RESUMING if resuming else Phase.STARTING,
            phase_since=now,
            condition=None,
            node=node,
            demand=demand,
            blueprint=blueprint,
            operation=replace(operation, deadline=now + limit),
        )
        amount = entries.amount(workspace.demand)
        waited = now - workspace.queued_at
        fact = entries.entry(workspace, Event.CAPACITY_ACQUIRED, now, node=node, waited_ms=waited, **amount)
        reservation = Reservation(node, demand, now)
        capacity = {n.name: n.capacity for n in queue.nodes}
        quotas = Quotas(queue.rules.quotas(workspace.owner, place_of(workspace)), models_of(queue.nodes))
        taken = None
        try:
            taken = await self._context.store.reserve(record, reservation, capacity, [fact], quotas)
        finally:
            if taken is None:  # its turn is used up all the same, also where the record had changed
                self.wake_waiting()
        return taken is not None

    def _blueprint(self, workspace: Workspace, operation: Operation, cpu_features: tuple[str, ...]) -> Blueprint | None:
        """What the sandbox is made from; where that cannot be told, it is said when the sandbox is ordered. A session
        that comes back has the CPU features that it had."""
        try:
            if operation.kind is OperationKind.FORK:
                return workspace.blueprint
            if operation.kind is OperationKind.RESUME:
                return self._context.blueprint(workspace, operation.snapshot_id)
            return replace(self._context.new_blueprint(workspace), cpu_features=cpu_features)
        except InvalidInput:
            return None

    async def _explain(self, workspace: Workspace, condition: Condition | None) -> None:
        """Write down why it waits where its place does not tell; places themselves are never written."""
        shown = workspace.condition
        if (shown and shown.reason) != (condition and condition.reason):
            await self._context.store.save(workspace.with_(condition=condition))


def _has(queue: Line, workspace: Workspace) -> bool:
    """Whether it waited already, for the same, when the queue was looked along."""
    known, operation = queue.queued.get(workspace.uid), workspace.operation
    return (
        known is not None
        and operation is not None
        and known.operation is not None
        and known.operation.id == operation.id
    )
