"""What exists in a simulated cluster: nodes, sandboxes, saved sessions and volumes.

Only facts, no orders: `workers` change this world one step at a time. It notes every breach of the promises that a
cluster must never break, so that a test can ask for them whatever else it looks at.
"""

from dataclasses import dataclass, field, replace
from itertools import count

from intermezzo.adapters.memory.opened import changed, held
from intermezzo.adapters.memory.process import Memory, ProcessTable
from intermezzo.domain.compatibility import Site
from intermezzo.domain.home_record import EnvironmentRecord, HomeRecord, SaveAnswer, SavedCheckpoint
from intermezzo.domain.home_record import newest_first as newest_checkpoints
from intermezzo.domain.kind import EMBEDDED
from intermezzo.domain.levelling import seen
from intermezzo.domain.orders import Endpoint, Sandbox, SandboxSpec, SandboxState
from intermezzo.domain.resources import EngineInfo, Node, Resources
from intermezzo.domain.snapshot import Examined, Manifest, made_after, newest_first
from intermezzo.domain.transfer import Transfer
from intermezzo.ports.clock import Clock

_FIRST_PORT = 20_000


@dataclass(slots=True)
class LiveSandbox:
    """A sandbox that exists, with the memory that a pause must keep."""

    workspace_uid: str
    token: int
    id: str
    node: Node
    port: int
    spec: SandboxSpec
    memory: Memory
    state: SandboxState = SandboxState.STARTING
    answers: bool = True

    @property
    def memory_bytes(self) -> int:
        """How much there would be to save."""
        return len(repr(self.memory))

    def seen(self) -> Sandbox:
        """How it looks from outside."""
        endpoint = Endpoint("127.0.0.1", self.port, self.spec.base_path, self.port + 1)
        keeps = self.node.engine.keeps_process
        return Sandbox(self.id, self.token, self.state, self.node.name, endpoint, self.memory_bytes, keeps)


