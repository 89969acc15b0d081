"""What of a sandbox's signals is unknown, and why: guests that misbehave, and accelerators that cannot be asked."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from os import getpid
from pathlib import Path
from types import SimpleNamespace

import pytest

from intermezzo.domain.errors import Unreachable
from intermezzo.domain.orders import Endpoint
from intermezzo.domain.readings import Absent, Known, Readings, Unknown
from intermezzo.domain.resources import Resources
from intermezzo.node.accelerators import Accelerators
from intermezzo.node.activity import Signals, Told
from intermezzo.node.config import NodeConfig, VirtualAccelerator
from intermezzo.node.environments import Environments
from intermezzo.node.guest import GuestClient
from intermezzo.node.process import Process
from intermezzo.node.records import SandboxRecord
from intermezzo.node.volumes import Volumes
from node.management_library import StandIn
from node.world import specification

GPU = "nvidia.com/gpu"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
NO_PROCESS = 2**22 + 1  # greater than any process id of Linux


@pytest.fixture
def engine(tmp_path: Path) -> Process:
    return Process(NodeConfig(data_dir=tmp_path), Environments({}), Volumes(tmp_path, 1000, 1000), "")


@asynccontextmanager
async def guest_that_says(account: bytes | None) -> AsyncIterator[SandboxRecord]:
    """A sandbox whose guest answers so; None keeps silent."""
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if account is None:
            await ended.wait()
        else:
            writer.write(HEAD + account)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield SandboxRecord("s-1", "ws", 1, specification(), Endpoint("127.0.0.1", 1, "/", port), False)
    finally:
        ended.set()
        server.close()
        await server.wait_closed()


async def read(engine: Process, record: SandboxRecord, accelerators: Accelerators | None = None) -> Readings:
    guest = GuestClient()
    try:
        return await Signals(engine, guest, accelerators or Accelerators(None)).read(record)
    finally:
        await guest.close()


def account(**signals: object) -> bytes:
    known = {"kind": "known", "source": "it", "at": 5}
    told = {"kernels": [], "terminals": [], "server": 3, "editor": 4, "keep_awake": None, **signals}
    return json.dumps({name: {**known, "says": says} for name, says in told.items()}).encode()


async def test_what_a_guest_tells_is_handed_on(engine: Process) -> None:
    async with guest_that_says(account(kernels=[{"id": "k", "state": "busy", "since": 1}])) as record:
        seen = await read(engine, record)
    assert isinstance(seen.kernels, Known)
    assert [(k.id, k.state.value, k.since) for k in seen.kernels.says] == [("k", "busy", 1)]
    assert seen.server == Known("it", 5, 3)


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"<html>",
        b"[]",
        account(kernels="none"),
        account(kernels=[{"id": "k", "state": "asleep", "since": 1}]),
        account(keep_awake={"until": "tomorrow"}),
        account(terminals=[{"shell": 1, "job": "x" * (300 << 10), "since": 1}]),
        None,
    ],
    ids=["nothing", "a-page", "a-list", "no-kernels", "a-state-of-its-own", "half-a-wish", "too-much", "silence"],
)
async def test_a_guest_that_gives_no_proper_account_is_unknown_and_says_why(
    engine: Process, told: bytes | None
) -> None:
    async with guest_that_says(told) as record:
        seen = await read(engine, record)
    for each in fields(Told):
        reading = getattr(seen, each.name)
        assert isinstance(reading, Unknown)
        assert reading.why
        assert reading.at > 0


async def test_nobody_at_the_guests_port_is_unknown_too(engine: Process) -> None:
    async with guest_that_says(b"") as record:
        pass
    assert isinstance((await read(engine, record)).kernels, Unknown)


def with_accelerators(record: SandboxRecord, count: int) -> SandboxRecord:
    return replace(record, spec=replace(record.spec, limits=Resources(1000, 1 << 30, {GPU: count})))


async def test_virtual_accelerators_are_never_said_to_be_idle(engine: Process) -> None:
    virtual = Accelerators(None, [VirtualAccelerator(model="L4", count=1)])
    async with guest_that_says(account()) as record:
        seen = await read(engine, with_accelerators(record, 1), virtual)
    assert isinstance(seen.accelerators, Absent)
    assert "virtual" in seen.accelerators.why


def test_the_use_of_an_accelerator_is_told_to_whoever_has_it_open() -> None:
    library = StandIn()
    found = Accelerators(library)
    assert found.use([getpid()]) == ()
    library.users = [SimpleNamespace(pid=getpid(), usedGpuMemory=4096)]
    (use,) = found.use([getpid()])
    assert (use.model, use.busy_percent, use.memory_bytes) == ("NVIDIA L4", 37, 4096)
    assert found.use([1]) == ()


def test_a_process_that_cannot_be_seen_from_here_leaves_it_unknown() -> None:
    library = StandIn()
    library.users = [SimpleNamespace(pid=NO_PROCESS, usedGpuMemory=4096)]
    with pytest.raises(Unreachable):
        Accelerators(library).use([getpid()])


async def test_an_accelerator_that_cannot_be_asked_is_unknown_not_zero(engine: Process) -> None:
    library = StandIn()
    library.users = [SimpleNamespace(pid=NO_PROCESS, usedGpuMemory=4096)]
    async with guest_that_says(account()) as record:
        seen = await read(engine, with_accelerators(record, 1), Accelerators(library))
    assert isinstance(seen.accelerators, Unknown)
