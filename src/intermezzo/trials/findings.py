"""What a trial has found so far, raw. Filled step by step; whatever was not reached stays None."""

from dataclasses import dataclass, field

from intermezzo.client.continuity_models import ContinuityShape
from intermezzo.client.installation_models import EntryShape
from intermezzo.client.node_models import NodeShape
from intermezzo.client.operation_models import OperationShape
from intermezzo.client.workspace_models import HomeShape, WorkspaceDetail
from intermezzo.reports.trial import StoredFile, Waiting
from intermezzo.trials.cells import Ran
from intermezzo.trials.notebook import Notebook


@dataclass(slots=True)
class Findings:
    """Operations give the moment at which each step was asked for; `Ran` the moment at which a cell had its answer."""

    notebook: Notebook
    began_at: int
    ended_at: int = 0
    node: NodeShape | None = None
    before: WorkspaceDetail | None = None
    created_at: int = 0
    ready_at: int = 0
    cold: Ran | None = None
    waiting: Waiting | None = None
    home_before: HomeShape | None = None
    home_paused: HomeShape | None = None
    home_after: HomeShape | None = None
    files_before: tuple[StoredFile, ...] = ()
    files_after: tuple[StoredFile, ...] = ()
    pause: OperationShape | None = None
    still_held: bool = False
    second_said: str = ""
    resume: OperationShape | None = None
    resume_failed: str = ""
    continuity: ContinuityShape | None = None
    inspection_s: float = 0
    resumed: Ran | None = None
    restart: OperationShape | None = None
    restarted_at: int = 0
    recovered: Ran | None = None
    entries: list[EntryShape] = field(default_factory=list)
    problem: str = ""
    hint: str = ""
