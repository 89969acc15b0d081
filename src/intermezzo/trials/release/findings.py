"""What a release check has found so far, raw. Whatever was not reached stays None."""

from dataclasses import dataclass, field

from intermezzo.client.continuity_models import ContinuityShape
from intermezzo.client.node_models import NodeShape
from intermezzo.client.operation_models import OperationShape
from intermezzo.client.snapshot_models import DifferenceShape
from intermezzo.client.workspace_models import SpecShape
from intermezzo.reports.failure import Stored
from intermezzo.reports.release import Losing
from intermezzo.trials.cells import Ran
from intermezzo.trials.release.edition import Change


@dataclass(slots=True)
class Expired:
    """How an old snapshot went: what was stored `before` the pause that made it go, and after it."""

    id: str = ""
    pauses: int = 0
    before: Stored | None = None
    after: Stored | None = None
    continuity: ContinuityShape | None = None
    problem: str = ""


@dataclass(slots=True)
class Findings:
    """`before` and `recalled` are the same cell before the pause and after the resume."""

    change: Change
    began_at: int
    ended_at: int = 0
    old_node: NodeShape | None = None
    new_node: NodeShape | None = None
    uid: str = ""
    spec: SpecShape | None = None
    value: str = ""
    before: Ran | None = None
    snapshot_id: str = ""
    snapshot_bytes: int | None = None
    pause: OperationShape | None = None
    paused_at: int = 0
    differences: tuple[DifferenceShape, ...] = ()
    refused: str = ""
    shown: str = ""
    resume: OperationShape | None = None
    resume_failed: str = ""
    ready_at: int = 0
    continuity: ContinuityShape | None = None
    recalled: Ran | None = None
    restart: OperationShape | None = None
    restarted_at: int = 0
    read: Ran | None = None
    expired: Expired | None = None
    losing: list[Losing] = field(default_factory=list)
    not_looked: str = ""
    problem: str = ""
    hint: str = ""
