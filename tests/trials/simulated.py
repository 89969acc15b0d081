"""A simulated installation as the ground of a trial: its machine can be changed under the sessions."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from intermezzo.client import Intermezzo
from intermezzo.client.connection import Connection
from intermezzo.domain.resources import Accelerator, Node
from intermezzo.trials.work import Cells
from web.served import Served, served

GPU = "nvidia.com/gpu"
CELLS = Cells(
    train="steps = 1000",
    tell='print("{\\"steps\\": 1000}")',
    plant='value = "{value}"',
    recall='print("{\\"value\\": \\"" + value + "\\"}")',
    read='print("{}")',
)


class SimulatedGround:
    """Implements `trials.ground.Ground` over the memory adapters. The name of an engine's file is its version."""

    cells = CELLS

    def __init__(self, site: Served) -> None:
        self._site = site
        self.world = site.simulated.cluster.world
        self.faults = site.simulated.cluster.faults
        self.url = site.url
        self._first = self.world.nodes[0].engine.version

    @cached_property
    def client(self) -> Intermezzo:
        return Intermezzo(Connection(self.url, self._site.headers["Authorization"].partition(" ")[2]))

    def run_engine(self, engine: Path | None) -> None:
        self._change(self._with_version(self._first if engine is None else engine.name))

    def other_engine(self) -> Path:
        return Path("another version")

    def stored(self, workspace_uid: str) -> Mapping[str, int]:
        return {manifest.id: manifest.bytes for manifest in self.world.manifests(workspace_uid)}

    def left_over(self) -> tuple[str, ...]:
        saved = [f"snapshots/{uid}" for uid, sessions in self.world.saved.items() if sessions]
        return (*saved, *(f"volumes/{volume}/{file}" for volume, files in self.world.volumes.items() for file in files))

    def close(self) -> None:
        self.client.close()

    def _with_version(self, version: str) -> Node:
        node = self.world.nodes[0]
        return replace(node, engine=replace(node.engine, version=version))

    def _change(self, node: Node) -> None:
        async def change() -> None:
            self.world.nodes[:] = [node]

        asyncio.run_coroutine_threadsafe(change(), self._site.loop).result()


@contextmanager
def ground(accelerators: int = 1) -> Iterator[SimulatedGround]:
    """One that has so many accelerators."""
    with served() as site:
        made = SimulatedGround(site)
        node = made.world.nodes[0]
        there = tuple(Accelerator(f"gpu-{n}", GPU, "simulated", virtual=True) for n in range(accelerators))
        made._change(
            replace(node, capacity=replace(node.capacity, accelerators={GPU: accelerators}), accelerators=there)
        )
        try:
            yield made
        finally:
            made.close()
