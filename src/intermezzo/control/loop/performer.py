"""Does the one step that was planned, and records it. Never decides which step comes next.

Each step is idempotent: done twice, or done and then not recorded because the process died, it leaves the same world.
"""

from dataclasses import replace

import structlog

from intermezzo.control import entries
from intermezzo.control.context import Context
from intermezzo.control.loop.fork_proof import ForkProof
from intermezzo.control.loop.orders import make_order
from intermezzo.control.loop.proof import Proof
from intermezzo.control.queue.dispatch import Dispatch
from intermezzo.domain.actions import (
    Acquire,
    Action,
    Forget,
    GiveUp,
    Note,
    OrderKind,
    Plant,
    Prove,
    Renew,
    Rest,
    Send,
    Settle,
    Wait,
    Withdraw,
)
from intermezzo.domain.errors import Conflict, InvalidInput, Refused, StaleOrder, Unreachable
from intermezzo.domain.ledger import Event
from intermezzo.domain.lifecycle import LONGEST_RETRY_MS, refused
from intermezzo.domain.orders import Observed, Problem, SnapshotChange, SnapshotOrder
from intermezzo.domain.retention import replaced_by
from intermezzo.domain.workspace import Condition, FinishedOperation, OperationKind, Phase, Workspace

log = structlog.get_logger(__name__)

FIRST_RETRY_MS = 500


class Performer:
    """Carries out actions. `perform` tells whether to plan again at once."""

    def __init__(self, context: Context, dispatch: Dispatch) -> None:
        self._context = context
        self._dispatch = dispatch
        self._proof = Proof(context)
        self._fork_proof = ForkProof(context, self._proof)

    async def perform(self, workspace: Workspace, action: Action, seen: Observed) -> bool:
        """Do `action`, which was planned from `seen`. Raises `StaleWrite` if the record has changed since."""
        match action:
            case Acquire():
                return await self._dispatch.acquire(workspace)
            case Plant():
                return await self._proof.plant(workspace, seen)
            case Prove() if workspace.operation and workspace.operation.kind is OperationKind.FORK:
                return await self._fork_proof.prove(workspace, seen)
            case Prove():
                return await self._proof.prove(workspace, seen)
            case Send(kind):
                return await self._send(workspace, kind, seen)
            case Note(condition):
                await self._context.store.save(workspace.with_(condition=condition))
                return True
            case Settle():
                return await self._settle(workspace, action, seen)
            case GiveUp(condition):
                return await self._give_up(workspace, condition)
            case Renew():
                return await self._renew(workspace, action)
            case Withdraw(snapshot_ids):
                return await self._withdraw(workspace, snapshot_ids)
            case Forget():
                return await self._forget(workspace)
            case Rest() | Wait():
                return False

    async def _send(self, workspace: Workspace, kind: OrderKind, seen: Observed) -> bool:
        try:
            await self._context.cluster.send(make_order(self._context, workspace, kind))
        except Unreachable:
            return False
        except StaleOrder:
            # Our record was set back (an old backup, say): go above what the cluster has accepted.
            return await self._renew(workspace, Renew())
        except (InvalidInput, Refused) as error:
            if workspace.operation is None:
                raise
            problem = Problem(error.code, error.message, error.hint)
            return await self.perform(workspace, refused(workspace, workspace.operation, seen, problem), seen)
        return True

    async def _settle(self, workspace: Workspace, settle: Settle, seen: Observed) -> bool:
        now = self._context.clock.now()
        message = settle.condition.message if settle.condition else ""
        end = entries.ended(workspace, settle.phase, settle.outcome, now, message)
        facts = entries.seen_by_node(workspace, seen.report)
        if end.event is Event.FORKED:
            facts += entries.was_forked(workspace, now)
        record = self._with_replaced(_settled(_with_blueprints_of(workspace, seen), settle, now), settle, seen)
        if settle.release and settle.phase is not Phase.RUNNING:
            await self._context.store.release(record, [*facts, *entries.freed(workspace, now), end])
            self._dispatch.wake_waiting()
        else:
            await self._context.store.save(record, [*facts, end])
        log.info("settled", workspace=str(workspace.key), phase=settle.phase.value, outcome=settle.outcome.value)
        return True

    def _with_replaced(self, record: Workspace, settle: Settle, seen: Observed) -> Workspace:
        """With the snapshots in whose place that of a pause is: it was said before it began that they go."""
        last = record.last_operation
        if settle.snapshot is None or last is None or (last.kind, settle.phase) != (OperationKind.PAUSE, Phase.PAUSED):
            return record
        there = {manifest.id for manifest in seen.snapshots}
        more = replaced_by(settle.snapshot.id, seen.snapshots, self._context.terms(record).keep)
        return record.with_(replaced=tuple(sorted(there.intersection(record.replaced) | more)))

    async def _give_up(self, workspace: Workspace, condition: Condition | None) -> bool:
        assert workspace.operation is not None
        token = workspace.token + 1
        operation = replace(workspace.operation, token=token, given_up=True)
        why = _since(condition, self._context.clock.now()) or workspace.condition
        await self._context.store.save(workspace.with_(token=token, operation=operation, condition=why))
        return True

    async def _renew(self, workspace: Workspace, renew: Renew) -> bool:
        token = workspace.token + 1
        operation = workspace.operation
        if operation is None:
            await self._context.store.save(workspace.with_(token=token))
            return True
        delay = min(FIRST_RETRY_MS * 2**operation.attempt, LONGEST_RETRY_MS)
        now = self._context.clock.now()
        renewed = replace(operation, token=token, attempt=operation.attempt + 1, not_before=now + delay)
        condition = _since(renew.condition, now) or workspace.condition
        await self._context.store.save(workspace.with_(token=token, operation=renewed, condition=condition))
        return True

    async def _withdraw(self, workspace: Workspace, snapshot_ids: tuple[str, ...]) -> bool:
        """Ask for it again until the node has neither name nor bytes of it: only then is a deletion done."""
        try:
            for snapshot_id in snapshot_ids:
                await self._context.cluster.tend(SnapshotOrder(workspace.uid, snapshot_id, SnapshotChange.WITHDRAW))
            seen = await self._context.cluster.observe(workspace.uid)
        except (Unreachable, Conflict):
            return False
        there = {*seen.leaving, *(manifest.id for manifest in seen.snapshots)}
        left = tuple(each for each in snapshot_ids if each in there)
        if left == snapshot_ids:
            return False
        now = self._context.clock.now()
        gone = [each for each in snapshot_ids if each not in there]
        facts = [entries.entry(workspace, Event.SNAPSHOT_GONE, now, snapshot_id=each) for each in gone]
        await self._context.store.save(workspace.with_(unwanted=left), [replace(each, source="node") for each in facts])
        return True

    async def _forget(self, workspace: Workspace) -> bool:
        now = self._context.clock.now()
        facts = (entries.entry(workspace, Event.DELETED, now),)
        gone = [workspace.volume_id] if workspace.operation and workspace.operation.delete_files else []
        await self._context.store.remove(workspace, [*entries.freed(workspace, now), *facts], gone)
        self._dispatch.wake_waiting()
        return True


