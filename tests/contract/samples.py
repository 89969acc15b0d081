"""Records to store, with every field that can be filled in filled in."""

from intermezzo.domain.continuity import Continuity, Verdict, Witness, WitnessReport
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.resources import Resources
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import (
    Condition,
    FinishedOperation,
    Operation,
    OperationKind,
    Origin,
    Outcome,
    Phase,
    Reservation,
    Workspace,
    WorkspaceKey,
    WorkspaceSpec,
)

GPU = "nvidia.com/gpu"
NODE = "node-1"


def workspace(uid: str = "u1", name: str = "experiment", namespace: str = "team", **changes: object) -> Workspace:
    return Workspace(
        uid,
        WorkspaceKey(namespace, name),
        "ada@example.com",
        WorkspaceSpec("jupyterlab", "jupyterlab", "gpu"),
        Resources(1000, 2**31, {GPU: 1}),
        Resources(1000, 2**31, {GPU: 1}),
        f"volume-{uid}",
        1_700_000_000_000,
    ).with_(**changes)


def full(uid: str = "u1") -> Workspace:
    report = WitnessReport(5, (Witness("kernel", "k1", 20, 1000, "n"), Witness("init", "init", 1, 900, "m")), 4)
    return workspace(
        uid,
        spec=WorkspaceSpec("jupyterlab", "jupyterlab", "gpu", "Ünïcode 名前", env={"A": "1"}),
        phase=Phase.RESUMING,
        phase_since=7,
        condition=Condition("engine_failure", "It ended.", "Try again.", ("resume", "start fresh"), 8, "exit 128"),
        operation=Operation("o2", OperationKind.RESUME, 9, "ada", 10, Phase.PAUSED, "s1", True, False, 11, 12, 2),
        last_operation=FinishedOperation("o1", OperationKind.PAUSE, Outcome.SUCCEEDED, "", 6),
        token=9,
        node=NODE,
        snapshot=Manifest("s1", uid, "o1", 6, 2**40, {"memory": 2**40}, {"memory": "ab"}, "runsc", "1"),
        planted={"s1": report},
        continuity=Continuity(Verdict.FRESH, ("kernel k1 is gone",), report, None),
        queued_at=3,
        origin=Origin("u0", WorkspaceKey("team", "first"), "s0", "volume-u0", report, 5),
    )


def reservation(amount: Resources | None = None, node: str = NODE) -> Reservation:
    return Reservation(node, amount or Resources(1000, 2**31, {GPU: 1}), 42)


def entry(uid: str = "u1", at: int = 1, event: Event = Event.CREATED, **details: object) -> Entry:
    return Entry(uid, "team", "experiment", at, event, "o1", "ada", "control", details)
