"""Orders that the control plane sends to a cluster, and what the cluster reports back.

An order is accepted, not done: its end is seen by observing. Orders are idempotent: the same (token, kind)
sent twice is one order. A cluster refuses an order whose token is lower than one it has accepted, gives up
what a lower token had under way, and never runs two sandboxes for one workspace.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from intermezzo.domain.held import Acceptance
from intermezzo.domain.mounts import Mount
from intermezzo.domain.resources import Resources
from intermezzo.domain.server import Server
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import Transfer


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What a sandbox is made from; `access_token` must never be logged.

    `base_path` is the one that the server itself answers under; it begins and ends with `/`, and is only that for a
    server whose prefix the gateway takes away. `mounts` are the data volumes, beside the home volume `volume_id`.
    `cpu_features` are the only ones of the node's that its programs may see; empty for all.
    """

    hostname: str
    environment: str
    server: Server
    port: int
    base_path: str
    home_mount: str
    volume_id: str
    limits: Resources
    access_token: str = field(repr=False, default="")
    env: dict[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    cpu_features: tuple[str, ...] = ()

    @property
    def volume_ids(self) -> tuple[str, ...]:
        """Every volume that the sandbox has, once."""
        return tuple(dict.fromkeys((self.volume_id, *(mount.volume_id for mount in self.mounts))))


@dataclass(frozen=True, slots=True)
class StartOrder:
    """Start from the files. Any sandbox of this workspace that is still there is ended first.

    `node` is where capacity is held for it; a cluster of one node has no choice and does not read it.
    """

    workspace_uid: str
    token: int
    operation_id: str
    sandbox: SandboxSpec
    node: str = ""
    kind: Literal["start"] = "start"


@dataclass(frozen=True, slots=True)
class PauseOrder:
    """Save the live session as `snapshot_id` and end the sandbox: all of it, or nothing (the session runs on).

    With an empty `snapshot_id`, or an engine that keeps no process, the sandbox is ended in an orderly way and no
    snapshot is made. Older snapshots stay: which of them may go is not for a cluster to decide.
    """

    workspace_uid: str
    token: int
    operation_id: str
    snapshot_id: str
    kind: Literal["pause"] = "pause"


@dataclass(frozen=True, slots=True)
class ResumeOrder:
    """Restore `snapshot_id` into a new sandbox, on `node`. On failure the snapshot is untouched, no sandbox is left.

    A snapshot that is damaged or does not fit is refused before anything is made, and so is one whose session holds
    files open that are not what they were, unless that is `accepted`.
    """

    workspace_uid: str
    token: int
    operation_id: str
    snapshot_id: str
    sandbox: SandboxSpec
    node: str = ""
    accepted: Acceptance = Acceptance.NOTHING
    kind: Literal["resume"] = "resume"


@dataclass(frozen=True, slots=True)
class ForkOrder:
    """Restore a snapshot of the workspace `origin_uid` into a sandbox of another workspace, over a copy of its home.

    First the volume `origin_volume_id` is copied, as it is, to the volume that `sandbox` names, unless that is there.
    Before anything can reach the restored session it gets the identity that `sandbox` tells: access token, path,
    hostname, variables, and random numbers of its own. On failure neither sandbox nor copy is left, and the original,
    its snapshot and its files are untouched.
    """

    workspace_uid: str
    token: int
    operation_id: str
    origin_uid: str
    origin_volume_id: str
    snapshot_id: str
    sandbox: SandboxSpec
    node: str = ""
    accepted: Acceptance = Acceptance.NOTHING
    kind: Literal["fork"] = "fork"


@dataclass(frozen=True, slots=True)
class StopOrder:
    """End whatever sandbox there is; keep files and snapshots."""

    workspace_uid: str
    token: int
    operation_id: str
    kind: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class RemoveOrder:
    """End the sandbox and delete every snapshot, and the home volume too where `volume_id` is given."""

    workspace_uid: str
    token: int
    operation_id: str
    volume_id: str = ""
    kind: Literal["remove"] = "remove"


Order = StartOrder | PauseOrder | ResumeOrder | ForkOrder | StopOrder | RemoveOrder


class SnapshotChange(StrEnum):
    """What can be done to a complete snapshot. None of it touches a session.

    `pin` keeps it whatever its age, until `unpin`. `verify` has its files compared with their checksums as soon as
    nobody needs the disk; the end is seen in the manifest. `withdraw` takes its name away at once, its bytes follow.
    """

    PIN = "pin"
    UNPIN = "unpin"
    VERIFY = "verify"
    WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True)
class SnapshotOrder:
    """A change of one snapshot. It carries no token: ids of snapshots are never used twice, and each change is
    idempotent."""

    workspace_uid: str
    snapshot_id: str
    change: SnapshotChange


class OrderState(StrEnum):
    """How far an accepted order is."""

    WORKING = "working"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long step is; `total` is 0 where nobody knows."""

    step: str
    done: int = 0
    total: int = 0
    unit: str = "bytes"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an order failed: a stable code, one plain sentence, what to do, and the engine's own words."""

    code: str
    message: str
    hint: str = ""
    detail: str = ""


VOLUME_UNAVAILABLE = "volume_unavailable"
"""The code of a start or resume whose files are not there yet, such as a disk that another node still holds: nothing
was made, and the same order can be carried out once they are."""


@dataclass(frozen=True, slots=True)
class OrderReport:
    """The cluster's account of the last order it accepted for a workspace.

    `times` maps a step's name to the epoch millisecond at which it was complete; the names are
    `accepted`, `preflight`, `frozen`, `saved`, `durable`, `process_gone`, `sandbox_gone`, `brought` (the files of a
    snapshot, from a store or decrypted), `verified`, `copied`, `restored`, `renamed` (a fork has an identity of its
    own), `answering`. A failed `start`, `resume` or `fork` leaves no sandbox; a failed `pause` leaves the session
    running, or says with code `session_lost` that it could not be kept.
    """

    kind: str
    token: int
    operation_id: str
    state: OrderState
    progress: Progress | None = None
    problem: Problem | None = None
    times: dict[str, int] = field(default_factory=dict)
    snapshot: Manifest | None = None


class SandboxState(StrEnum):
    """What a sandbox is doing, as seen from outside."""

    STARTING = "starting"
    RUNNING = "running"
    FROZEN = "frozen"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the control plane and the gateway reach what runs inside a sandbox."""

    host: str
    port: int
    base_path: str
    guest_port: int


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A runtime unit that exists now. `id` is new for every start and every resume."""

    id: str
    token: int
    state: SandboxState
    node: str
    endpoint: Endpoint
    memory_bytes: int = 0
    keeps_process: bool = True


@dataclass(frozen=True, slots=True)
class Observed:
    """What a cluster sees of one workspace right now. `reachable` false means: nothing is known.

    `transfers` is the work on snapshots that goes on, or stands still, beside the orders. `leaving` are ids of
    withdrawn snapshots of which bytes are still there.
    """

    reachable: bool = True
    sandbox: Sandbox | None = None
    report: OrderReport | None = None
    snapshots: tuple[Manifest, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    leaving: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HomeSummary:
    """The persistent files of a workspace: how many, how large, and one digest (sha256) over names and contents.

    The digest leaves out the environment record, which Intermezzo renews before every pause."""

    files: int
    bytes: int
    digest: str
