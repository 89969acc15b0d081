"""What is done to a workspace's snapshots beside its orders: withdrawn ones are deleted, checksums reckoned, and
compared where somebody asked for it; then they are encrypted and sent to the store, where that is set; and now and
then all of them are verified.

What is due is read from the disk each time, so that nothing is forgotten by an agent that ends. An order that comes
makes way for itself: a chore never holds up a pause or a resume.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from functools import partial

from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.snapshot import Manifest
from intermezzo.node import checksums, mending, removal, tending
from intermezzo.node.tasks import in_own_thread
from intermezzo.node.whole import damage
from intermezzo.node.workspace import Workspace, now

logger = logging.getLogger(__name__)
AGAIN_S = 600.0
TROUBLED_S = 60.0
TELL_EVERY_S = 2.0


class Chores:
    """The one task that does the chores of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._due = asyncio.Event()
        self._held = threading.Event()
        self._scrub_ended = threading.Event()
        self._task = asyncio.create_task(self._run(), name=f"chores {workspace.uid}")

    def wake(self) -> None:
        """Look whether there is anything to do."""
        self._due.set()

    def tend(self) -> None:
        """Somebody asked for something: see to it before any scrub that is going on."""
        self._scrub_ended.set()
        self._due.set()

    def hold(self) -> None:
        """Leave the disk to an order that has been accepted; `wake` when it is done."""
        self._held.set()
        self._scrub_ended.set()

    async def close(self) -> None:
        """Stop; what was begun is begun again by the next agent."""
        self.hold()
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._patience()):
                    await self._due.wait()
            except TimeoutError:
                pass  # what failed is tried again now and then
            self._due.clear()
            self._held.clear()
            self._scrub_ended.clear()
            if not self._workspace.working:
                await self._do()

    def _patience(self) -> float:
        """What stands still is tried again sooner."""
        transfers = self._workspace.tools.keeper.transfers(self._workspace.uid)
        waiting = any(transfer.trouble for transfer in transfers)
        return TROUBLED_S if waiting or self._workspace.tools.snapshots.leaving(self._workspace.uid) else AGAIN_S

    async def _do(self) -> None:
        snapshots, uid = self._workspace.tools.snapshots, self._workspace.uid
        keeper = self._workspace.tools.keeper
        if snapshots.leaving(uid):
            await self._in_own_thread(partial(removal.sweep, keeper, uid))
        for manifest in snapshots.complete(uid):
            if self._held.is_set():
                return
            if manifest.verification_due:
                look = partial(damage, keeper)
                await self._in_own_thread(partial(checksums.verify, snapshots, manifest, now(), self._held, look))
                await self._in_own_thread(partial(tending.look_into_store, keeper, manifest))
            elif checksums.can_be_reckoned(manifest) and self._may_reckon(manifest):
                await self._in_own_thread(partial(checksums.reckon, snapshots, manifest, self._held))
            await self._keep(manifest.id)
        await self._scrub()

    async def _keep(self, snapshot_id: str) -> None:
        """Make it what it is to be, and have it where it is to be; each is decided by what has become of it."""
        snapshots, keeper, uid = self._workspace.tools.snapshots, self._workspace.tools.keeper, self._workspace.uid
        if (found := snapshots.find(uid, snapshot_id)) and mending.is_due(keeper, found) and not self._held.is_set():
            await self._in_own_thread(partial(mending.mend, keeper, found, self._held))
        if (found := snapshots.find(uid, snapshot_id)) and tending.is_due(keeper, found) and not self._held.is_set():
            await self._in_own_thread(partial(tending.tend, keeper, uid, snapshot_id, self._held))

    async def _scrub(self) -> None:
        """What is verified by itself, when there is nothing else to do."""
        snapshots, uid, scrub = self._workspace.tools.snapshots, self._workspace.uid, self._workspace.tools.scrub
        for manifest in snapshots.complete(uid):
            if scrub.is_due(manifest, now()) and not self._scrub_ended.is_set():
                keeper = self._workspace.tools.keeper
                look = scrub.look(keeper)
                verify = partial(checksums.verify, snapshots, manifest, now(), self._scrub_ended, look)
                await self._in_own_thread(verify)
                await self._in_own_thread(partial(tending.look_into_store, keeper, manifest))
                await self._keep(manifest.id)

    def _may_reckon(self, manifest: Manifest) -> bool:
        """A session that runs is not to be slowed down, but for what must not stay as it is."""
        return self._workspace.session is None or tending.is_due(self._workspace.tools.keeper, manifest)

    async def _in_own_thread(self, work: Callable[[], object]) -> None:
        """Those who watch are told now and then, and at the end."""
        working = asyncio.ensure_future(_unless_troubled(work))
        try:
            while not (await asyncio.wait({working}, timeout=TELL_EVERY_S))[0]:
                self._workspace.tell()
        finally:
            self._workspace.tell()


async def _unless_troubled(work: Callable[[], object]) -> None:
    """What could not be finished is told in the log, and done again later."""
    try:
        await in_own_thread(work)
    except (OSError, IntermezzoError) as error:
        logger.warning("work on snapshots was not finished: %s", error)