def _settled(workspace: Workspace, settle: Settle, now: int) -> Workspace:
    """The record as it is once its operation has ended."""
    operation = workspace.operation
    message = settle.condition.message if settle.condition else ""
    finished = workspace.last_operation
    if operation is not None:
        finished = FinishedOperation(operation.id, operation.kind, settle.outcome, message, now)
    paused = operation is not None and (operation.kind, settle.phase) == (OperationKind.PAUSE, Phase.PAUSED)
    found_paused = operation is None and settle.snapshot is not None
    origin = workspace.origin
    if origin is not None and operation is not None:
        came_to_be = (operation.kind, settle.phase) == (OperationKind.FORK, Phase.RUNNING)
        origin = replace(origin, forked_at=now) if came_to_be else origin
    kept_verdict = workspace.continuity if settle.phase is Phase.RUNNING else None
    return workspace.with_(
        phase=settle.phase,
        phase_since=now,
        condition=_since(settle.condition, now),
        operation=None,
        last_operation=finished,
        snapshot=settle.snapshot if paused or found_paused else workspace.snapshot,
        continuity=settle.continuity or kept_verdict,
        origin=origin,
    )


def _with_blueprints_of(workspace: Workspace, seen: Observed) -> Workspace:
    """Without the blueprints of sessions whose snapshots are gone."""
    if not seen.reachable:
        return workspace
    there = {manifest.id for manifest in seen.snapshots}
    return workspace.with_(blueprints={id_: made for id_, made in workspace.blueprints.items() if id_ in there})


def _since(condition: Condition | None, now: int) -> Condition | None:
    return None if condition is None else replace(condition, at=condition.at or now)
