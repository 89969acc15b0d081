"""Everything that the page of one workspace shows, gathered once. Reads only.

What cannot be asked now is left out and said to be so; a silent node never makes the page fail.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intermezzo.control.plane import ControlPlane
from intermezzo.control.queue.forecast import Forecast
from intermezzo.control.queue.places import Place
from intermezzo.control.storage.snapshots import Snapshot
from intermezzo.domain.activity import Activity
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.home_record import HomeRecord
from intermezzo.domain.intervals import holds
from intermezzo.domain.kind import Kind
from intermezzo.domain.layers import Layer
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.orders import Observed
from intermezzo.domain.quota import place_of
from intermezzo.domain.recovery import WayBack
from intermezzo.domain.workspace import OperationKind, Phase, Workspace, WorkspaceKey
from intermezzo.web.dashboard.progress import Pace, pace

PAGE_ENTRIES = 1000


@dataclass(frozen=True, slots=True)
class Yielded:
    """Capacity that came free at `at` (epoch milliseconds) on `node`, and how many others have used that node since."""

    at: int
    node: str
    used_by: int


@dataclass(frozen=True, slots=True)
class Portrait:
    """A workspace as its page shows it. `snapshots` and `recorded` are None where its node cannot be asked."""

    record: Workspace
    kind: Kind | None
    layers: Sequence[Layer]
    keeps_process: bool
    seen: Observed
    pace: Pace | None
    place: Place | None
    forecast: Forecast | None
    entries: Sequence[Entry]
    yielded: Yielded | None
    snapshots: Sequence[Snapshot] | None
    ways: Sequence[WayBack]
    recorded: HomeRecord | None
    activity: Sequence[Activity]
    recovery_text: str
    now: int

    @property
    def port_id(self) -> str:
        """The service that opens when one opens the workspace."""
        return self.kind.ports[0].id if self.kind and self.kind.ports else ""


async def portrait(key: WorkspaceKey, control: ControlPlane) -> Portrait:
    """Gather it. Raises `NotFound`."""
    record = await control.get(key)
    seen = await control.observed(key)
    entries = await history(key, control)
    snapshots = await _snapshots(key, control)
    recorded = await control.checkpoints.recorded(record)
    now = control.context.clock.now()
    return Portrait(
        record=record,
        kind=control.kinds().get(record.spec.kind),
        layers=await control.layers(record, recorded),
        keeps_process=await control.keeps_process(record),
        seen=seen,
        pace=pace(record, seen, now),
        place=await _place(record, control),
        forecast=await _forecast(record, control),
        entries=entries,
        yielded=await _yielded(record, entries, control),
        snapshots=snapshots,
        ways=control.recovery.of(record, snapshots, recorded),
        recorded=recorded,
        activity=await control.activity(record),
        recovery_text=control.context.said(record).rules.recovery_text or "",
        now=now,
    )


async def history(key: WorkspaceKey, control: ControlPlane) -> list[Entry]:
    """Its whole ledger, in order."""
    found: list[Entry] = []
    while batch := await control.ledger(key, found[-1].seq if found else 0, PAGE_ENTRIES):
        found += batch
        if len(batch) < PAGE_ENTRIES:
            break
    return found


async def _snapshots(key: WorkspaceKey, control: ControlPlane) -> list[Snapshot] | None:
    try:
        return await control.snapshots(key)
    except Unreachable:
        return None


async def _place(record: Workspace, control: ControlPlane) -> Place | None:
    try:
        return await control.place(record)
    except Unreachable:
        return None


async def _forecast(record: Workspace, control: ControlPlane) -> Forecast | None:
    """What bringing it back now would mean; nothing to tell while it holds capacity or waits for it."""
    if record.phase not in {Phase.PAUSED, Phase.FAILED}:
        return None
    kind = OperationKind.RESUME if record.snapshot else OperationKind.START
    try:
        return await control.forecast(record.demand, kind, record.owner, place_of(record))
    except Unreachable:
        return None


async def _yielded(record: Workspace, entries: Sequence[Entry], control: ControlPlane) -> Yielded | None:
    freed = next((entry for entry in reversed(entries) if entry.event is Event.CAPACITY_FREED), None)
    if freed is None or record.reservation is not None:
        return None
    node = str(freed.details.get("node", ""))
    since = holds(await control.ledger(None, freed.seq, PAGE_ENTRIES))
    others = {hold.workspace_uid for hold in since if hold.node == node and hold.workspace_uid != record.uid}
    return Yielded(freed.at, node, len(others))
