"""Many running workspaces at once, in a simulated cluster and a real store: what a sweep has to go through."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from intermezzo.adapters.memory import MemoryCluster, MemorySession, MemoryStore, simulated_node
from intermezzo.adapters.memory.world import LiveSandbox, World
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.control.context import Context
from intermezzo.control.loop.orders import make_order
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.orders import SandboxState, StartOrder
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey, WorkspaceSpec
from intermezzo.kinds import load_shipped_kinds
from intermezzo.policies import load_shipped_policies
from intermezzo.ports.clock import SystemClock
from intermezzo.ports.store import Store

OWNERS, TEAMS = 200, 20
SIZE = Resources(1000, 2**31)
HOUR_MS = 3_600_000


@asynccontextmanager
async def crowd(many: int, database: Path | None) -> AsyncIterator[ControlPlane]:
    """A control plane with `many` workspaces that run since an hour, on SQLite or, without a file, in memory. Each has
    an idle kernel; half of them were touched half an hour ago."""
    store: Store = await SqlStore.open(f"sqlite+aiosqlite:///{database}") if database is not None else MemoryStore()
    clock = SystemClock()
    cluster = MemoryCluster([simulated_node()], clock)
    kinds, policies = load_shipped_kinds(), load_shipped_policies()
    context = Context(store, cluster, MemorySession(cluster), clock, kinds, b"a benchmark", policies=policies)
    since = clock.now() - HOUR_MS
    try:
        for number in range(many):
            await _arrive(context, cluster.world, number, since)
        touched = [Activity(Source.CHANNEL, since + HOUR_MS // 2)]
        await store.note_activity({uid_of(number): touched for number in range(0, many, 2)})
        yield ControlPlane(context)
    finally:
        await cluster.close()
        await store.close()


def uid_of(number: int) -> str:
    """Of the workspace with that number."""
    return f"i{number:024d}"


async def _arrive(context: Context, world: World, number: int, since: int) -> None:
    """One more is up, without the way there."""
    record = Workspace(
        uid=uid_of(number),
        key=WorkspaceKey(f"team-{number % TEAMS}", f"exp-{number}"),
        owner=f"user-{number % OWNERS}",
        spec=WorkspaceSpec("jupyterlab", "jupyterlab", "small"),
        demand=SIZE,
        limits=SIZE,
        volume_id=f"v{number}",
        created_at=since,
        phase=Phase.RUNNING,
        phase_since=since,
        token=1,
        node="node-1",
    )
    order = make_order(context, await context.store.add(record), "start")
    assert isinstance(order, StartOrder)
    live = LiveSandbox(record.uid, 1, record.uid, world.nodes[0], 20_000, order.sandbox, world.processes.boot())
    world.processes.start_kernel(live.memory, f"kernel-{number}").last_activity = since
    live.state = SandboxState.RUNNING
    world.sandboxes[live.id] = live
