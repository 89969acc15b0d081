"""What a pause-and-recover trial found, in the shape in which it is written down and shown.

Durations are seconds, sizes bytes, moments epoch milliseconds (UTC). What was not measured is None, never an estimate.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from intermezzo.domain.continuity import Verdict


class Part(BaseModel):
    """A part of the report; it does not change any more."""

    model_config = ConfigDict(frozen=True)


class Amount(Part):
    """Compute: CPUs, bytes of memory, accelerators by resource name. `virtual` names those that are only declared."""

    cpu: float = 0
    memory_bytes: int = 0
    accelerators: dict[str, int] = Field(default_factory=dict)
    virtual: tuple[str, ...] = ()


class Taken(Part):
    """Who took what the pause had given back, and from when until when."""

    name: str
    namespace: str
    at: int
    until: int | None = None
    amount: Amount
    said: str = ""


class Waiting(Part):
    """The second workspace before the pause: its place in the queue and the reason that it was given."""

    name: str
    position: int
    reason: str


class Kept(Part):
    """What stayed stored during the pause."""

    home: int | None = None
    snapshot: int | None = None


class Timings(Part):
    """Seconds. `resume_to_next_cell` leaves out `inspection`, the trial's own look at the files in between."""

    cold_to_ready: float | None = None
    cold_to_next_cell: float | None = None
    pause_to_free: float | None = None
    frozen_to_saved: float | None = None
    resume_waited: float | None = None
    resume_to_ready: float | None = None
    resume_to_next_cell: float | None = None
    recovery_to_ready: float | None = None
    recovery_from_files: float | None = None
    inspection: float = 0


class Answer(Part):
    """What the next cell gave: whether it ran, its text, and its last line where that is a JSON object."""

    ran: bool
    text: str = ""
    values: dict[str, Any] | None = None
    problem: str = ""


class Way(Part):
    """One way to the next cell: how long it took, what it brought back and what it did not."""

    name: str
    explanation: str
    seconds: float | None
    answer: Answer | None
    came_back: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class Moment(Part):
    """One moment of the cycle; `after_s` counts from the request that the step belongs to."""

    name: str
    at: int
    after_s: float
    source: str = ""


class Holding(Part):
    """A workspace held an amount of compute; `end` None: it held it when the trial ended."""

    name: str
    amount: Amount
    start: int
    end: int | None


class Staying(Part):
    """A workspace was in one state."""

    name: str
    state: str
    start: int
    end: int | None


class CycleNote(Part):
    """One pause with how it ended, and the verdict of each attempt to come back."""

    asked: int
    outcome: str
    returns: tuple[str, ...]


class StateLayer(Part):
    """One of the four layers of state, as the workspace stated it before the pause, and what the trial saw of it."""

    name: str
    kept_by_pause: bool
    statement: str
    way_back: str
    seen: str = ""


class StoredFile(Part):
    """One visible file of home; `sha256` is empty where it was not reckoned."""

    path: str
    bytes: int
    sha256: str = ""
    checkpoint: bool = False


class Files(Part):
    """Home at three moments: one digest over all names and contents, and the visible files one by one.

    `hidden_changed`: the visible files are equal, but hidden ones (settings, logs, history of the tools) are not.
    """

    before_pause: str = ""
    while_paused: str = ""
    after_resume: str = ""
    count: int = 0
    listed: tuple[StoredFile, ...] = ()
    changed: tuple[str, ...] = ()
    hidden_changed: bool = False


class NotebookNote(Part):
    """Which notebook was run."""

    name: str
    sha256: str
    cells_before: int
    next_cell: str


class Proof(Part):
    """The proof beyond the verdict: each process before and after, and what the notebook itself printed."""

    evidence: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    notebook_agrees: bool | None = None


class Result(Part):
    """What a trial is about: did the same process and the same files come back, and did others get the hardware?"""

    verdict: Verdict
    same_pid: bool
    same_nonce: bool
    files_equal: bool
    taken_by_other: Taken | None
    released: Amount | None


class TrialReport(Result):
    """Everything that one trial found. `passed` only if `shortcomings` is empty."""

    passed: bool
    shortcomings: tuple[str, ...]
    kept_bytes: Kept
    timings_s: Timings
    began_at: int
    ended_at: int
    notebook: NotebookNote
    proof: Proof
    ways: tuple[Way, ...]
    waiting: Waiting | None
    layers: tuple[StateLayer, ...]
    files: Files
    moments: tuple[Moment, ...]
    holds: tuple[Holding, ...]
    stays: tuple[Staying, ...]
    cycles: tuple[CycleNote, ...]
    hint: str = ""
    accelerator: str = ""
    machine: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
