"""A control plane that works by itself over the memory adapters: many workspaces, real concurrency, and everything that
happens watched as it happens."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from control.world import KINDS, one_accelerator
from intermezzo.adapters.memory import ManualClock, MemoryCluster, MemorySession
from intermezzo.control.context import Context
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.account import Team
from intermezzo.domain.policy import Policy
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey, WorkspaceSpec
from intermezzo.ports.store import Store

PATIENCE_S = 60.0


@dataclass
class Crowd:
    """One store and one cluster that carries orders out by itself. `most` is the largest number of workspaces that held
    something at any moment at which anybody could look."""

    store: Store
    clock: ManualClock = field(default_factory=ManualClock)
    accelerators: int = 4
    policies: tuple[Policy, ...] = ()
    most: int = 0

    def __post_init__(self) -> None:
        self.cluster = MemoryCluster([one_accelerator("node-1", self.accelerators)], self.clock, delay_s=0)
        self.session = MemorySession(self.cluster)

    @asynccontextmanager
    async def control_plane(self) -> AsyncIterator[ControlPlane]:
        """A control plane at work; when this ends it is killed, wherever it is."""
        context = Context(
            store=self.store,
            cluster=self.cluster,
            session=self.session,
            clock=self.clock,
            kinds=KINDS,
            secret=b"a secret for tests only",
            policies=self.policies,
        )
        plane = ControlPlane(context)
        working = asyncio.create_task(plane.reconciler.run())
        watching = asyncio.create_task(self._watch(plane))
        try:
            yield plane
        finally:
            for task in (working, watching):
                task.cancel()
            for task in (working, watching):
                with suppress(asyncio.CancelledError):
                    await task

    async def until(self, plane: ControlPlane, holds: Callable[[], Awaitable[bool]]) -> None:
        """Wait until that holds, looked at whenever something has changed."""
        count = 0
        async with asyncio.timeout(PATIENCE_S):
            while not await holds():
                count, _ = await plane.wait_changed(count, 1.0)

    async def phases(self) -> dict[str, Phase]:
        """The phase of each workspace, by name."""
        return {workspace.key.name: workspace.phase for workspace in await self.store.workspaces()}

    async def in_phase(self, phase: Phase) -> list[Workspace]:
        """Those that are in it."""
        return [workspace for workspace in await self.store.workspaces() if workspace.phase is phase]

    async def make_teams(self, names: Iterable[str]) -> None:
        """Teams that own the namespace of their name."""
        for name in names:
            await self.store.accounts.add_team(Team(name, (name,)))

    async def create(self, plane: ControlPlane, namespace: str, name: str, owner: str = "ada") -> Workspace:
        """A workspace that wants one accelerator."""
        return await plane.create(namespace, name, owner, WorkspaceSpec("jupyterlab", "", "gpu"), owner)

    async def create_paused(self, plane: ControlPlane, names: Iterable[tuple[str, str]], owner: str = "ada") -> None:
        """Workspaces (namespace and name) that were used and paused."""
        keys = [WorkspaceKey(*name) for name in names]
        for key in keys:
            await self.create(plane, key.namespace, key.name, owner)
        count = 0
        while not set(keys) <= {workspace.key for workspace in await self.in_phase(Phase.PAUSED)}:
            for workspace in await self.in_phase(Phase.RUNNING):
                await plane.pause(workspace.key, owner)
            count, _ = await plane.wait_changed(count, 1.0)

    async def _watch(self, plane: ControlPlane) -> None:
        count = 0
        while True:
            self.most = max(self.most, len(await self.store.reservations()), len(self.cluster.world.sandboxes))
            count, _ = await plane.wait_changed(count, 0.05)
