"""An export through a real node agent and the adapter over it: whoever leaves or dies, nothing is left over."""

import os
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from intermezzo.adapters.local.cluster import LocalCluster
from intermezzo.domain.errors import InvalidInput, NotFound, Unreachable
from intermezzo.domain.export import ExportRequest
from node.world import Node, until

REQUEST = ExportRequest("volume", "jupyter", "exp", "what this is\n")
ENOUGH = 16


@pytest.fixture(scope="module")
def agent() -> Iterator[Node]:
    """An agent that makes no sandboxes, with a home of some size."""
    with tempfile.TemporaryDirectory(prefix="intermezzo-node-") as name:
        node = Node(Path(name), engine="process", sandbox_uid=os.geteuid(), sandbox_gid=os.getegid(), environments={})
        home = node.configuration.volumes_dir / REQUEST.volume_id
        home.mkdir(parents=True)
        for number in range(ENOUGH):
            (home / f"{number}.bin").write_bytes(os.urandom(1 << 20))
        try:
            node.start()
            yield node
        finally:
            node.close()


@asynccontextmanager
async def asking(node: Node) -> AsyncIterator[LocalCluster]:
    """The control plane's side of it."""
    cluster = LocalCluster(node.configuration.socket)
    try:
        yield cluster
    finally:
        await cluster.close()


def made_by(node: Node) -> list[int]:
    """The processes that make archives for an agent."""
    children = Path(f"/proc/{node.pid}/task/{node.pid}/children")
    found = []
    for pid in map(int, children.read_text().split()):
        with suppress(OSError):
            if b"intermezzo.node.export" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found


async def test_whoever_leaves_in_the_middle_ends_it_and_the_next_one_is_whole(agent: Node) -> None:
    async with asking(agent) as cluster:
        async with cluster.export(REQUEST) as made:
            assert (made.files, made.size > ENOUGH << 20) == (ENOUGH, True)
            await anext(made.content)
            assert len(made_by(agent)) == 1
        until(lambda: made_by(agent) == [], "its process has ended")
        async with cluster.export(REQUEST) as made:
            assert sum([len(piece) async for piece in made.content]) > ENOUGH << 20
        until(lambda: made_by(agent) == [], "its process has ended")


async def test_a_process_that_dies_never_passes_for_the_end(agent: Node) -> None:
    async with asking(agent) as cluster:
        with pytest.raises(Unreachable):
            async with cluster.export(REQUEST) as made:
                await anext(made.content)
                [pid] = made_by(agent)
                os.kill(pid, signal.SIGKILL)
                async for _ in made.content:
                    pass
        until(lambda: made_by(agent) == [], "its process has ended")


async def test_an_agent_that_dies_never_passes_for_the_end_and_takes_the_process_with_it(agent: Node) -> None:
    async with asking(agent) as cluster:
        with pytest.raises(Unreachable):
            async with cluster.export(REQUEST) as made:
                await anext(made.content)
                [pid] = made_by(agent)
                agent.kill()
                async for _ in made.content:
                    pass
    until(lambda: not Path(f"/proc/{pid}").exists(), "its process has ended")
    agent.start()


async def test_what_must_not_become_a_path_is_refused(agent: Node) -> None:
    async with asking(agent) as cluster:
        for wrong in (
            ExportRequest("../volume", "", "exp", ""),
            ExportRequest("volume", "", "../exp", ""),
            ExportRequest("volume", "", "a/b", ""),
            ExportRequest("volume", "", "", ""),
        ):
            with pytest.raises(InvalidInput):
                async with cluster.export(wrong):
                    pytest.fail("something was exported")
        with pytest.raises(NotFound):
            async with cluster.export(ExportRequest("another", "", "exp", "")):
                pytest.fail("something was exported")