PREPARED = tuple(environment.name for environment in EMBEDDED.values())


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A complete snapshot."""

    manifest: Manifest
    memory: Memory


def simulated_node(
    name: str = "node-1",
    capacity: Resources | None = None,
    *,
    keeps_process: bool = True,
    cpu_features: tuple[str, ...] = (),
    environments: tuple[str, ...] = PREPARED,
) -> Node:
    """A node with 8 CPUs and 32 GiB unless said otherwise; without `keeps_process` a pause keeps files only."""
    limitation = "" if keeps_process else "this engine keeps files only"
    engine = EngineInfo("memory", "1", keeps_process, "simulated", limitation=limitation)
    return Node(name, capacity or Resources(8000, 32 * 2**30), engine, cpu_features, environments=environments)


@dataclass(slots=True)
class World:
    """Everything there is. `violations` must stay empty; each is a plain sentence.

    `digests` maps the name of an environment to its digest, the name itself unless said otherwise. `damaged` are
    snapshots, by workspace and id, whose content is not what was saved; `read` are those, by the fork's uid, that forks
    are being made from; `detached` are volumes held elsewhere for now; `withdrawn` and `partials` are bytes, by
    workspace and id, of snapshots that are going and of those that were begun. A `stubborn` world leaves forks the
    original's identity, and says nothing. Sandboxes are told to be at ports from `first_port` on; whoever wants
    something to answer there puts it there.
    """

    clock: Clock
    nodes: list[Node]
    sandboxes: dict[str, LiveSandbox] = field(default_factory=dict)
    saved: dict[str, list[SavedSession]] = field(default_factory=dict)
    volumes: dict[str, dict[str, bytes]] = field(default_factory=dict)
    logs: dict[str, list[str]] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    damaged: set[tuple[str, str]] = field(default_factory=set)
    transfers: dict[str, list[Transfer]] = field(default_factory=dict)
    shortened: set[tuple[str, str]] = field(default_factory=set)
    home_records: dict[str, HomeRecord] = field(default_factory=dict)
    processes: ProcessTable = field(default_factory=ProcessTable)
    first_port: int = _FIRST_PORT
    read: dict[str, tuple[str, str]] = field(default_factory=dict)
    withdrawn: dict[str, dict[str, int]] = field(default_factory=dict)
    partials: dict[str, dict[str, int]] = field(default_factory=dict)
    stubborn: bool = False
    detached: set[str] = field(default_factory=set)
    _by_workspace: dict[str, LiveSandbox] = field(default_factory=dict)
    _held: dict[str, Resources] = field(default_factory=dict)
    _serial: "count[int]" = field(default_factory=lambda: count(1))

    def sandbox_of(self, workspace_uid: str) -> LiveSandbox | None:
        """The workspace's sandbox, if there is one."""
        return self._by_workspace.get(workspace_uid)

    def create(self, workspace_uid: str, token: int, spec: SandboxSpec, memory: Memory, node: Node) -> LiveSandbox:
        """A new sandbox, still starting."""
        serial = next(self._serial)
        live = LiveSandbox(workspace_uid, token, f"sandbox-{serial}", node, self.first_port + 2 * serial, spec, memory)
        memory.token = memory.token or spec.access_token
        memory.path = memory.path or spec.base_path
        self.sandboxes[live.id] = live
        self._by_workspace.setdefault(workspace_uid, live)
        for volume_id in spec.volume_ids:
            self.volumes.setdefault(volume_id, {})
        self.note(workspace_uid, f"sandbox {live.id} made")
        self._held[node.name] = self._held.get(node.name, Resources()) + spec.limits
        self._check(live)
        return live

    def rename(self, live: LiveSandbox) -> None:
        """Give what was restored in it the identity of its own specification, unless it is `stubborn`."""
        if not self.stubborn:
            self.processes.rename(live.memory, live.spec.access_token, live.spec.base_path, self.clock.now())

    def is_read(self, workspace_uid: str) -> bool:
        """Whether a fork is being made from a snapshot of it."""
        return any(uid == workspace_uid for uid, _ in self.read.values())

    def end(self, live: LiveSandbox) -> None:
        """The sandbox and what was in its memory are gone."""
        if self.sandboxes.pop(live.id, None):
            self._held[live.node.name] -= live.spec.limits
            if self._by_workspace.pop(live.workspace_uid) is not live or self.violations:
                self._by_workspace = {each.workspace_uid: each for each in reversed(self.sandboxes.values())}
            self.note(live.workspace_uid, f"sandbox {live.id} ended")

    def save(self, live: LiveSandbox, snapshot_id: str, operation_id: str, memory: Memory) -> Manifest:
        """A complete snapshot of that memory."""
        engine = live.node.engine
        size = len(repr(memory))
        manifest = Manifest(
            snapshot_id,
            live.workspace_uid,
            operation_id,
            made_after(self.manifests(live.workspace_uid), self.clock.now()),
            size,
            {"memory": size},
            engine=engine.name,
            engine_version=engine.version,
            platform=engine.platform,
            kernel=live.node.kernel,
            cpu_features=seen(engine, live.node.cpu_features, live.spec.cpu_features),
            environment=self.site(live.node, live.spec).environment,
            volumes=live.spec.volume_ids,
            held=held(live.spec, memory.opened, self.volumes),
        )
        self.saved.setdefault(live.workspace_uid, []).append(SavedSession(manifest, memory))
        return manifest

    def discard(self, workspace_uid: str, snapshot_id: str) -> None:
        """That snapshot is gone; no matter if it never was."""
        self.saved[workspace_uid] = [s for s in self.saved.get(workspace_uid, []) if s.manifest.id != snapshot_id]

    def withdraw(self, workspace_uid: str, snapshot_id: str) -> None:
        """Take its name away; its bytes are there until they are swept."""
        found = self.find(workspace_uid, snapshot_id)
        if found is not None:
            self.withdrawn.setdefault(workspace_uid, {})[snapshot_id] = found.manifest.bytes
            self.discard(workspace_uid, snapshot_id)

    def manifests(self, workspace_uid: str) -> tuple[Manifest, ...]:
        """The workspace's complete snapshots, newest first."""
        return tuple(newest_first(s.manifest for s in self.saved.get(workspace_uid, [])))

    def find(self, workspace_uid: str, snapshot_id: str) -> SavedSession | None:
        """A complete snapshot with the memory in it."""
        return next((s for s in self.saved.get(workspace_uid, []) if s.manifest.id == snapshot_id), None)

    def amend(self, workspace_uid: str, snapshot_id: str, **changes: object) -> None:
        """Write down what became of a snapshot; nothing happens if it is not there."""
        self.saved[workspace_uid] = [
            replace(s, manifest=replace(s.manifest, **changes)) if s.manifest.id == snapshot_id else s  # type: ignore[arg-type]
            for s in self.saved.get(workspace_uid, [])
        ]

    def damage(self, workspace_uid: str, snapshot_id: str) -> None:
        """Let its content be another than was saved; nobody knows yet."""
        self.damaged.add((workspace_uid, snapshot_id))

    def cut(self, workspace_uid: str, snapshot_id: str) -> None:
        """Let it be shorter than it was saved: nobody knows yet, and whoever looks sees it."""
        self.shortened.add((workspace_uid, snapshot_id))

    def verify(self, workspace_uid: str, snapshot_id: str) -> None:
        """Compare its content with what was saved, and write down what came of it."""
        wrong = (workspace_uid, snapshot_id) in self.damaged
        damage = "the content of memory is not what was saved" if wrong else ""
        now = self.clock.now()
        self.amend(workspace_uid, snapshot_id, damage=damage, verify_asked_at=now, verified_at=now)

    def examine(self, session: SavedSession) -> Examined:
        """What can be told of a snapshot without reading it."""
        manifest = session.manifest
        short = (manifest.workspace_uid, manifest.id) in self.shortened
        damage = manifest.damage or (f"memory has 0 bytes, it should have {manifest.bytes} bytes" if short else "")
        return Examined(damage, changed(manifest.held, self.volumes))

    def has_files_on(self, volume_id: str) -> bool:
        """Whether a sandbox or a snapshot does."""
        live = (live.spec.volume_ids for live in self.sandboxes.values())
        saved = (session.manifest.volumes for sessions in self.saved.values() for session in sessions)
        return any(volume_id in ids for ids in (*live, *saved))

    def site(self, node: Node, spec: SandboxSpec) -> Site:
        """What a sandbox of that specification would find on a node."""
        return Site(
            node.name,
            node.engine.name,
            node.engine.version,
            node.engine.platform,
            node.kernel,
            node.cpu_features,
            self.digests.get(spec.environment, spec.environment),
        )

    def save_checkpoints(self, live: LiveSandbox) -> list[SaveAnswer]:
        """Let the programs of a sandbox save; a good one is found in its home from then on, before older ones."""
        answers = list(live.memory.doings.keepers)
        volume_id = live.spec.volume_id
        for answer in answers:
            if answer.is_good:
                known = self.home_records.get(volume_id, HomeRecord())
                made = SavedCheckpoint(answer.series, answer.path, self.clock.now(), answer.bytes, answer.label)
                others = [each for each in known.checkpoints if each.series != answer.series]
                self.home_records[volume_id] = replace(known, checkpoints=newest_checkpoints([made, *others]))
        return answers

    def record_environment(self, live: LiveSandbox) -> None:
        """The record that every pause leaves; a simulated sandbox has no packages."""
        known = self.home_records.get(live.spec.volume_id, HomeRecord())
        made = EnvironmentRecord(self.clock.now(), "3.13.0", 0, 0, True)
        self.home_records[live.spec.volume_id] = replace(known, environment=made)

    def note(self, workspace_uid: str, line: str) -> None:
        """A line for the workspace's log."""
        self.logs.setdefault(workspace_uid, []).append(line)

    def node_for(self, name: str, spec: SandboxSpec) -> Node:
        """The node of that name; without a name, the first that has room."""
        named = next((n for n in self.nodes if n.name == name), None)
        return named or next((n for n in self.nodes if self._left(n).fits(spec.limits)), self.nodes[0])

    def _left(self, node: Node) -> Resources:
        return node.capacity - self._held.get(node.name, Resources())

    def _check(self, made: LiveSandbox) -> None:
        """Nothing but a new sandbox can break a promise."""
        if self.sandbox_of(made.workspace_uid) is not made:
            self.violations.append(f"workspace {made.workspace_uid} has two sandboxes")
        short = {name for name, amount in self._left(made.node).accelerators.items() if amount < 0}
        self.violations += [f"{name} of node {made.node.name} is oversold" for name in sorted(short)]
