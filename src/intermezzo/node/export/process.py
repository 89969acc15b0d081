"""Starts the process that makes an archive, hands on what it writes, and sees to it that it ends.

The agent reads no file of a home for it: only the process does, as the sandbox's user.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import astuple
from pathlib import Path

from intermezzo.domain.errors import Conflict, Unreachable
from intermezzo.domain.export import Export, ExportRequest
from intermezzo.domain.keeping import without_credentials
from intermezzo.node.environments import Environment
from intermezzo.node.export.base import layered_packages, python_version
from intermezzo.node.tasks import in_thread

AT_ONCE = 4
PIECE = 1 << 18
LONGEST_COUNT_S = 60.0
CUT_OFF = "the archive could not be finished"


class Exports:
    """Those of one node, a few at a time. `aside` is a folder for what an export keeps while it lasts."""

    def __init__(self, aside: Path, uid: int, gid: int) -> None:
        self._aside = aside
        self._uid = uid
        self._gid = gid
        self._going = 0

    @asynccontextmanager
    async def archive(
        self, request: ExportRequest, home: Path, environment: Environment | None
    ) -> AsyncIterator[Export]:
        """Raises `Conflict` while too many are being made, and `Unreachable` if it cannot begin or not be finished."""
        if self._going >= AT_ONCE:
            raise Conflict(f"{self._going} exports are being made on this node", "Try again when one has ended.")
        self._going += 1
        try:
            packages = await in_thread(layered_packages, environment) if environment else []
            asked = {
                "home": str(home),
                "aside": str(self._aside),
                "uid": self._uid,
                "gid": self._gid,
                "folder": request.folder,
                "readme": request.readme,
                "python": await in_thread(python_version, environment) if environment else "",
                "packages": [astuple(package) for package in packages],
            }
            async with _process() as process:
                yield await _begun(process, json.dumps(asked).encode())
        finally:
            self._going -= 1


@asynccontextmanager
async def _process() -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "intermezzo.node.export",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=PIECE,
        cwd="/",
        env=without_credentials(os.environ),
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        # What is left in the pipes must be read, or its end would never be heard of.
        await asyncio.shield(process.communicate())


async def _begun(process: asyncio.subprocess.Process, asked: bytes) -> Export:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(asked)
        await process.stdin.drain()
        process.stdin.close()
        async with asyncio.timeout(LONGEST_COUNT_S):
            first = await process.stdout.readline()
    except (OSError, TimeoutError):
        first = b""
    if not first.endswith(b"\n"):
        raise Unreachable(await _why(process))
    counts = json.loads(first)
    return Export(counts["files"], counts["size"], _content(process))


async def _content(process: asyncio.subprocess.Process) -> AsyncIterator[bytes]:
    assert process.stdout is not None
    while piece := await process.stdout.read(PIECE):
        yield piece
    if await process.wait():
        raise Unreachable(await _why(process))


async def _why(process: asyncio.subprocess.Process) -> str:
    if process.returncode is None:
        process.kill()
    assert process.stderr is not None
    last = (await process.stderr.read()).decode(errors="replace").strip().rsplit("\n", 1)[-1]
    return f"the archive could not be finished: {last}" if last else CUT_OFF
