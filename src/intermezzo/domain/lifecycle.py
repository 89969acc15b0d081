"""The lifecycle of a workspace: which commands each phase allows, and the one next action. Read this first.

`plan` is pure and total. It looks at what is recorded and what is observed, never at what event woke it, so that
after any crash the same call gives the right continuation. It never touches the world: see control/loop/reconciler.py.
"""

from dataclasses import replace
from enum import StrEnum
from typing import TypeGuard

from intermezzo.domain import reasons
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
from intermezzo.domain.continuity import Continuity, Verdict
from intermezzo.domain.orders import VOLUME_UNAVAILABLE, Observed, OrderReport, OrderState, Problem
from intermezzo.domain.snapshot import Manifest, newest_first
from intermezzo.domain.transfer import TransferStep
from intermezzo.domain.workspace import Operation, OperationKind, Outcome, Phase, Workspace


class Command(StrEnum):
    """What a person can ask for. `resume` wants the live session back, `restart` begins afresh from the files."""

    RESUME = "resume"
    RESTART = "restart"
    PAUSE = "pause"
    DELETE = "delete"


ALLOWED: dict[Phase, dict[Command, Phase]] = {
    Phase.QUEUED: {Command.PAUSE: Phase.PAUSED, Command.DELETE: Phase.DELETING},
    Phase.STARTING: {Command.DELETE: Phase.DELETING},
    Phase.RUNNING: {Command.PAUSE: Phase.PAUSING, Command.RESTART: Phase.STARTING, Command.DELETE: Phase.DELETING},
    Phase.PAUSING: {Command.DELETE: Phase.DELETING},
    Phase.PAUSED: {Command.RESUME: Phase.QUEUED, Command.RESTART: Phase.QUEUED, Command.DELETE: Phase.DELETING},
    Phase.RESUMING: {Command.DELETE: Phase.DELETING},
    Phase.FAILED: {Command.RESUME: Phase.QUEUED, Command.RESTART: Phase.QUEUED, Command.DELETE: Phase.DELETING},
    Phase.DELETING: {Command.DELETE: Phase.DELETING},
}
"""What each phase lets a person do, and the phase that it leads to at once. Buttons come from this table."""

ENDS: dict[OperationKind, tuple[Phase, ...]] = {
    OperationKind.START: (Phase.RUNNING, Phase.PAUSED, Phase.FAILED),
    OperationKind.RESUME: (Phase.RUNNING, Phase.PAUSED),
    OperationKind.FORK: (Phase.RUNNING, Phase.FAILED),
    OperationKind.PAUSE: (Phase.PAUSED, Phase.RUNNING, Phase.FAILED),
    OperationKind.DELETE: (),
}
"""The phases in which each kind of operation can end; a delete ends with the record gone."""

KUBEFLOW_STATE: dict[Phase, str] = {
    Phase.QUEUED: "Pending",
    Phase.STARTING: "Pending",
    Phase.RUNNING: "Running",
    Phase.PAUSING: "Running",
    Phase.PAUSED: "Paused",
    Phase.RESUMING: "Pending",
    Phase.FAILED: "Error",
    Phase.DELETING: "Terminating",
}

_BRINGS_UP: dict[OperationKind, OrderKind] = {
    OperationKind.START: "start",
    OperationKind.RESUME: "resume",
    OperationKind.FORK: "fork",
}

UNREACHABLE_RETRY_MS = 1_000
LONGEST_RETRY_MS = 15_000
COPYING = "copying"
"""A step of a fork, as its progress names it."""
UNBOUNDED = frozenset({COPYING, TransferStep.FETCHING.value, TransferStep.DECRYPTING.value})
"""Steps that take as long as they have bytes to move, which is seen: they have no deadline."""


