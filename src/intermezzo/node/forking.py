"""What a fork needs beside a restore: a copy of the original's home before it, and an identity of its own after it.

Both may be begun again after a crash at any step. Nothing of the original is ever changed.
"""

import asyncio
import threading
from pathlib import Path

from intermezzo.domain.errors import EngineFailure
from intermezzo.domain.lifecycle import COPYING
from intermezzo.domain.orders import ForkOrder
from intermezzo.domain.snapshot import Manifest
from intermezzo.node import inspection
from intermezzo.node.copying import can_clone
from intermezzo.node.engine import SnapshotEngine
from intermezzo.node.inspection import WATCH_EVERY_S
from intermezzo.node.records import SandboxRecord
from intermezzo.node.space import Space, taken
from intermezzo.node.tasks import finished, in_thread
from intermezzo.node.workspace import Tools, Workspace

SANDBOX_GONE = "sandbox_gone"
HINT = "Free some space, or delete files that are not needed, then try again."


class NotRenamed(EngineFailure):
    """The restored session did not become somebody else; it is ended."""

    code = "not_renamed"


async def copy_home(workspace: Workspace, order: ForkOrder, manifest: Manifest) -> None:
    """Make the fork's home a copy of the original's, whole or not at all. Raises OSError, NotFound, NotEnoughSpace, or
    FilesChanged where a file that the session holds open was changed while it was copied."""
    tools, target = workspace.tools, order.sandbox.volume_id
    if SANDBOX_GONE in workspace.times:
        # A session of this very order ran over that copy, and was ended with the agent: it may have written to it.
        await in_thread(tools.volumes.remove, target)
    source = await in_thread(tools.volumes.existing, order.origin_volume_id)
    total = await in_thread(taken, source)
    needed = 0 if await in_thread(can_clone, tools.volumes.disk) else total
    with _room(tools).promised("a copy of the home", needed, tools.volumes.aside(target), HINT):
        await _watched(workspace, order, total)
    # Again, as the original may be running: what was copied must be what the session knows.
    await in_thread(inspection.require_files, tools.volumes, manifest, order.accepted)
    workspace.note("copied")


async def rename(workspace: Workspace, sandbox: SandboxRecord, timeout_s: float) -> None:
    """Have the restored session take the identity of its specification. Raises EngineFailure, naming what did not."""
    engine = workspace.tools.engine
    workspace.progress("renaming")
    assert isinstance(engine, SnapshotEngine)
    problems = await workspace.tools.guest.become(sandbox, timeout_s)
    if problems:
        raise NotRenamed("; ".join(problems)[:1000], "Resume the original, pause it again, and fork that snapshot.")
    await engine.rename(sandbox)
    workspace.note("renamed")


async def _watched(workspace: Workspace, order: ForkOrder, total: int) -> None:
    """Copy while showing how much is done; who cancels waits until the copy has stopped and is gone."""
    done, cancelled = [0], threading.Event()

    def told(count: int) -> None:
        done[0] += count

    volumes = workspace.tools.volumes
    workspace.progress(COPYING, 0, total)
    copying = asyncio.ensure_future(
        asyncio.to_thread(volumes.copy, order.origin_volume_id, order.sandbox.volume_id, told, cancelled)
    )
    try:
        while not (await asyncio.wait({copying}, timeout=WATCH_EVERY_S))[0]:
            workspace.progress(COPYING, min(done[0], total), total)
        copying.result()
    finally:
        cancelled.set()
        await finished(asyncio.wait({copying}))


def _room(tools: Tools) -> Space:
    """The room that is promised to snapshots too, where both lie on one disk."""
    return tools.keeper.space if _device(tools.volumes.disk) == _device(tools.snapshots.disk) else tools.volumes.space


def _device(path: Path) -> int:
    return path.stat().st_dev
