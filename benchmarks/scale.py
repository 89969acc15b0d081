"""How long one sweep of the idle rule takes with very many workspaces, and what the API notices of it meanwhile."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks import waking
from benchmarks.crowd import crowd
from benchmarks.longest import BEAT_S, Longest
from intermezzo.garbage import collect_seldom
from intermezzo.web.application import create_api

MANY = 5000
SWEEPS = 5
HEALTH = "/api/intermezzo/v1/health"


def measure(workspaces: int, scratch: Path) -> dict[str, Any]:
    """The first sweep of a process and the longest of several more, in seconds; the longest that the event loop was
    held up meanwhile and the longest that a short request took, in milliseconds. In memory, and the same on SQLite."""
    collect_seldom()  # as the control plane does
    found = asyncio.run(_sweeps(workspaces, None))
    on_disk = asyncio.run(_sweeps(workspaces, scratch / "intermezzo.db"))
    on_sqlite = {f"sqlite_{name}": figure for name, figure in on_disk.items()}
    return {"workspaces": workspaces, **found, **on_sqlite, **waking.measure(workspaces)}


def row(figures: dict[str, Any]) -> str:
    """One line for people."""
    return (
        f"  {figures['workspaces']} workspaces: one sweep {figures['sweep_s']} s, holds the API up for at most "
        f"{figures['api_stall_ms']} ms (a short request: {figures['api_longest_ms']} ms); on SQLite "
        f"{figures['sqlite_sweep_s']} s, {figures['sqlite_api_stall_ms']} ms ({figures['sqlite_api_longest_ms']} ms); "
        f"capacity that comes free reaches who is next in {figures['wake_ms']} ms, one at the end in "
        f"{figures['wake_last_ms']} ms"
    )


async def _sweeps(workspaces: int, database: Path | None) -> dict[str, Any]:
    async with crowd(workspaces, database) as plane:
        app = create_api(plane, plane.context.store, plane.context.clock)
        transport = httpx.ASGITransport(app)
        stalls, requests, sweeps = Longest(), Longest(), Longest()
        async with httpx.AsyncClient(transport=transport, base_url="http://bench") as client:
            await client.get(HEALTH)
            first = Longest()
            with first.timed():
                await plane.idle_rule.sweep()
            gc.collect()
            async with _beside(stalls.beat()), _beside(_ask(client, requests)):
                for _ in range(SWEEPS):
                    with sweeps.timed():
                        await plane.idle_rule.sweep()
        if len(plane.decisions()) != workspaces:
            raise SystemExit(f"only {len(plane.decisions())} of {workspaces} workspaces were decided about")
    return {
        "first_sweep_s": round(first.seconds, 3),
        "sweep_s": round(sweeps.seconds, 3),
        "api_stall_ms": round(stalls.seconds * 1000, 1),
        "api_longest_ms": round(requests.seconds * 1000, 1),
    }


async def _ask(client: httpx.AsyncClient, longest: Longest) -> None:
    """Short requests, one after the other."""
    while True:
        with longest.timed():
            (await client.get(HEALTH)).raise_for_status()
        await asyncio.sleep(BEAT_S)


@asynccontextmanager
async def _beside(work: Any) -> AsyncIterator[None]:
    """The work goes on meanwhile, and has begun."""
    task = asyncio.create_task(work)
    await asyncio.sleep(0.1)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()
