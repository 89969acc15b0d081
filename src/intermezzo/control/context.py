"""What every part of the control loop works with, put together once by `intermezzo.app`."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from intermezzo.control.changes import Changes
from intermezzo.control.queue.standing import Standing
from intermezzo.control.queue.usage import Usage
from intermezzo.control.queue.waiters import Waiters
from intermezzo.domain.blueprint import Blueprint, blueprint, restored
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.kind import Kind
from intermezzo.domain.orders import Sandbox
from intermezzo.domain.policy import Keeps, Place, Policy, Said, said
from intermezzo.domain.quota import place_of
from intermezzo.domain.retention import Terms
from intermezzo.domain.server import Server
from intermezzo.domain.workspace import Workspace
from intermezzo.ports.clock import Clock
from intermezzo.ports.cluster import Cluster
from intermezzo.ports.session import Access, Session
from intermezzo.ports.store import Store


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a start or resume may take before it is given up, in milliseconds; and where no policy says otherwise,
    how many snapshots stay, for how long (0: without end), and how long before that owners are warned, in seconds."""

    start_ms: int = 120_000
    resume_ms: int = 600_000
    keep_snapshots: int = 2
    snapshot_age_s: int = 0
    snapshot_warn_s: int = 0


@dataclass(frozen=True, slots=True)
class IdlePauses:
    """Whether workspaces are paused for being idle at all, and how often that is looked at, in seconds."""

    pauses: bool = True
    every_s: float = 30.0


@dataclass(slots=True)
class Context:
    """The ports, the kinds and policies, the settings. `secret` signs the workspaces' own access tokens and is never
    stored beside them; `wake` puts a workspace uid on the work queue."""

    store: Store
    cluster: Cluster
    session: Session
    clock: Clock
    kinds: Mapping[str, Kind]
    secret: bytes = field(repr=False)
    limits: Limits = Limits()
    wake: Callable[[str], None] = lambda _uid: None
    changes: Changes = field(default_factory=Changes)
    policies: tuple[Policy, ...] = ()
    usage: Usage = field(default_factory=Usage)
    waiters: Waiters = field(default_factory=Waiters)
    standing: Standing = field(default_factory=Standing)
    home_bytes: dict[str, int] = field(default_factory=dict)
    idle: IdlePauses = IdlePauses()

    def access_token(self, workspace: Workspace) -> str:
        """The token of the server in this workspace's sandbox: the same on every start, unknown to other workspaces."""
        return self.access_token_of(workspace.uid)

    def access_token_of(self, uid: str) -> str:
        """The same, of a workspace that may be gone."""
        return hmac.new(self.secret, uid.encode(), hashlib.sha256).hexdigest()

    def access(self, workspace: Workspace, sandbox: Sandbox) -> Access:
        """How to reach this session."""
        return Access(sandbox.endpoint, self.access_token(workspace), self.server(workspace))

    def said(self, about: Workspace | Place) -> Said:
        """What the policies say about a workspace, or about one that would stand there."""
        return said(self.policies, about if isinstance(about, Place) else place_of(about))

    def terms(self, about: Workspace | Place) -> Terms:
        """What holds for its snapshots: as policies say, else as the settings do."""
        rules, limits = self.said(about).rules, self.limits
        age = limits.snapshot_age_s if rules.snapshot_age_s is None else rules.snapshot_age_s
        warn = limits.snapshot_warn_s if rules.snapshot_warn_s is None else rules.snapshot_warn_s
        return Terms(rules.keep_snapshots or limits.keep_snapshots, age * 1000, warn * 1000)

    def keeps_process(self, about: Workspace | Place) -> bool:
        """Whether a pause should keep the live session: as a policy says, else as the kind does."""
        place = about if isinstance(about, Place) else place_of(about)
        keeps = self.said(place).rules.pause_keeps
        kind = self.kinds.get(place.kind)
        return keeps is Keeps.PROCESS if keeps is not None else kind is None or kind.keeps_process

    def new_blueprint(self, workspace: Workspace) -> Blueprint:
        """What a fresh start of it is made from. Raises `InvalidInput` for a kind or an image that is gone."""
        return blueprint(self._kind(workspace), workspace.spec.image)

    def blueprint(self, workspace: Workspace, snapshot_id: str = "") -> Blueprint:
        """What its present sandbox was made from, or what the session of that snapshot comes back in; what a fresh
        start is made from where that is not recorded. Raises `InvalidInput` for a kind or an image that is gone and
        that something has to be read from."""
        made = workspace.blueprints.get(snapshot_id) or workspace.blueprint
        if made is None:
            return self.new_blueprint(workspace)
        kind = self.kinds.get(workspace.spec.kind)
        return restored(made, kind, workspace.spec.image) if snapshot_id and kind else made

    def server(self, workspace: Workspace) -> Server:
        """The server that this workspace runs. Raises `InvalidInput` for a kind or an image that is gone."""
        return self.blueprint(workspace).server

    def _kind(self, workspace: Workspace) -> Kind:
        kind = self.kinds.get(workspace.spec.kind)
        if kind is None:
            kinds = ", ".join(sorted(self.kinds))
            raise InvalidInput(f"the kind {workspace.spec.kind!r} of {workspace.key} is gone", f"There are: {kinds}.")
        return kind


def new_id() -> str:
    """A fresh id, safe in file names, labels and addresses."""
    return "i" + secrets.token_hex(12)