def plan(workspace: Workspace, seen: Observed, now: int) -> Action:
    """The one next action for this workspace. `now` is in epoch milliseconds."""
    operation = workspace.operation
    if not seen.reachable:
        # A settled workspace keeps saying why it is as it is: what it lost, how it failed, and the ways out.
        if workspace.condition is None and workspace.phase not in {Phase.PAUSED, Phase.FAILED}:
            return Note(reasons.node_silent())
        return Wait(now + UNREACHABLE_RETRY_MS)
    if operation is None:
        return _at_rest(workspace, seen)
    # A clock that was set back must not make anybody wait for longer than an attempt is ever put off.
    if now < operation.not_before <= now + LONGEST_RETRY_MS:
        return Wait(operation.not_before)
    match operation.kind:
        case OperationKind.START:
            return _start(workspace, operation, seen, now)
        case OperationKind.RESUME | OperationKind.FORK:
            return _resume(workspace, operation, seen, now)
        case OperationKind.PAUSE:
            return _pause(workspace, operation, seen)
        case OperationKind.DELETE:
            return _delete(operation, seen)


def with_original(workspace: Workspace, seen: Observed, original: Observed) -> Observed:
    """What is seen of a fork that has not come to be, with the snapshot of its original that it is to be made from."""
    origin = workspace.unmade
    if origin is None or not original.reachable:
        return replace(seen, reachable=seen.reachable and original.reachable)
    wanted = tuple(m for m in original.snapshots if m.id == origin.snapshot_id)
    return replace(seen, snapshots=seen.snapshots + wanted)


def _report(seen: Observed, token: int, kind: str) -> OrderReport | None:
    report = seen.report
    return report if report is not None and (report.token, report.kind) == (token, kind) else None


def _at_rest(workspace: Workspace, seen: Observed) -> Action:
    """What nobody wants any more is cleared away when there is nothing else to do: a disk may refuse for long."""
    action = _settled(workspace, seen)
    return Withdraw(workspace.unwanted) if workspace.unwanted and isinstance(action, Rest) else action


def _settled(workspace: Workspace, seen: Observed) -> Action:
    match workspace.phase:
        case Phase.RUNNING:
            if seen.sandbox is None:
                since = _paused_since(workspace, seen)
                if since is not None:
                    return Settle(Phase.PAUSED, Outcome.FAILED, reasons.paused_since(), snapshot=since)
                return Settle(Phase.FAILED, Outcome.FAILED, reasons.session_lost(workspace))
        case Phase.PAUSED | Phase.FAILED:
            if seen.sandbox is not None:
                return _stop_stray(workspace, seen)
            if workspace.reservation is not None:
                return Settle(workspace.phase, Outcome.SUCCEEDED, workspace.condition)
        case _:
            return _without_operation(workspace, seen)
    if workspace.condition is not None and workspace.condition.reason == reasons.NODE_SILENT:
        return Note(None)
    return Rest()


def _paused_since(workspace: Workspace, seen: Observed) -> Manifest | None:
    """The newest whole snapshot, if the record is older and knows nothing of it, as after a backup was put back."""
    newest = next(iter(newest_first(m for m in seen.snapshots if m.id not in workspace.unwanted)), None)
    if newest is None or newest.damage or newest.created_at <= workspace.phase_since:
        return None
    known = workspace.snapshot
    return newest if known is None or known.created_at < newest.created_at else None


def _stop_stray(workspace: Workspace, seen: Observed) -> Action:
    """Every order has a token of its own, so that one which comes late cannot undo what came after it."""
    report = seen.report
    if report is None or report.token < workspace.token:
        return Send("stop")
    return Rest() if report.kind == "stop" and report.state is OrderState.WORKING else Renew()


def _without_operation(workspace: Workspace, seen: Observed) -> Action:
    """A record that is under way with no operation to drive it was not written by us: settle by the evidence."""
    if seen.sandbox is not None and workspace.reservation is not None:
        return Settle(Phase.RUNNING, Outcome.FAILED, reasons.record_repaired())
    phase = Phase.PAUSED if workspace.snapshot is not None else Phase.FAILED
    return Settle(phase, Outcome.FAILED, reasons.record_repaired())


