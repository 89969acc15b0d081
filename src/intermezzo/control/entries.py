"""Ledger entries, made from what happened. Nothing here decides anything."""

from typing import Any

from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.orders import OrderReport
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import OperationKind, Outcome, Phase, Workspace

ASKED = {
    OperationKind.START: Event.START_ASKED,
    OperationKind.RESUME: Event.RESUME_ASKED,
    OperationKind.FORK: Event.FORK_ASKED,
    OperationKind.PAUSE: Event.PAUSE_ASKED,
    OperationKind.DELETE: Event.DELETE_ASKED,
}

SEEN_BY_NODE = {
    "frozen": Event.FROZEN,
    "durable": Event.SNAPSHOT_DONE,
    "process_gone": Event.PROCESS_GONE,
    "copied": Event.COPIED,
    "restored": Event.RESTORED,
    "renamed": Event.RENAMED,
    "answering": Event.SERVER_ANSWERED,
}


def entry(workspace: Workspace, event: Event, at: int, **details: Any) -> Entry:
    """An entry about this workspace, under the operation that it is in."""
    operation = workspace.operation
    return Entry(
        workspace_uid=workspace.uid,
        namespace=workspace.key.namespace,
        name=workspace.key.name,
        at=at,
        event=event,
        operation_id=operation.id if operation else "",
        actor=operation.asked_by if operation else "",
        details=details,
    )


def amount(resources: Resources) -> dict[str, Any]:
    """Resources as ledger details."""
    return {
        "cpu_millis": resources.cpu_millis,
        "memory_bytes": resources.memory_bytes,
        "accelerators": dict(resources.accelerators),
    }


def freed(workspace: Workspace, at: int) -> list[Entry]:
    """That the capacity which the workspace holds is given back; nothing where it holds none."""
    held = workspace.reservation
    if held is None:
        return []
    return [entry(workspace, Event.CAPACITY_FREED, at, node=held.node, **amount(held.amount))]


def was_forked(fork: Workspace, at: int) -> list[Entry]:
    """For the original's ledger: that a fork of it has come to be; nothing for what is no fork."""
    origin = fork.origin
    if origin is None:
        return []
    into = {"uid": fork.uid, "namespace": fork.key.namespace, "name": fork.key.name, "owner": fork.owner}
    return [
        Entry(
            workspace_uid=origin.workspace_uid,
            namespace=origin.key.namespace,
            name=origin.key.name,
            at=at,
            event=Event.WAS_FORKED,
            operation_id=fork.operation.id if fork.operation else "",
            actor=fork.operation.asked_by if fork.operation else "",
            details={"snapshot_id": origin.snapshot_id, "into": into},
        )
    ]


def seen_by_node(workspace: Workspace, report: OrderReport | None) -> list[Entry]:
    """What the node saw during the order that has just ended, with the node's own times."""
    if report is None or workspace.operation is None or report.token != workspace.operation.token:
        return []
    found = []
    for step, event in SEEN_BY_NODE.items():
        if step not in report.times:
            continue
        details: dict[str, Any] = {}
        if event is Event.SNAPSHOT_DONE and report.snapshot is not None:
            details = {"snapshot_id": report.snapshot.id, "bytes": report.snapshot.bytes}
        made = entry(workspace, event, report.times[step], **details)
        found.append(Entry(**{**_fields(made), "source": "node"}))
    return sorted(found, key=lambda e: e.at)


def _fields(made: Entry) -> dict[str, Any]:
    return {name: getattr(made, name) for name in Entry.__slots__}


def ended(workspace: Workspace, phase: Phase, outcome: Outcome, at: int, message: str) -> Entry:
    """How the operation ended, or that the session was lost without one."""
    operation = workspace.operation
    kind = operation.kind if operation else None
    if phase is Phase.FAILED and (kind is None or kind is OperationKind.PAUSE):
        event = Event.LOST
    else:
        event = _END[(kind, outcome is Outcome.SUCCEEDED)]
    return entry(workspace, event, at, phase=phase.value, message=message)


_END = {
    (OperationKind.START, True): Event.STARTED,
    (OperationKind.START, False): Event.START_FAILED,
    (OperationKind.RESUME, True): Event.RESUMED,
    (OperationKind.RESUME, False): Event.RESUME_FAILED,
    (OperationKind.FORK, True): Event.FORKED,
    (OperationKind.FORK, False): Event.FORK_FAILED,
    (OperationKind.PAUSE, True): Event.PAUSED,
    (OperationKind.PAUSE, False): Event.PAUSE_FAILED,
    (OperationKind.DELETE, True): Event.DELETED,
    (OperationKind.DELETE, False): Event.DELETE_ASKED,
    (None, True): Event.CANCELLED,
    (None, False): Event.CANCELLED,
}
