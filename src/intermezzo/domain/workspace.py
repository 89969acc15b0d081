"""The record of one workspace: what its owner wants, what phase it is in, and the operation under way.

Records are immutable values; a change is a new value with a higher `revision`. All times are epoch
milliseconds, UTC. This module holds no rules about what happens next: those are in `lifecycle`.
"""

import shlex
from dataclasses import dataclass, field, replace
from enum import StrEnum

from intermezzo.domain.blueprint import Blueprint
from intermezzo.domain.continuity import Continuity, WitnessReport
from intermezzo.domain.held import Acceptance
from intermezzo.domain.mounts import DataVolume, Mount
from intermezzo.domain.resources import Resources
from intermezzo.domain.snapshot import Manifest


class Phase(StrEnum):
    """The one plain state that a workspace always shows."""

    QUEUED = "Queued"
    STARTING = "Starting"
    RUNNING = "Running"
    PAUSING = "Pausing"
    PAUSED = "Paused"
    RESUMING = "Resuming"
    FAILED = "Failed"
    DELETING = "Deleting"


SETTLED = frozenset({Phase.RUNNING, Phase.PAUSED, Phase.FAILED})


class OperationKind(StrEnum):
    """What one operation tries to bring about. `start` begins from the files; `resume` from a snapshot; `fork` is the
    first one of a workspace that begins as a copy of another, from that one's snapshot and files."""

    START = "start"
    RESUME = "resume"
    FORK = "fork"
    PAUSE = "pause"
    DELETE = "delete"


class Outcome(StrEnum):
    """How an operation ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, order=True)
class WorkspaceKey:
    """The name people use: unique together with its namespace."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def typed(self) -> str:
        """As one word of a command line, whatever is in it."""
        return shlex.quote(str(self))


@dataclass(frozen=True, slots=True)
class WorkspaceSpec:
    """What the owner chose: the kind, and by id one of its images and one of its sizes (Kubeflow's pod config).

    `home` names a home volume to use; empty means a new one of its own. `data` are the data volumes wanted beside it.
    """

    kind: str
    image: str
    pod: str
    display_name: str = ""
    home: str = ""
    env: dict[str, str] = field(default_factory=dict)
    data: tuple[DataVolume, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """Why a workspace is as it is: a stable `reason`, one plain sentence, and the ways out, safest first."""

    reason: str
    message: str
    hint: str = ""
    ways_out: tuple[str, ...] = ()
    at: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One attempt at a change. `token` fences it: a higher token makes every lower one powerless.

    `snapshot_id` is the snapshot that a pause writes or a resume reads. `planted` says that the continuity nonces
    are in place, `proven` that the verdict of a resume is in. `deadline` bounds a start or resume. `not_before`
    holds it back after a passing fault; `given_up` says that what it began is being stopped. `delete_files` makes
    a delete take the home volume too. `snapshot` is the one that a resume reads, as it was when it was asked for;
    `accepted` is what may be different then.
    """

    id: str
    kind: OperationKind
    token: int
    asked_by: str
    asked_at: int
    came_from: Phase
    snapshot_id: str = ""
    planted: bool = False
    proven: bool = False
    deadline: int = 0
    not_before: int = 0
    attempt: int = 0
    delete_files: bool = False
    given_up: bool = False
    snapshot: Manifest | None = None
    accepted: Acceptance = Acceptance.NOTHING


@dataclass(frozen=True, slots=True)
class Origin:
    """What a fork is made from: a snapshot of another workspace, and the files in that one's home as they are then.

    `planted` is what the original's processes held when they were saved. `forked_at` is the epoch millisecond at which
    the fork came to be, 0 until then: until then it has no files of its own.
    """

    workspace_uid: str
    key: WorkspaceKey
    snapshot_id: str
    volume_id: str
    planted: WitnessReport | None = None
    forked_at: int = 0


@dataclass(frozen=True, slots=True)
class FinishedOperation:
    """The last operation that ended, kept so that a late question about it has an answer."""

    id: str
    kind: OperationKind
    outcome: Outcome
    message: str
    ended_at: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """Capacity held on a node for a workspace since `since`."""

    node: str
    amount: Resources
    since: int


@dataclass(frozen=True, slots=True)
class Workspace:
    """Everything the control plane remembers about a workspace. `token` is the highest fencing token ever issued.

    `snapshot` is what a resume brings back unless another one is named. `blueprint` is what its present or last sandbox
    was made from, `blueprints` what those were whose sessions are saved. `unwanted` are ids of snapshots that were
    deleted and that the node may still have, `replaced` of those in whose place a pause wrote a newer one. `volume_id`
    is its home volume, `mounts` are its data volumes. `origin` is there for a fork only.
    """

    uid: str
    key: WorkspaceKey
    owner: str
    spec: WorkspaceSpec
    demand: Resources
    limits: Resources
    volume_id: str
    created_at: int
    revision: int = 0
    phase: Phase = Phase.QUEUED
    phase_since: int = 0
    condition: Condition | None = None
    operation: Operation | None = None
    last_operation: FinishedOperation | None = None
    token: int = 0
    reservation: Reservation | None = None
    node: str = ""
    snapshot: Manifest | None = None
    planted: dict[str, WitnessReport] = field(default_factory=dict)  # by snapshot id
    continuity: Continuity | None = None
    queued_at: int = 0
    unwanted: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    blueprint: Blueprint | None = None
    blueprints: dict[str, Blueprint] = field(default_factory=dict)  # by snapshot id
    mounts: tuple[Mount, ...] = ()
    origin: Origin | None = None

    @property
    def unmade(self) -> Origin | None:
        """What it is to be a fork of, as long as it has not come to be."""
        return self.origin if self.origin is not None and not self.origin.forked_at else None

    @property
    def home_name(self) -> str:
        """What people call its home volume."""
        return self.spec.home or self.volume_id

    @property
    def volume_ids(self) -> tuple[str, ...]:
        """Every volume that it uses, once."""
        return tuple(dict.fromkeys((self.volume_id, *(mount.volume_id for mount in self.mounts))))

    def with_(self, **changes: object) -> "Workspace":
        """A copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]
