"""The cluster of one machine keeps the contract: a real node agent, the real engine, real servers."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from contract.cluster_contract import ClusterContract
from contract.ground import carry_out
from intermezzo.adapters.local.cluster import LocalCluster
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.orders import Observed, RemoveOrder, SandboxSpec
from intermezzo.domain.resources import Resources
from intermezzo.domain.server import Server

DATA = Path(__file__).parents[2] / ".intermezzo"
RUNSC, ENVIRONMENT = DATA / "engine" / "runsc", DATA / "environments" / "jupyter"
PATIENCE_S = 120


@pytest.fixture(scope="module")
def agent() -> Iterator[Path]:
    """The socket of a node agent of our own; whatever it made is gone afterwards."""
    if os.geteuid() != 0:
        pytest.skip("the real engine needs root")
    if not (RUNSC.exists() or shutil.which("runsc")) or not ENVIRONMENT.exists():
        pytest.skip("the engine or the prepared environment is missing (make setup)")
    home = Path(tempfile.mkdtemp(prefix="intermezzo-contract-"))
    config = {
        "data_dir": str(home),
        "engine": "runsc",
        "runsc": str(RUNSC) if RUNSC.exists() else None,
        "environments": {"jupyter": str(ENVIRONMENT)},
        "subnet": "10.219.0.0/16",
    }
    (home / "node.json").write_text(json.dumps(config))
    with (home / "agent.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "intermezzo.node", "--config", home / "node.json"], stdout=log, stderr=log
        )
    try:
        asyncio.run(_answering(home, process))
        yield home / "run" / "node.sock"
        left = asyncio.run(_torn_down(home / "run" / "node.sock"))
        assert not any(left.values()), left
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(home)


async def _answering(home: Path, process: "subprocess.Popen[bytes]") -> None:
    async with aclosing(_Closing(home / "run" / "node.sock")) as cluster:
        while True:
            assert process.poll() is None, (home / "agent.log").read_text()
            try:
                await cluster.nodes()
                return
            except Unreachable:
                await asyncio.sleep(0.05)


async def _torn_down(socket: Path) -> dict[str, list[str]]:
    async with aclosing(_Closing(socket)) as cluster:
        return await cluster.teardown()


class _Closing(LocalCluster):
    """A local cluster that `aclosing` can close."""

    async def aclose(self) -> None:
        await self.close()


class LocalGround:
    """The node agent of this machine."""

    def __init__(self, cluster: LocalCluster) -> None:
        self.cluster = cluster

    def sandbox(self, workspace_uid: str) -> SandboxSpec:
        path = f"/workspace/connect/contract/{workspace_uid}/jupyterlab/"
        limits = Resources(2000, 2**30)
        volume = f"{workspace_uid}-v"
        return SandboxSpec(
            "ws", "jupyter", Server.JUPYTERLAB, 8888, path, "/home/jovyan", volume, limits, "0123456789abcdef"
        )

    async def until(self, workspace_uid: str, condition: Callable[[Observed], bool]) -> Observed:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            seen = await self.cluster.observe(workspace_uid)
            if condition(seen):
                return seen
            await asyncio.sleep(0.05)
        raise AssertionError(f"it never came to that: {seen}")


@pytest.fixture
def uid() -> str:
    return "c" + uuid.uuid4().hex[:12]


@pytest.fixture
async def ground(agent: Path, uid: str) -> AsyncIterator[LocalGround]:
    async with aclosing(_Closing(agent)) as cluster:
        ground = LocalGround(cluster)
        yield ground
        for name in (uid, f"{uid}-other", f"{uid}-fork"):
            await carry_out(ground, RemoveOrder(name, 1000, "clean-up", f"{name}-v"))


@pytest.mark.engine
class TestLocalCluster(ClusterContract):
    """The contract."""