def _start(workspace: Workspace, operation: Operation, seen: Observed, now: int) -> Action:
    if workspace.phase is Phase.QUEUED:
        return Acquire()
    return _bring_up(workspace, operation, seen, now)


def _resume(workspace: Workspace, operation: Operation, seen: Observed, now: int) -> Action:
    if workspace.phase is Phase.QUEUED:
        unusable = _unusable(operation, seen)
        if unusable is None:
            return Acquire()
        reason = reasons.not_brought_up(workspace, operation, unusable, seen)
        return Settle(_without_session(workspace, operation), Outcome.FAILED, reason)
    return _bring_up(workspace, operation, seen, now)


def _unusable(operation: Operation, seen: Observed) -> Problem | None:
    """Why the snapshot that a resume waits with is of no use any more: nobody should wait for capacity with it."""
    found = next((m for m in seen.snapshots if m.id == operation.snapshot_id), None)
    if found is None:
        return Problem(reasons.SNAPSHOT_MISSING, f"snapshot {operation.snapshot_id} is not on its node")
    if found.damage:
        return Problem("snapshot_damaged", f"snapshot {found.id} is damaged: {found.damage}")
    return None


def _without_session(workspace: Workspace, operation: Operation) -> Phase:
    """Where a start or resume that failed leaves a workspace: paused if there is something to come back to."""
    if operation.kind is OperationKind.FORK:
        return Phase.FAILED
    paused = operation.kind is OperationKind.RESUME or operation.came_from is Phase.PAUSED
    return Phase.PAUSED if paused or workspace.snapshot is not None else Phase.FAILED


def _bring_up(workspace: Workspace, operation: Operation, seen: Observed, now: int) -> Action:
    """The common way of a start, a resume and a fork once capacity is held: order, wait, prove or give up."""
    kind = _BRINGS_UP[operation.kind]
    if operation.given_up:
        return _given_up(workspace, operation, seen)
    report = _report(seen, operation.token, kind)
    deadline = _deadline(workspace, operation, report)
    late = bool(deadline) and now >= deadline
    if report is None:
        return GiveUp() if late else Send(kind)
    match report.state:
        case OrderState.WORKING if report.progress is not None and report.progress.step in UNBOUNDED:
            return Rest()
        case OrderState.WORKING:
            return GiveUp() if late else Wait(deadline)
        case OrderState.FAILED:
            if seen.sandbox is not None:
                return GiveUp()
            if _passes(report.problem) and not late and operation.kind is not OperationKind.FORK:
                return Renew(reasons.volume_awaited(report.problem))
            reason = reasons.not_brought_up(workspace, operation, report.problem, seen)
            if operation.kind is OperationKind.FORK:
                return GiveUp(reason)
            return Settle(_without_session(workspace, operation), Outcome.FAILED, reason)
        case OrderState.DONE:
            if seen.sandbox is None:
                reason = reasons.ended_at_once(workspace, operation, seen)
                if operation.kind is OperationKind.FORK:
                    return GiveUp(reason)
                return Settle(_without_session(workspace, operation), Outcome.FAILED, reason)
            return _arrived(workspace, operation)


def _passes(problem: Problem | None) -> TypeGuard[Problem]:
    """Whether that is a fault which goes away by itself: the order is sent again until the time is over."""
    return problem is not None and problem.code == VOLUME_UNAVAILABLE


def _deadline(workspace: Workspace, operation: Operation, report: OrderReport | None) -> int:
    """What comes after the bytes were moved, of the files or of the snapshot, is bounded anew."""
    times = report.times if report is not None else {}
    moved = max(times.get("copied", 0), times.get("brought", 0))
    return max(operation.deadline, moved + operation.deadline - workspace.phase_since) if moved else operation.deadline


