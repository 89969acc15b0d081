"""A control plane over the shipped memory adapters, moved by hand: nothing happens unless a test makes it happen."""

from collections.abc import Mapping

from intermezzo.adapters.memory import ManualClock, MemoryCluster, MemorySession, MemoryStore, simulated_node
from intermezzo.control.context import Context, Limits
from intermezzo.control.plane import ControlPlane
from intermezzo.control.queue.dispatch import LINE
from intermezzo.control.queue.waiters import LASTS_MS
from intermezzo.domain.kind import Kind
from intermezzo.domain.orders import Observed, SandboxState
from intermezzo.domain.resources import Node, Resources
from intermezzo.domain.workspace import SETTLED, Phase, Workspace, WorkspaceKey, WorkspaceSpec
from intermezzo.kinds import load_shipped_kinds
from intermezzo.ports.session import Access

GPU = "nvidia.com/gpu"
KINDS: Mapping[str, Kind] = load_shipped_kinds()


def one_accelerator(name: str = "node-1", accelerators: int = 1, *, keeps_process: bool = True) -> Node:
    """A node with plenty of everything but accelerators."""
    return simulated_node(name, Resources(64_000, 256 * 2**30, {GPU: accelerators}), keeps_process=keeps_process)


class World:
    """One store and one cluster; the control plane in between can be killed and replaced at any moment."""

    def __init__(self, *nodes: Node) -> None:
        self.clock = ManualClock()
        self.cluster = MemoryCluster(nodes or [one_accelerator()], self.clock)
        self.session = MemorySession(self.cluster)
        self.store = MemoryStore()
        self.plane = self._new_plane()

    def kill_control_plane(self) -> None:
        """Everything that was only in its memory is gone."""
        self.plane = self._new_plane()

    async def create(
        self, name: str, pod: str = "gpu", kind: str = "jupyterlab", *, namespace: str = "default", owner: str = "ada"
    ) -> Workspace:
        """A new workspace."""
        return await self.plane.create(namespace, name, owner, WorkspaceSpec(kind, "", pod), owner)

    async def get(self, name: str) -> Workspace:
        """Its record now."""
        return await self.plane.get(WorkspaceKey("default", name))

    async def seen(self, name: str) -> Observed:
        """What the cluster sees of it now."""
        return await self.cluster.observe((await self.get(name)).uid)

    async def settle(self, passes: int = 400) -> None:
        """Let everything run until nothing changes any more; fails if that never comes."""
        looked_anew = False
        for _ in range(passes):
            moved = self.cluster.step()
            before = await self._revisions()
            await self.plane.reconciler.reconcile(LINE)
            for workspace in await self.store.workspaces():
                await self.plane.reconciler.reconcile(workspace.uid)
            quiet = not moved and await self._revisions() == before and await self._at_rest()
            if quiet and (looked_anew or not await self._anybody_waits()):
                return
            if quiet:
                self.clock.advance(LASTS_MS)  # what is known of the nodes is asked for again after some time
            looked_anew = quiet
            self.clock.advance(500)
        raise AssertionError(f"no end: {[(str(w.key), w.phase) for w in await self.store.workspaces()]}")

    async def run(self, name: str, code: str) -> str:
        """What the code prints in the workspace's kernel."""
        access = await self.access(name)
        updates = [u async for u in self.session.run_code(access, code)]
        return "".join(u.output["text"] for u in updates if u.output) + updates[-1].problem

    async def access(self, name: str) -> Access:
        """How to reach its session."""
        workspace, sandbox = await self.plane.live(WorkspaceKey("default", name))
        return self.plane.context.access(workspace, sandbox)

    async def broken_promises(self) -> list[str]:
        """What must never be: two sandboxes for a workspace, a sandbox that runs without capacity accounted."""
        held = await self.store.reservations()
        unaccounted = [
            f"{live.workspace_uid} has a sandbox but holds no capacity"
            for live in self.cluster.world.sandboxes.values()
            if live.workspace_uid not in held
        ]
        frozen = [
            f"{live.workspace_uid} is frozen with nobody working on it"
            for live in self.cluster.world.sandboxes.values()
            if live.state is SandboxState.FROZEN and not self._working(live.workspace_uid)
        ]
        return [*self.cluster.violations, *unaccounted, *frozen]

    def _working(self, uid: str) -> bool:
        report = self.cluster._observed(uid).report
        return report is not None and report.state.value == "working"

    def _new_plane(self) -> ControlPlane:
        context = Context(
            store=self.store,
            cluster=self.cluster,
            session=self.session,
            clock=self.clock,
            kinds=KINDS,
            secret=b"a secret for tests only",
            limits=Limits(start_ms=60_000, resume_ms=60_000, keep_snapshots=2),
        )
        plane = ControlPlane(context)
        context.wake = lambda _uid: None
        return plane

    async def _revisions(self) -> dict[str, int]:
        return {w.uid: w.revision for w in await self.store.workspaces()}

    async def _at_rest(self) -> bool:
        return all(w.phase in SETTLED or w.phase is Phase.QUEUED for w in await self.store.workspaces())

    async def _anybody_waits(self) -> bool:
        return any(w.phase is Phase.QUEUED for w in await self.store.workspaces())
