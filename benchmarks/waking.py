"""How soon capacity that comes free reaches whoever is next, with very many who wait, on the memory adapters."""

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from benchmarks.longest import Longest
from benchmarks.quiet import quiet
from intermezzo.adapters.memory import MemoryCluster, MemorySession, MemoryStore, simulated_node
from intermezzo.control.context import Context
from intermezzo.control.plane import ControlPlane
from intermezzo.control.queue.places import Place
from intermezzo.domain.account import Team
from intermezzo.domain.ledger import Event
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Operation, OperationKind, Phase, Workspace, WorkspaceKey, WorkspaceSpec
from intermezzo.kinds import load_shipped_kinds
from intermezzo.policies import load_shipped_policies
from intermezzo.ports.clock import SystemClock

GPU = "nvidia.com/gpu"
TEAMS, HOLDERS, TURNS = 20, 4, 10
PATIENCE_S = 120.0
WITH_ONE = Resources(1000, 2**31, {GPU: 1})
WITHOUT = Resources(1000, 2**31)


def measure(workspaces: int) -> dict[str, Any]:
    """The longest time in milliseconds from capacity that is free to the one who has it: for the first in line, and for
    one at the very end whom alone it helps; and how long the event loop was held up meanwhile."""
    quiet()
    first, stall = asyncio.run(_waking(workspaces, WITH_ONE))
    last, stall_too = asyncio.run(_waking(workspaces, WITHOUT))
    return {"wake_ms": first, "wake_last_ms": last, "wake_api_stall_ms": round(max(stall, stall_too) * 1000, 1)}


async def _waking(workspaces: int, freed: Resources) -> tuple[int, float]:
    """With holders of `freed` that pause one after the other, and a line in which everybody wants an accelerator but,
    where it has none, a few at the end."""
    accelerated = bool(freed.accelerators)
    async with _house(workspaces, freed) as (plane, names):
        stalls = Longest()
        gc.collect()
        gc.freeze()  # what was made before the measurement is not part of it
        beating = asyncio.create_task(stalls.beat())
        times, holders = [], [WorkspaceKey("team-0", f"holds-{number}") for number in range(HOLDERS)]
        for _ in range(TURNS):
            served = _right_one(await plane.queue(), names, accelerated)
            await plane.pause(holders[0], "bench")
            times.append(await _until_served(plane, holders.pop(0), served))
            holders.append(served)
        beating.cancel()
    return max(times), stalls.seconds


def _right_one(queue: Sequence[Place], names: set[WorkspaceKey], accelerated: bool) -> WorkspaceKey:
    """Who must be served next: the first in line, or the first of those who need no accelerator."""
    return next(place.key for place in queue if accelerated or place.key in names)


async def _until_served(plane: ControlPlane, holder: WorkspaceKey, served: WorkspaceKey) -> int:
    """Milliseconds, by the ledger, between the one's giving it back and the other's having it."""
    count = 0
    async with asyncio.timeout(PATIENCE_S):
        while (await plane.get(served)).phase is not Phase.RUNNING:
            count, _ = await plane.wait_changed(count, 1.0)
        freed = [e for e in await plane.ledger(holder) if e.event is Event.CAPACITY_FREED][-1]
        acquired = [e for e in await plane.ledger(served) if e.event is Event.CAPACITY_ACQUIRED][-1]
    return max(0, acquired.at - freed.at)


@asynccontextmanager
async def _house(workspaces: int, freed: Resources) -> AsyncIterator[tuple[ControlPlane, set[WorkspaceKey]]]:
    """A control plane at work; all capacity is held, and all the others wait and have been told their place."""
    accelerators = HOLDERS if freed.accelerators else 0
    capacity = Resources(1000 * HOLDERS, 2**31 * HOLDERS, {GPU: accelerators})
    clock, store = SystemClock(), MemoryStore()
    # An accelerator that is never free: those who want it wait on the other node for ever.
    full = simulated_node("full", Resources(1000 * HOLDERS, 2**31 * HOLDERS, {GPU: HOLDERS}))
    nodes = [simulated_node("node-1", capacity)] + ([] if freed.accelerators else [full])
    cluster = MemoryCluster(nodes, clock, delay_s=0)
    kinds, policies = load_shipped_kinds(), load_shipped_policies()
    context = Context(store, cluster, MemorySession(cluster), clock, kinds, b"a benchmark", policies=policies)
    for number in range(TEAMS):
        await store.accounts.add_team(Team(f"team-{number}", (f"team-{number}",)))
    plane = ControlPlane(context)
    holding = [(f"holds-{n}", freed) for n in range(HOLDERS)]
    holding += [] if freed.accelerators else [(f"full-{n}", WITH_ONE) for n in range(HOLDERS)]
    working = asyncio.create_task(plane.reconciler.run())
    try:
        for name, amount in holding:
            await store.add(_waiting(WorkspaceKey("team-0", name), amount, 1))
        await _until(plane, Phase.RUNNING, len(holding))
        few = TURNS + 2 if not freed.accelerators else 0
        last = [WorkspaceKey(f"team-{n % TEAMS}", f"last-{n}") for n in range(few)]
        many = workspaces - few - len(holding)
        for number in range(many):
            await store.add(_waiting(WorkspaceKey(f"team-{number % TEAMS}", f"waits-{number}"), WITH_ONE, 2 + number))
        for number, key in enumerate(last):
            await store.add(_waiting(key, freed, 2 + many + number))
        await _until(plane, Phase.QUEUED, workspaces - len(holding))
        yield plane, set(last)
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        await cluster.close()


async def _until(plane: ControlPlane, phase: Phase, many: int) -> None:
    """Until so many are in that phase, and those who wait have been told where."""
    for workspace in await plane.context.store.workspaces():
        plane.context.wake(workspace.uid)
    count = 0
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = [w for w in await plane.workspaces() if w.phase is phase]
            if len(found) == many and (phase is not Phase.QUEUED or all(w.condition for w in found)):
                return
            count, _ = await plane.wait_changed(count, 1.0)


def _waiting(key: WorkspaceKey, demand: Resources, queued_at: int) -> Workspace:
    uid = f"i{key.namespace}-{key.name}"
    operation = Operation(f"o{uid}", OperationKind.START, 1, "bench", queued_at, Phase.QUEUED)
    return Workspace(
        uid=uid,
        key=key,
        owner="bench",
        spec=WorkspaceSpec("jupyterlab", "jupyterlab", "gpu" if demand.accelerators else "small"),
        demand=demand,
        limits=demand,
        volume_id=f"v{uid}",
        created_at=queued_at,
        operation=operation,
        token=1,
        queued_at=queued_at,
    )
