"""One workspace on this node: its record, and the order being worked on. The record decides, not what was just heard.

Facts about the sandbox are stored before they are made true, so that after a crash nothing exists that the record
does not know. An order that was superseded can no longer change the report.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from intermezzo.domain.errors import EngineFailure, IntermezzoError, NotEnoughSpace, NotFound, StaleOrder
from intermezzo.domain.orders import (
    ForkOrder,
    Order,
    OrderReport,
    OrderState,
    Problem,
    Progress,
    ResumeOrder,
    StartOrder,
)
from intermezzo.domain.snapshot import Manifest
from intermezzo.node.accelerators import Accelerators
from intermezzo.node.config import NodeConfig
from intermezzo.node.engine import Engine, SnapshotEngine
from intermezzo.node.environments import Environments
from intermezzo.node.guest import GuestClient
from intermezzo.node.keeper import Keeper
from intermezzo.node.records import Records, SandboxRecord, WorkspaceRecord
from intermezzo.node.scrub import Scrub
from intermezzo.node.snapshots import Snapshots
from intermezzo.node.tasks import in_thread
from intermezzo.node.volumes import Volumes

logger = logging.getLogger(__name__)
CLEANUP_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Tools:
    """What every workspace of a node works with."""

    config: NodeConfig
    engine: Engine
    environments: Environments
    snapshots: Snapshots
    volumes: Volumes
    records: Records
    accelerators: Accelerators
    guest: GuestClient
    cpu_features: tuple[str, ...]
    keeper: Keeper
    scrub: Scrub


def now() -> int:
    """UTC, epoch milliseconds."""
    return time.time_ns() // 1_000_000


def accepts(record: WorkspaceRecord | None, order: Order) -> bool:
    """Whether an order is a new one (True) or a repetition (False). Raises StaleOrder for one that comes too late."""
    if record is None or order.token > record.order.token:
        return True
    if order.token == record.order.token:
        if order.kind == record.order.kind:
            return False
        if order.kind == "stop":
            return True
    raise StaleOrder(f"an order with token {record.order.token} was accepted before this one with {order.token}")


def problem(error: Exception) -> Problem:
    """An error as a report shows it."""
    if isinstance(error, NotEnoughSpace):
        sizes = f"needed_bytes={error.needed_bytes} free_bytes={error.free_bytes}"
        return Problem(error.code, error.message, error.hint, error.detail or sizes)
    if isinstance(error, EngineFailure):
        return Problem(error.code, error.message, error.hint, error.detail)
    if isinstance(error, IntermezzoError):
        return Problem(error.code, error.message, error.hint)
    return Problem("internal_error", f"{type(error).__name__}: {error}")


class Workspace:
    """The state of one workspace and the only way to change it."""

    def __init__(self, uid: str, tools: Tools, notify: Callable[[str], None], record: WorkspaceRecord | None) -> None:
        self.uid = uid
        self.tools = tools
        self.record = record
        self._notify = notify
        self._left: list[str] = []
        self._writing = asyncio.Lock()

    @property
    def sandbox(self) -> SandboxRecord | None:
        """The sandbox as recorded; it may have ended meanwhile."""
        return self.record.sandbox if self.record else None

    @property
    def living(self) -> SandboxRecord | None:
        """The sandbox, if its process runs."""
        sandbox = self.sandbox
        return sandbox if sandbox and sandbox.process and sandbox.process.alive else None

    @property
    def session(self) -> SandboxRecord | None:
        """The sandbox, if it runs and its start or resume was completed: it holds something worth keeping."""
        sandbox = self.living
        return sandbox if sandbox and sandbox.answering else None

    @property
    def volume_ids(self) -> tuple[str, ...]:
        """The volumes of the sandbox, and of the one that an order under way is to make."""
        made = self.sandbox.spec.volume_ids if self.sandbox else ()
        order = self.record.order if self.record and self.working else None
        if isinstance(order, ForkOrder):
            made += (order.origin_volume_id,)
        return made + (order.sandbox.volume_ids if isinstance(order, StartOrder | ResumeOrder | ForkOrder) else ())

    @property
    def times(self) -> Mapping[str, int]:
        """When the steps of the last order were complete, by name."""
        return self.record.report.times if self.record else {}

    @property
    def working(self) -> bool:
        """Whether an order is under way."""
        return self.record is not None and self.record.report.state is OrderState.WORKING

    @property
    def writing(self) -> bool:
        """Whether the record is being stored, such as for an order that is about to be accepted."""
        return self._writing.locked()

    async def accept(self, order: Order) -> None:
        """Store the order durably; from then on it will be carried out. Raises OSError if it cannot be stored."""
        report = OrderReport(order.kind, order.token, order.operation_id, OrderState.WORKING, times={"accepted": now()})
        async with self._writing:
            record = WorkspaceRecord(order, report, self.sandbox)
            await in_thread(self.tools.records.save, record)
            self.record = record
        self._notify(self.uid)

    async def remember(self, sandbox: SandboxRecord | None) -> None:
        """Store durably what is known of the sandbox. Raises OSError, and then the record is as before."""
        async with self._writing:
            record = replace(self._known(), sandbox=sandbox)
            await in_thread(self.tools.records.save, record)
            self.record = record
        self._notify(self.uid)

    async def end_order(self, order: Order, failure: Exception | None = None, snapshot: Manifest | None = None) -> None:
        """Report how an order ended, unless a later one has been accepted. What cannot be stored is kept in mind."""
        async with self._writing:
            record = self._known()
            if record.order is not order:
                return
            named = f"could not be removed: {', '.join(self._left)}"
            left = (
                Problem("cleanup_incomplete", "some parts of the sandbox are left", "", named) if self._left else None
            )
            state = OrderState.FAILED if failure else OrderState.DONE
            trouble = problem(failure) if failure else left
            report = replace(record.report, state=state, progress=None, problem=trouble, snapshot=snapshot)
            self.record = replace(record, report=report)
            try:
                await in_thread(self.tools.records.save, self.record)
            except OSError as error:
                logger.error("the report of %s could not be stored: %s", self.uid, error)
        self._notify(self.uid)

    def note(self, step: str) -> None:
        """Record that a step is complete, now."""
        record = self._known()
        self.record = replace(record, report=replace(record.report, times={**record.report.times, step: now()}))
        self._notify(self.uid)

    def progress(self, step: str, done: int = 0, total: int = 0) -> None:
        """Show how far a long step is."""
        record = self._known()
        self.record = replace(record, report=replace(record.report, progress=Progress(step, done, total)))
        self._notify(self.uid)

    def tell(self) -> None:
        """Say that there is something new to observe."""
        self._notify(self.uid)

    async def settle(self) -> None:
        """Bring what an earlier attempt left to rest: a frozen session is saved already, or goes on."""
        engine, snapshots = self.tools.engine, self.tools.snapshots
        if isinstance(engine, SnapshotEngine):
            await engine.settle(self.uid)
            sandbox = self.sandbox
            if sandbox and sandbox.saving_as:
                saved = snapshots.find(self.uid, sandbox.saving_as)
                if saved and not saved.damage:
                    await self.end_sandbox()
                elif self.living:
                    await engine.thaw(sandbox)
                    await self.remember(replace(sandbox, saving_as=""))
        if not self.session and (self.sandbox or self._left):
            await self.end_sandbox()
        try:
            await in_thread(snapshots.discard_partials, self.uid)
        except OSError as error:
            # Compute is given back whatever the disk says; the bytes go with the next attempt.
            logger.warning("what a pause left of %s cannot be removed yet: %s", self.uid, error)

    async def end_sandbox(self) -> None:
        """End the sandbox and take everything of it away; what resists is named in the report and tried again."""
        engine, sandbox = self.tools.engine, self.sandbox
        for _ in range(CLEANUP_ATTEMPTS):
            left = await engine.end(self.uid, sandbox.process if sandbox else None)
            if self.working:
                self.note("process_gone")
            left += await engine.release(self.uid)
            self._left = left
            if not left:
                break
        if self.working:
            self.note("sandbox_gone")
        if left:
            logger.error("left of the sandbox of %s: %s", self.uid, ", ".join(left))
        if sandbox:
            await self.remember(None)

    def _known(self) -> WorkspaceRecord:
        if self.record is None:
            raise NotFound(f"nothing is known of workspace {self.uid}")
        return self.record
