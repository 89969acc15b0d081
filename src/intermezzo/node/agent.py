"""The node agent: knows every workspace on this machine, accepts orders for them and says what there is.

It never decides on its own to start, pause or resume anything. It outlives nothing and is outlived by the
sandboxes: an agent that starts looks at what is there and goes on.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from intermezzo.domain.compatibility import Site
from intermezzo.domain.errors import Conflict, IntermezzoError, InvalidInput, NotFound
from intermezzo.domain.export import Export, ExportRequest
from intermezzo.domain.home_record import HomeRecord, SaveAnswer
from intermezzo.domain.orders import (
    HomeSummary,
    Observed,
    Order,
    PauseOrder,
    ResumeOrder,
    Sandbox,
    SandboxSpec,
    SandboxState,
    SnapshotChange,
    SnapshotOrder,
)
from intermezzo.domain.probe import Probed, said
from intermezzo.domain.readings import Readings
from intermezzo.domain.resources import Node
from intermezzo.domain.snapshot import Examined
from intermezzo.domain.storage import StorageItem, What
from intermezzo.node import files, home_record, machine, taking_up
from intermezzo.node.activity import Signals
from intermezzo.node.export.process import Exports
from intermezzo.node.inspection import examine
from intermezzo.node.inventory import Inventory
from intermezzo.node.processes import Finished
from intermezzo.node.site import site
from intermezzo.node.tasks import in_own_thread, in_thread
from intermezzo.node.tombstones import is_due, is_tombstone
from intermezzo.node.worker import Worker
from intermezzo.node.workspace import Tools, Workspace, now

logger = logging.getLogger(__name__)
KEEPALIVE_S = 10.0
TIDY_EVERY_S = 3600.0
TAKE_UP_AGAIN_S = 60.0


class Agent:
    """All workspaces of one node."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        config = tools.config
        self._exports = Exports(config.node_dir, config.sandbox_uid, config.sandbox_gid)
        self._signals = Signals(tools.engine, tools.guest, tools.accelerators)
        self._inventory = Inventory(tools.config.node_name, tools.keeper, tools.volumes)
        self._workers: dict[str, Worker] = {}
        self._watchers: set[asyncio.Queue[str]] = set()
        self._tasks: list[asyncio.Task[None]] = []

    def open(self) -> None:
        """Take up every workspace that is on record."""
        for record in self._tools.records.load_all():
            uid = record.order.workspace_uid
            workspace = Workspace(uid, self._tools, self._notify, record)
            self._workers[uid] = Worker(workspace, interrupted=True)
        self._tasks = [asyncio.create_task(self._tidy()), asyncio.create_task(self._take_up())]

    async def close(self) -> None:
        """Stop acting; sandboxes run on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*(worker.close() for worker in self._workers.values()))
        await self._tools.guest.close()

    def node(self) -> Node:
        """This machine, with what it has in all."""
        config, accelerators = self._tools.config, self._tools.accelerators
        return Node(
            name=config.node_name,
            capacity=machine.capacity(config.cpu_millis, config.memory_bytes, accelerators.counts()),
            engine=self._tools.engine.info,
            cpu_features=self._tools.cpu_features,
            kernel=machine.kernel(),
            accelerators=accelerators.all(),
            environments=self._tools.environments.prepared(),
        )

    async def site(self, sandbox: SandboxSpec) -> Site:
        """What such a sandbox would find here."""
        return await in_thread(site, self._tools, sandbox)

    async def examine(self, uid: str, snapshot_id: str) -> Examined:
        """What can be told of a snapshot without reading it. Raises NotFound, or OSError if a disk cannot be asked."""
        found = await in_thread(examine, self._tools.snapshots, self._tools.volumes, uid, snapshot_id)
        note = partial(self._tools.snapshots.note_damage, uid, snapshot_id, found.damage)
        if bool(found.damage) and await in_thread(note):
            self._worker(uid).tend()  # the store may have what mends it
            self._notify(uid)
        return found

    async def accept(self, order: Order) -> None:
        """Raises StaleOrder, or OSError if the order cannot be stored."""
        await self._worker(order.workspace_uid).accept(order)

    async def tend(self, order: SnapshotOrder) -> None:
        """Raises NotFound, Conflict for one that an order is using, or OSError and then nothing is changed."""
        uid, snapshot_id, snapshots = order.workspace_uid, order.snapshot_id, self._tools.snapshots
        match order.change:
            case SnapshotChange.WITHDRAW:
                self._require_unused(uid, snapshot_id)
                await in_thread(snapshots.withdraw, uid, snapshot_id)
            case SnapshotChange.VERIFY:
                # A manifest that is not what was written is known to be damaged; there is nothing to compare with.
                with suppress(Conflict):
                    await in_thread(partial(snapshots.amend, uid, snapshot_id, verify_asked_at=now()))
            case SnapshotChange.PIN | SnapshotChange.UNPIN:
                pinned = order.change is SnapshotChange.PIN
                await in_thread(partial(snapshots.amend, uid, snapshot_id, pinned=pinned))
        if uid in self._workers or snapshots.complete(uid) or snapshots.leaving(uid):
            self._worker(uid).tend()
        self._notify(uid)

    def observe(self, uid: str) -> Observed:
        """What there is of a workspace; empty for an unknown one."""
        worker = self._workers.get(uid)
        snapshots, transfers = self._tools.snapshots.complete(uid), self._tools.keeper.transfers(uid)
        if worker is None:
            return Observed(snapshots=snapshots, leaving=self._tools.snapshots.leaving(uid), transfers=transfers)
        workspace = worker.workspace
        return Observed(
            sandbox=self._sandbox(workspace),
            report=workspace.record.report if workspace.record else None,
            snapshots=snapshots,
            leaving=self._tools.snapshots.leaving(uid),
            transfers=transfers,
        )

    def observe_all(self) -> dict[str, Observed]:
        """Every workspace of which anything exists; a removed one is not among them."""
        uids = {*self._workers, *self._tools.snapshots.workspaces()}
        return {uid: self.observe(uid) for uid in sorted(uids) if not self._removed(uid)}

    async def watch(self) -> AsyncIterator[str]:
        """Uids of workspaces that changed; an empty text now and then says that the line is alive."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._watchers.add(queue)
        try:
            yield ""
            while True:
                try:
                    async with asyncio.timeout(KEEPALIVE_S):
                        uids = {await queue.get()}
                except TimeoutError:
                    yield ""
                    continue
                while not queue.empty():
                    uids.add(queue.get_nowait())
                for uid in sorted(uids):
                    yield uid
        finally:
            self._watchers.discard(queue)

    async def execute(self, uid: str, arguments: Sequence[str], timeout_s: float) -> Finished:
        """Run a command in a session. Raises NotFound or Conflict."""
        return await self._known(uid).in_session(
            lambda session: self._tools.engine.execute(session, arguments, timeout_s)
        )

    async def activity(self) -> dict[str, Readings]:
        """What is going on in every session that no operation is changing, all asked at once."""
        workers = dict(self._workers)
        self._signals.keep({session.id for worker in workers.values() if (session := worker.workspace.session)})
        read = await asyncio.gather(*map(self._read, workers.values()))
        return {uid: readings for uid, readings in zip(workers, read, strict=True) if readings is not None}

    async def probe(self, uid: str, script: str, timeout_s: float) -> Probed:
        """Run an activity script in a session. Raises Conflict, InvalidInput or Unreachable."""
        if uid not in self._workers:
            raise Conflict(f"workspace {uid} has no session")
        ended = await self._workers[uid].in_session(lambda session: self._tools.guest.probe(session, script, timeout_s))
        if ended["status"] is None:
            raise InvalidInput(f"the activity script did not end within {timeout_s:.0f} s")
        if ended["status"] != 0:
            raise InvalidInput(f"the activity script ended with status {ended['status']}", str(ended["last_line"]))
        return said(str(ended["output"]), int(ended["at"]))

    async def _read(self, worker: Worker) -> Readings | None:
        try:
            return await worker.in_session(self._signals.read)
        except Conflict:
            return None

    async def logs(self, uid: str, lines: int) -> str:
        """The newest lines of the server's log."""
        return await in_thread(files.tail, self._tools.engine.log(uid), lines)

    async def home(self, volume_id: str) -> HomeSummary:
        """Raises NotFound or Refused."""
        return await in_thread(self._tools.volumes.summary, volume_id)

    @asynccontextmanager
    async def export(self, request: ExportRequest) -> AsyncIterator[Export]:
        """Raises NotFound, Refused, Conflict, or Unreachable for an archive that cannot be finished."""
        home = await in_thread(self._tools.volumes.existing, request.volume_id)
        try:
            environment = self._tools.environments.get(request.environment)
        except InvalidInput:
            environment = None  # the packages below the home's are not known then, and the files are all the same
        async with self._exports.archive(request, home, environment) as made:
            yield made

    async def home_record(self, volume_id: str) -> HomeRecord:
        """Raises NotFound or Refused."""
        return await in_thread(lambda: home_record.read(self._tools.volumes.existing(volume_id)))

    async def checkpoint(self, uid: str) -> list[SaveAnswer]:
        """Have the programs of a session save. Raises Conflict or Unreachable."""
        if uid not in self._workers:
            raise Conflict(f"workspace {uid} has no session")
        return await self._workers[uid].in_session(self._tools.guest.checkpoints)

    async def discard(self, volume_id: str) -> None:
        """Raises Conflict for a volume that a sandbox or a snapshot has files on, Refused, or OSError if some stays."""
        live = [worker.workspace.volume_ids for worker in self._workers.values()]
        saved = await in_thread(self._tools.snapshots.volume_ids)
        if any(volume_id in ids for ids in (*live, saved)):
            raise Conflict(f"volume {volume_id} is used by a sandbox or a snapshot")
        await in_thread(self._tools.volumes.remove, volume_id)

    async def stored(self, known_volumes: Collection[str]) -> list[StorageItem]:
        """What lies on the disks. Raises OSError."""
        working = {uid for uid, worker in self._workers.items() if worker.workspace.working}
        return await in_thread(self._inventory.items, frozenset(known_volumes), working)

    async def clear(self, item: StorageItem) -> None:
        """Raises Conflict for what an order or a session may need, InvalidInput, or OSError if some of it stays."""
        worker = self._workers.get(item.workspace_uid)
        if worker and (worker.workspace.working or (worker.workspace.session and item.what is What.SNAPSHOT)):
            raise Conflict(f"workspace {item.workspace_uid} is in use", "Try again later.")
        await in_thread(self._inventory.clear, item)
        self._notify(item.workspace_uid)

    async def remains(self) -> dict[str, list[str]]:
        """What exists on the machine of everything that sandboxes are made of, by kind."""
        return await self._tools.engine.remains()

    async def teardown(self) -> dict[str, list[str]]:
        """End every sandbox, take back every change to the host; returns what is left, by kind and in one list."""
        for worker in self._workers.values():
            await worker.close()
            await worker.workspace.end_sandbox()
        await self._tools.engine.tidy()
        remains = await self.remains()
        return {**remains, "left": [f"{kind}: {name}" for kind, names in remains.items() for name in names]}

    def _known(self, uid: str) -> Worker:
        if uid not in self._workers:
            raise NotFound(f"there is no workspace {uid}")
        return self._workers[uid]

    def _worker(self, uid: str) -> Worker:
        if uid not in self._workers:
            self._workers[uid] = Worker(Workspace(uid, self._tools, self._notify, None))
        return self._workers[uid]

    def _require_unused(self, uid: str, snapshot_id: str) -> None:
        if self._tools.keeper.used(uid, snapshot_id):
            raise Conflict(f"snapshot {snapshot_id} is in use by a resume or a fork")
        worker = self._workers.get(uid)
        record = worker.workspace.record if worker and worker.workspace.working else None
        if record and isinstance(record.order, PauseOrder | ResumeOrder) and record.order.snapshot_id == snapshot_id:
            raise Conflict(f"snapshot {snapshot_id} is in use by a {record.order.kind}")

    def _sandbox(self, workspace: Workspace) -> Sandbox | None:
        record = workspace.living
        if record is None:
            return None
        state = SandboxState.RUNNING if record.answering else SandboxState.STARTING
        return Sandbox(
            id=record.id,
            token=record.token,
            state=SandboxState.FROZEN if record.saving_as else state,
            node=self._tools.config.node_name,
            endpoint=record.endpoint,
            memory_bytes=self._tools.engine.memory_bytes(record),
            keeps_process=record.keeps_process,
        )

    def _removed(self, uid: str) -> bool:
        worker = self._workers.get(uid)
        return worker is not None and is_tombstone(worker.workspace.record) and not self._tools.snapshots.complete(uid)

    async def _tidy(self) -> None:
        while True:
            await self.bury(now())
            await asyncio.sleep(TIDY_EVERY_S)

    async def _take_up(self) -> None:
        while self._tools.keeper.keeping.store:
            try:
                found = await in_own_thread(partial(taking_up.take_up, self._tools.keeper))
            except (IntermezzoError, OSError) as error:
                logger.warning("what the store has was not taken up yet: %s", error)
                await asyncio.sleep(TAKE_UP_AGAIN_S)
                continue
            logger.info("snapshots taken up from the store: %d", len(found))
            for uid in {manifest.workspace_uid for manifest in found}:
                self._notify(uid)
            return

    async def bury(self, at: int) -> None:
        """Let go of what was removed long before `at` (epoch milliseconds)."""
        for uid, worker in list(self._workers.items()):
            workspace = worker.workspace
            if workspace.writing or not is_due(workspace.record, at) or not self._removed(uid):
                continue
            # Nothing may be awaited between the look and the end: an order could be accepted meanwhile.
            del self._workers[uid]
            try:
                self._tools.records.forget(uid)
            except OSError as error:
                logger.warning("the record of the removed workspace %s stays: %s", uid, error)
            await worker.close()

    def _notify(self, uid: str) -> None:
        for queue in self._watchers:
            queue.put_nowait(uid)


def prepare_folders(data_dir: Path, node_dir: Path) -> None:
    """Make the agent's own directories, closed to everybody else."""
    data_dir.mkdir(mode=0o755, parents=True, exist_ok=True)
    node_dir.mkdir(mode=0o700, exist_ok=True)
    node_dir.chmod(0o700)
