"""A cluster that exists in memory only, as asynchronous and as strict as a real one.

An order is accepted, not done: it advances when `step` or `settle` is called or, with `delay_s`, by itself. Every
promise of the port is kept; `violations` tells if one was ever broken, by this cluster or by the one who commands it.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from intermezzo.adapters.memory.archive import archive, in_pieces
from intermezzo.adapters.memory.faults import Faults
from intermezzo.adapters.memory.inventory import clear, items
from intermezzo.adapters.memory.signals import readings
from intermezzo.adapters.memory.workers import OrderFailed, Steps, steps
from intermezzo.adapters.memory.world import LiveSandbox, World, simulated_node
from intermezzo.domain.compatibility import Site
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, StaleOrder, Unreachable
from intermezzo.domain.export import Export, ExportRequest
from intermezzo.domain.home_record import HomeRecord, SaveAnswer
from intermezzo.domain.orders import (
    ForkOrder,
    HomeSummary,
    Observed,
    Order,
    OrderReport,
    OrderState,
    PauseOrder,
    Problem,
    RemoveOrder,
    ResumeOrder,
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
from intermezzo.ports.clock import Clock, SystemClock

SANDBOXES_AT_ONCE = 50


@dataclass(slots=True)
class _Work:
    """An accepted order and how far it is."""

    order: Order
    steps: Steps
    state: OrderState = OrderState.WORKING
    step: str = ""
    problem: Problem | None = None
    times: dict[str, int] = field(default_factory=dict)


class MemoryCluster:
    """Implements `ports.cluster.Cluster`.

    With `delay_s` (seconds) each step of an order completes after that time; without, only when told.
    """

    def __init__(self, nodes: Sequence[Node] = (), clock: Clock | None = None, *, delay_s: float | None = None) -> None:
        self.world = World(clock or SystemClock(), list(nodes) or [simulated_node()])
        self.faults = Faults()
        self.refused: list[Order] = []
        self._delay_s = delay_s
        self._work: dict[str, _Work] = {}
        self._accepted: dict[str, tuple[int, str]] = {}
        self._held: list[Order] = []
        self._watchers: set[asyncio.Queue[str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def violations(self) -> list[str]:
        """Promises that were broken; must always be empty."""
        return self.world.violations

    async def nodes(self) -> list[Node]:
        """The nodes."""
        self._require_reachable()
        return list(self.world.nodes)

    async def observe(self, workspace_uid: str) -> Observed:
        """What there is of a workspace."""
        self._require_reachable()
        return self._observed(workspace_uid)

    async def observe_all(self) -> dict[str, Observed]:
        """What there is of each workspace of which anything exists."""
        self._require_reachable()
        alive = {live.workspace_uid for live in self.world.sandboxes.values()}
        saved = {uid for uid, sessions in self.world.saved.items() if sessions}
        ordered = {uid for uid, work in self._work.items() if not _nothing_left(work)}
        return {uid: self._observed(uid) for uid in sorted(alive | saved | ordered)}

    async def send(self, order: Order) -> None:
        """Accept an order."""
        self._require_reachable()
        if order.kind in self.faults.refuses:
            raise InvalidInput("this order can never be carried out")
        if self.faults.holding:
            self._held.append(order)
            raise Unreachable("no answer came in time")
        self._accept(order)
        if self.faults.loses_answers:
            raise Unreachable("no answer came in time")

    async def tend(self, order: SnapshotOrder) -> None:
        """Change what is kept of one snapshot; a verification is done at once."""
        self._require_reachable()
        uid, snapshot_id = order.workspace_uid, order.snapshot_id
        if order.change is SnapshotChange.WITHDRAW:
            self._require_unused(uid, snapshot_id)
            self.world.withdraw(uid, snapshot_id)
            if not self.faults.keeps_bytes:
                self.world.withdrawn.pop(uid, None)
        elif self.world.find(uid, snapshot_id) is None:
            raise NotFound(f"there is no complete snapshot {snapshot_id}")
        elif order.change is SnapshotChange.VERIFY:
            self.world.verify(uid, snapshot_id)
        else:
            self.world.amend(uid, snapshot_id, pinned=order.change is SnapshotChange.PIN)
        self._tell(uid)

    async def sites(self, sandbox: SandboxSpec) -> list[Site]:
        """What such a sandbox would find on each node."""
        self._require_reachable()
        return [self.world.site(node, sandbox) for node in self.world.nodes]

    async def examine(self, workspace_uid: str, snapshot_id: str) -> Examined:
        """What can be told of a snapshot."""
        self._require_reachable()
        session = self.world.find(workspace_uid, snapshot_id)
        if session is None:
            raise NotFound(f"there is no complete snapshot {snapshot_id}")
        return self.world.examine(session)

    async def watch(self) -> AsyncIterator[str]:
        """Uids of workspaces that may have changed."""
        changes: asyncio.Queue[str] = asyncio.Queue()
        self._watchers.add(changes)
        try:
            while True:
                yield await changes.get()
        finally:
            self._watchers.discard(changes)

    async def logs(self, workspace_uid: str, tail_lines: int) -> str:
        """The newest lines."""
        self._require_reachable()
        lines = self.world.logs.get(workspace_uid, [])
        return "\n".join(lines[max(0, len(lines) - tail_lines) :])

    async def home(self, volume_id: str) -> HomeSummary:
        """The files of a volume."""
        self._require_reachable()
        if volume_id not in self.world.volumes:
            raise NotFound(f"there is no volume {volume_id}")
        files = self.world.volumes[volume_id]
        digest = hashlib.sha256()
        for path in sorted(files):
            digest.update(f"{path}\0{len(files[path])}\0".encode() + files[path])
        return HomeSummary(len(files), sum(map(len, files.values())), digest.hexdigest())

    async def home_record(self, volume_id: str) -> HomeRecord:
        """What was put into `world.home_records`; nothing for another volume that there is."""
        self._require_reachable()
        if volume_id not in self.world.volumes:
            raise NotFound(f"there is no volume {volume_id}")
        return self.world.home_records.get(volume_id, HomeRecord())

    async def checkpoint(self, workspace_uid: str) -> list[SaveAnswer]:
        """What its programs do; what they save is in the home from then on."""
        self._require_reachable()
        live = self.world.sandbox_of(workspace_uid)
        if live is None or live.state is not SandboxState.RUNNING or self._is_working(workspace_uid):
            raise Conflict("this can only be done in a session that runs, with no operation under way")
        return self.world.save_checkpoints(live)

    @asynccontextmanager
    async def export(self, request: ExportRequest) -> AsyncIterator[Export]:
        """An archive of a volume's files."""
        self._require_reachable()
        if request.volume_id not in self.world.volumes:
            raise NotFound(f"there is no volume {request.volume_id}")
        files = self.world.volumes[request.volume_id]
        yield Export(len(files), sum(map(len, files.values())), in_pieces(archive(request, files)))

    async def discard(self, volume_id: str) -> None:
        """Delete a volume."""
        self._require_reachable()
        if self.world.has_files_on(volume_id):
            raise Conflict(f"volume {volume_id} is used by a sandbox or a snapshot")
        self.world.volumes.pop(volume_id, None)

    async def stored(self, known_volumes: Collection[str]) -> list[StorageItem]:
        """What there is of snapshots and of volumes that are not known."""
        self._require_reachable()
        found = items(self.world, known_volumes)
        return [replace(item, in_use=self._is_working(item.workspace_uid)) for item in found]

    async def clear(self, item: StorageItem) -> None:
        """Delete one of them."""
        self._require_reachable()
        session = item.what is What.SNAPSHOT and self.world.sandbox_of(item.workspace_uid) is not None
        if self._is_working(item.workspace_uid) or session:
            raise Conflict(f"workspace {item.workspace_uid} is in use", "Try again later.")
        if self.faults.keeps_bytes:
            raise Unreachable("the disk refuses to delete")
        clear(self.world, item)
        self._tell(item.workspace_uid)

    async def activity(self) -> dict[str, Readings]:
        """What is going on in every sandbox that runs; others may go on between fifty and the next."""
        self._require_reachable()
        found = {}
        for place, live in enumerate(list(self.world.sandboxes.values())):
            if place % SANDBOXES_AT_ONCE == 0:
                await asyncio.sleep(0)
            if live.state is SandboxState.RUNNING and not self._is_working(live.workspace_uid):
                found[live.workspace_uid] = readings(live, self.world.clock.now())
        return found

    async def probe(self, workspace_uid: str, script: str, timeout_s: float) -> Probed:
        """Whatever the script is, it writes what the sandbox's doings say."""
        self._require_reachable()
        live = self.world.sandbox_of(workspace_uid)
        if live is None or live.state is not SandboxState.RUNNING or self._is_working(workspace_uid):
            raise Conflict("this can only be done in a session that runs, with no operation under way")
        if live.memory.doings.probe is None:
            raise InvalidInput("the probe ended with status 1")
        return said(live.memory.doings.probe, self.world.clock.now())

    async def close(self) -> None:
        """End what runs by itself."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def step(self, workspace_uid: str = "") -> bool:
        """Complete one step of each order under way (of one workspace); False when there is nothing to do."""
        due = [
            uid for uid, work in self._work.items() if work.state is OrderState.WORKING and workspace_uid in ("", uid)
        ]
        for uid in due:
            self._advance(uid)
        return bool(due)

    def settle(self) -> None:
        """Carry out everything that was accepted, to the end."""
        while self.step():
            pass

    def deliver(self) -> None:
        """Let the orders that were held up arrive now; the stale ones are refused, and nobody hears of it."""
        held, self._held = self._held, []
        for order in held:
            try:
                self._accept(order)
            except StaleOrder:
                self.refused.append(order)

    def sandbox(self, workspace_uid: str) -> LiveSandbox | None:
        """The workspace's sandbox from the inside, for a test to look at."""
        return self.world.sandbox_of(workspace_uid)

    def lose_sandbox(self, workspace_uid: str) -> None:
        """The sandbox dies by itself, as on an out-of-memory kill; nothing is reported."""
        live = self.world.sandbox_of(workspace_uid)
        if live:
            self.world.end(live)
            self._tell(workspace_uid)

    def restart_agent(self) -> None:
        """The node's agent dies and comes back: orders under way are given up, sandboxes run on."""
        for uid, work in self._work.items():
            if work.state is OrderState.WORKING:
                work.steps.close()
                self._fail(work, Problem("interrupted", "The node's agent was restarted during the operation."))
                self._tell(uid)

    def reboot_nodes(self) -> None:
        """Every sandbox is gone; snapshots and files are there."""
        self.restart_agent()
        for live in list(self.world.sandboxes.values()):
            self.lose_sandbox(live.workspace_uid)

    def _accept(self, order: Order) -> None:
        token, kind = self._accepted.get(order.workspace_uid, (-1, ""))
        if (order.token, order.kind) == (token, kind):
            return
        # A stop may follow under the same token: it ends what that order began.
        if order.token < token or (order.token == token and order.kind != "stop"):
            raise StaleOrder(f"an order with token {token} was accepted before this one with {order.token}")
        before = self._work.get(order.workspace_uid)
        if before:
            before.steps.close()
        self._accepted[order.workspace_uid] = (order.token, order.kind)
        self._work[order.workspace_uid] = _Work(order, steps(self.world, order))
        self._advance(order.workspace_uid)
        if self._delay_s is not None:
            task = asyncio.get_running_loop().create_task(self._carry_out(self._work[order.workspace_uid]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry_out(self, work: _Work) -> None:
        uid = work.order.workspace_uid
        while True:
            await asyncio.sleep(self._delay_s or 0)
            if self._work.get(uid) is not work or work.state is not OrderState.WORKING:
                return
            self._advance(uid)

    def _advance(self, workspace_uid: str) -> None:
        work = self._work[workspace_uid]
        if work.order.token != self._accepted[workspace_uid][0]:
            self.world.violations.append(f"order {work.order.token} of workspace {workspace_uid} is stale, yet runs")
        try:
            planned = self.faults.due(work.order.kind, work.step)
            work.step = work.steps.throw(OrderFailed(planned)) if planned else next(work.steps)
        except StopIteration as end:
            work.step, work.state = end.value, OrderState.DONE
            work.times[work.step] = self.world.clock.now()
        except OrderFailed as failed:
            self._fail(work, failed.problem)
        else:
            work.times[work.step] = self.world.clock.now()
            self._forget_if_told(work)
        self._tell(workspace_uid)

    def _forget_if_told(self, work: _Work) -> None:
        live = self.world.sandbox_of(work.order.workspace_uid)
        if (
            live
            and isinstance(work.order, ResumeOrder | ForkOrder)
            and work.step == "restored"
            and self.faults.forgetful
        ):
            for kernel_id in list(live.memory.kernels):
                self.world.processes.start_kernel(live.memory, kernel_id)

    def _fail(self, work: _Work, problem: Problem) -> None:
        work.state, work.problem = OrderState.FAILED, problem
        self.world.note(work.order.workspace_uid, f"{work.order.kind} failed: {problem.message}")

    def _observed(self, uid: str) -> Observed:
        live = self.world.sandbox_of(uid)
        work = self._work.get(uid)
        report = self._report(work) if work else None
        leaving = tuple(sorted(self.world.withdrawn.get(uid, {})))
        return Observed(
            True,
            live.seen() if live else None,
            report,
            self.world.manifests(uid),
            leaving=leaving,
            transfers=tuple(self.world.transfers.get(uid, ())),
        )

    def _report(self, work: _Work) -> OrderReport:
        order = work.order
        wanted = order.snapshot_id if isinstance(order, PauseOrder | ResumeOrder) else ""
        saved = self.world.find(order.workspace_uid, wanted)
        return OrderReport(
            order.kind,
            order.token,
            order.operation_id,
            work.state,
            problem=work.problem,
            times=dict(work.times),
            snapshot=saved.manifest if saved else None,
        )

    def _is_working(self, uid: str) -> bool:
        work = self._work.get(uid)
        return work is not None and work.state is OrderState.WORKING

    def _tell(self, workspace_uid: str) -> None:
        for changes in self._watchers:
            changes.put_nowait(workspace_uid)

    def _require_unused(self, uid: str, snapshot_id: str) -> None:
        if (uid, snapshot_id) in self.world.read.values():
            raise Conflict(f"snapshot {snapshot_id} is in use by a fork")
        work = self._work.get(uid)
        if work is None or work.state is not OrderState.WORKING:
            return
        if isinstance(work.order, PauseOrder | ResumeOrder) and work.order.snapshot_id == snapshot_id:
            raise Conflict(f"snapshot {snapshot_id} is in use by a {work.order.kind}")

    def _require_reachable(self) -> None:
        if self.faults.unreachable:
            raise Unreachable("the cluster does not answer", "It is asked again by itself.")


def _nothing_left(work: _Work) -> bool:
    return isinstance(work.order, RemoveOrder) and work.state is OrderState.DONE
