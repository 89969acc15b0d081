"""How fast the list is, as API and as page, with many workspaces in the database."""

import asyncio
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from pydantic import TypeAdapter

from benchmarks.dashboard_server import OWNER
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.client.workspace_models import WorkspaceShape
from intermezzo.domain.continuity import Continuity, Verdict, Witness, WitnessReport
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import (
    Condition,
    FinishedOperation,
    OperationKind,
    Outcome,
    Phase,
    Workspace,
    WorkspaceKey,
    WorkspaceSpec,
)

MANY = 1000
REQUESTS = 150
WARM_UP = 5
START_S = 30.0
HEALTH = "/api/intermezzo/v1/health"
LIST = "/api/intermezzo/v1/workspaces"
BORN = 1_780_000_000_000
SIZE = Resources(1000, 2**31)


def measure(workspaces: int, scratch: Path) -> dict[str, Any]:
    """95th percentiles in milliseconds; beside them the time to write the same list as JSON and nothing else."""
    url = f"sqlite+aiosqlite:///{scratch / 'intermezzo.db'}"
    asyncio.run(_fill(url, workspaces))
    with _server(url, scratch / "web.sock") as client:
        answer = client.get(LIST)
        answer.raise_for_status()
        if len(answer.json()) != workspaces:
            raise SystemExit(f"The list shows {len(answer.json())} of {workspaces} workspaces")
        alone = _times(client, HEALTH)
        found = {name: _times(client, path) for name, path in (("api", LIST), ("page", "/"))}
        beside = _times_beside_lists(client)
    bare = [_bare(answer.content) for _ in range(20)]
    return {
        "workspaces": workspaces,
        **{f"{name}_p95_ms": round(_p95(times), 1) for name, times in found.items()},
        **{f"{name}_median_ms": round(statistics.median(times), 1) for name, times in found.items()},
        "health_p95_ms": round(_p95(alone), 1),
        "health_beside_lists_p95_ms": round(_p95(beside), 1),
        "bare_json_p95_ms": round(_p95(bare), 1),
        "api_bytes": len(answer.content),
        "requests": REQUESTS,
    }


def row(figures: dict[str, Any]) -> str:
    """One line for people."""
    return (
        f"  {figures['workspaces']} workspaces: API {figures['api_p95_ms']} ms, page {figures['page_p95_ms']} ms "
        f"(95th percentiles); writing the same list as JSON alone {figures['bare_json_p95_ms']} ms; a short answer "
        f"{figures['health_p95_ms']} ms, while others ask for lists {figures['health_beside_lists_p95_ms']} ms"
    )


def _times(client: httpx.Client, path: str) -> list[float]:
    """Milliseconds from the request to the last byte, one request after the other."""
    times = []
    for number in range(WARM_UP + REQUESTS):
        began = time.perf_counter()
        client.get(path).raise_for_status()
        if number >= WARM_UP:
            times.append((time.perf_counter() - began) * 1000)
    return times


def _times_beside_lists(client: httpx.Client) -> list[float]:
    """The same for a short answer while somebody asks for one list after the other: how long these hold others up."""
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            client.get(LIST)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        return _times(client, HEALTH)
    finally:
        ended.set()
        asking.join()


def _bare(body: bytes) -> float:
    """Milliseconds for the shapes of this answer to become JSON, without a database, a request or a byte sent."""
    shapes = TypeAdapter(list[WorkspaceShape])
    values = shapes.validate_json(body)
    began = time.perf_counter()
    shapes.dump_json(values)
    return (time.perf_counter() - began) * 1000


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


@contextmanager
def _server(url: str, socket: Path) -> Iterator[httpx.Client]:
    """The server in a process of its own, and a client that may use it."""
    command = [sys.executable, "-m", "benchmarks.dashboard_server", url, str(socket)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            headers = {"Authorization": f"Bearer {server.stdout.readline().strip()}", "Accept": "*/*"}
            transport = httpx.HTTPTransport(uds=str(socket), retries=50)
            with httpx.Client(transport=transport, base_url="http://intermezzo", headers=headers, timeout=60) as client:
                yield client
        finally:
            server.terminate()


async def _fill(url: str, count: int) -> None:
    store = await SqlStore.open(url)
    for number in range(count):
        await store.add(_workspace(number))
    await store.close()


def _workspace(number: int) -> Workspace:
    """One that has been used: most are paused with their proof, every tenth needs its owner."""
    uid = f"i{number:024x}"
    witnesses = tuple(Witness("kernel", f"{uid}-{pid}", pid, BORN, f"{pid:032x}") for pid in (20, 21, 22))
    report = WitnessReport(BORN, witnesses, 3)
    failed = number % 10 == 0
    return Workspace(
        uid=uid,
        key=WorkspaceKey("default", f"experiment-{number:04}"),
        owner=OWNER,
        spec=WorkspaceSpec("jupyterlab", "jupyterlab", "small", f"Experiment {number}", env={"SEED": str(number)}),
        demand=SIZE,
        limits=SIZE,
        volume_id=f"v{uid}",
        created_at=BORN + number,
        phase=Phase.FAILED if failed else Phase.PAUSED,
        phase_since=BORN + number,
        condition=Condition("session_lost", "Its session ended.", "Start it afresh.", ("restart",), BORN)
        if failed
        else None,
        last_operation=FinishedOperation(f"o{uid}", OperationKind.PAUSE, Outcome.SUCCEEDED, "", BORN),
        token=7,
        continuity=Continuity(Verdict.RESTORED, ("every kernel answered",), report, report),
    )
