"""What a failure trial has found so far, raw. Whatever was not reached stays None."""

from dataclasses import dataclass, field
from typing import Any

from intermezzo.client.continuity_models import ContinuityShape
from intermezzo.client.installation_models import EntryShape
from intermezzo.client.node_models import NodeShape
from intermezzo.client.operation_models import OperationShape
from intermezzo.reports.failure import Asked, Shown, Stored
from intermezzo.trials.cells import Ran


@dataclass(slots=True)
class Findings:
    """`value` was planted in memory; `gone_at` to `cancelled_at` is the time in which nothing could bring it back."""

    began_at: int
    ended_at: int = 0
    uid: str = ""
    value: str = ""
    node: NodeShape | None = None
    before: Ran | None = None
    snapshot_id: str = ""
    gone_at: int = 0
    cancelled_at: int = 0
    why: tuple[str, ...] = ()
    asked: list[Asked] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    held: bool = False
    restart: OperationShape | None = None
    started: ContinuityShape | None = None
    again: Ran | None = None
    recalled_afresh: Ran | None = None
    files_changed: str = ""
    resume: OperationShape | None = None
    ready_at: int = 0
    continuity: ContinuityShape | None = None
    recalled: Ran | None = None
    stored: list[Stored] = field(default_factory=list)
    left_over: tuple[str, ...] | None = None
    entries: list[EntryShape] = field(default_factory=list)
    problem: str = ""
    hint: str = ""

    def values(self, ran: Ran | None) -> dict[str, Any]:
        """What a cell told, nothing if it did not run."""
        return (ran.answer.values or {}) if ran and ran.answer.ran else {}