def _arrived(workspace: Workspace, operation: Operation) -> Action:
    if operation.kind is OperationKind.START:
        started = Continuity(Verdict.FRESH, ("started from the files",))
        return Settle(Phase.RUNNING, Outcome.SUCCEEDED, None, continuity=started)
    if not operation.proven:
        return Prove()
    continuity = workspace.continuity
    if operation.kind is OperationKind.FORK:
        if continuity is None or continuity.verdict is not Verdict.FORKED:
            return GiveUp(reasons.not_forked(workspace))
        return Settle(Phase.RUNNING, Outcome.SUCCEEDED, None)
    restored = continuity is not None and continuity.verdict is Verdict.RESTORED
    return Settle(Phase.RUNNING, Outcome.SUCCEEDED, None if restored else reasons.not_restored(continuity))


def _given_up(workspace: Workspace, operation: Operation, seen: Observed) -> Action:
    """What it began is stopped; of a fork everything goes, as nothing in it is anybody's yet."""
    forking = operation.kind is OperationKind.FORK
    kind: OrderKind = "remove" if forking else "stop"
    stopped = _report(seen, operation.token, kind)
    if stopped is None:
        return Send(kind)
    if stopped.state is OrderState.WORKING:
        return Rest()
    if seen.sandbox is not None or (forking and stopped.state is OrderState.FAILED):
        return Renew()
    if forking and workspace.condition is not None and workspace.condition.reason == reasons.FORK_FAILED:
        return Settle(Phase.FAILED, Outcome.FAILED, workspace.condition)
    reason = reasons.took_too_long(workspace, operation, seen)
    return Settle(_without_session(workspace, operation), Outcome.FAILED, reason)


def _pause(workspace: Workspace, operation: Operation, seen: Observed) -> Action:
    report = _report(seen, operation.token, "pause")
    saved = next((m for m in seen.snapshots if m.id == operation.snapshot_id), None)
    if report is not None and report.state is OrderState.WORKING:
        return Rest()
    if seen.sandbox is None:
        if saved is not None or (report is not None and report.state is OrderState.DONE):
            return Settle(Phase.PAUSED, Outcome.SUCCEEDED, None, snapshot=saved)
        return Settle(Phase.FAILED, Outcome.FAILED, reasons.session_lost(workspace))
    if report is None:
        if operation.snapshot_id and seen.sandbox.keeps_process and not operation.planted:
            return Plant()
        return Send("pause")
    if report.state is OrderState.DONE:
        return Renew()
    return Settle(Phase.RUNNING, Outcome.FAILED, reasons.pause_failed(report.problem), release=False)


def refused(workspace: Workspace, operation: Operation, seen: Observed, problem: Problem) -> Settle | Renew:
    """How an operation goes on whose order the cluster will never take: sending it again would be refused again."""
    match operation.kind:
        case OperationKind.DELETE:
            return Renew(reasons.delete_failed(problem))
        case OperationKind.PAUSE:
            return Settle(Phase.RUNNING, Outcome.FAILED, reasons.pause_failed(problem), release=False)
        case OperationKind.FORK:
            condition = reasons.not_brought_up(workspace, operation, problem, seen)
            return Settle(Phase.FAILED, Outcome.FAILED, condition)
        case OperationKind.START | OperationKind.RESUME:
            condition = reasons.not_brought_up(workspace, operation, problem, seen)
            if seen.sandbox is not None:
                return Settle(Phase.RUNNING, Outcome.FAILED, condition, release=False)
            return Settle(_without_session(workspace, operation), Outcome.FAILED, condition)


def _delete(operation: Operation, seen: Observed) -> Action:
    report = _report(seen, operation.token, "remove")
    if report is None:
        return Send("remove")
    match report.state:
        case OrderState.WORKING:
            return Rest()
        case OrderState.DONE:
            return Forget()
        case OrderState.FAILED:
            return Renew(reasons.delete_failed(report.problem))
