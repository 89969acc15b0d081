"""The morning rush: forty who were paused are resumed within five seconds, on four accelerators; whoever is served
works for a moment and is paused.

The simulated cluster and a real store, once undisturbed and once with the control plane killed twice in the middle.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.quiet import quiet
from intermezzo.adapters.memory import MemoryCluster, MemorySession, simulated_node
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.control.context import Context
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.account import Team
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.resources import Accelerator, Resources
from intermezzo.domain.workspace import Phase, WorkspaceKey, WorkspaceSpec
from intermezzo.kinds import load_shipped_kinds
from intermezzo.ports.clock import SystemClock

GPU = "nvidia.com/gpu"
ACCELERATORS, SLEEPERS, TEAMS = 4, 40, 4
WITHIN_S, STEP_S = 5.0, 0.01
PATIENCE_S = 300.0
KILLED_AT = (10, 25)


def measure(scratch: Path) -> dict[str, Any]:
    """How many held an accelerator at most at any sample, how many were served, how long the longest waited and all of
    it took in seconds; and the same with the control plane killed twice."""
    quiet()
    calm = asyncio.run(_rush(scratch / "calm.db", ()))
    killed = asyncio.run(_rush(scratch / "killed.db", KILLED_AT))
    figures = {"accelerators": ACCELERATORS, "workspaces": SLEEPERS, "within_s": WITHIN_S, **calm, "killed": killed}
    for found in (calm, killed):
        if found["most_at_once"] > ACCELERATORS or found["served"] != SLEEPERS:
            raise SystemExit(f"The rush went wrong: {figures}")
    return figures


def row(figures: dict[str, Any]) -> str:
    """One line for people."""
    killed = figures["killed"]
    return (
        f"  {figures['workspaces']} resumed within {figures['within_s']} s on {figures['accelerators']} accelerators: "
        f"at most {figures['most_at_once']} at once, {figures['served']} served in {figures['all_served_s']} s, "
        f"the longest wait {figures['longest_wait_s']} s; with the control plane killed twice "
        f"at most {killed['most_at_once']}, {killed['served']} in {killed['all_served_s']} s"
    )


@dataclass
class _House:
    """One store and one cluster; control planes come and go."""

    store: SqlStore
    cluster: MemoryCluster
    clock: SystemClock
    most: int = 0

    @asynccontextmanager
    async def control_plane(self) -> AsyncIterator[ControlPlane]:
        """One at work; when this ends it is killed, wherever it is."""
        session = MemorySession(self.cluster)
        plane = ControlPlane(
            Context(self.store, self.cluster, session, self.clock, load_shipped_kinds(), b"a benchmark")
        )
        tasks = [asyncio.create_task(plane.reconciler.run()), asyncio.create_task(self._sample(plane))]
        try:
            yield plane
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task

    async def _sample(self, plane: ControlPlane) -> None:
        while True:
            self.most = max(self.most, len(await plane.context.store.reservations()), len(self.cluster.world.sandboxes))
            await asyncio.sleep(STEP_S)


async def _rush(database: Path, kills: tuple[int, ...]) -> dict[str, Any]:
    clock = SystemClock()
    offered = tuple(Accelerator(f"v{n}", GPU, "virtual", virtual=True) for n in range(ACCELERATORS))
    node = simulated_node("node-1", Resources(64_000, 2**38, {GPU: ACCELERATORS}))
    cluster = MemoryCluster([replace(node, accelerators=offered)], clock, delay_s=STEP_S)
    house = _House(await SqlStore.open(f"sqlite+aiosqlite:///{database}"), cluster, clock)
    for number in range(TEAMS):
        await house.store.accounts.add_team(Team(f"team-{number}", (f"team-{number}",)))
    keys = [WorkspaceKey(f"team-{number % TEAMS}", f"exp-{number}") for number in range(SLEEPERS)]
    async with house.control_plane() as plane:
        for key in keys:
            await plane.create(key.namespace, key.name, "ada", WorkspaceSpec("jupyterlab", "", "gpu"), "ada")
        await _pause_who_runs(plane, lambda: _all_paused(plane))
        house.most, since = 0, (await plane.ledger(limit=100_000))[-1].seq
        await asyncio.gather(*(_resume(plane, number, key) for number, key in enumerate(keys)))
    for goal in kills:
        async with house.control_plane() as plane:
            await _pause_who_runs(plane, lambda goal=goal: _served(plane, since, goal))  # type: ignore[misc]
    async with house.control_plane() as plane:
        await _pause_who_runs(plane, lambda: _all_paused(plane))
        entries = await plane.ledger(None, since, 100_000)
    await house.store.close()
    return {"most_at_once": house.most, **_figures(entries)}


async def _resume(plane: ControlPlane, number: int, key: WorkspaceKey) -> None:
    await asyncio.sleep(WITHIN_S * number / SLEEPERS)
    await plane.resume(key, "ada")


async def _pause_who_runs(plane: ControlPlane, done: Callable[[], Awaitable[bool]]) -> None:
    count = 0
    async with asyncio.timeout(PATIENCE_S):
        while not await done():
            for workspace in await plane.workspaces():
                if workspace.phase is Phase.RUNNING:
                    await plane.pause(workspace.key, "ada")
            count, _ = await plane.wait_changed(count, 1.0)


async def _all_paused(plane: ControlPlane) -> bool:
    return all(workspace.phase is Phase.PAUSED for workspace in await plane.workspaces())


async def _served(plane: ControlPlane, since: int, goal: int) -> bool:
    entries = await plane.ledger(None, since, 100_000)
    return sum(entry.event is Event.CAPACITY_ACQUIRED for entry in entries) >= goal


def _figures(entries: list[Entry]) -> dict[str, Any]:
    acquired = [entry for entry in entries if entry.event is Event.CAPACITY_ACQUIRED]
    asked = [entry for entry in entries if entry.event is Event.RESUME_ASKED]
    return {
        "served": len({entry.workspace_uid for entry in acquired}),
        "longest_wait_s": round(max(entry.details["waited_ms"] for entry in acquired) / 1000, 1),
        "all_served_s": round((acquired[-1].at - asked[0].at) / 1000, 1),
    }
