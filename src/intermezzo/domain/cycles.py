"""Pauses and what came after them, as the ledger tells it: every moment between the last activity and the next cell.

Derived from entries only. A moment that is not in the ledger is None, and so is every duration that needs it: nothing
is estimated. Times are epoch milliseconds, durations milliseconds.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from intermezzo.domain.intervals import Hold, Interval, amount
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.resources import Resources


@dataclass(frozen=True, slots=True)
class Return:
    """One attempt to come back: a resume, or (`fresh`) a start from the files."""

    operation_id: str
    asked: int
    fresh: bool = False
    acquired: int | None = None
    restored: int | None = None
    answered: int | None = None
    ready: int | None = None
    next_cell: int | None = None
    ended: int | None = None
    succeeded: bool = False
    verdict: str = ""

    @property
    def waited_ms(self) -> int | None:
        """From being asked to having capacity."""
        return _between(self.asked, self.acquired)

    @property
    def to_ready_ms(self) -> int | None:
        """From being asked to a session that is ready."""
        return _between(self.asked, self.ready)

    @property
    def to_next_cell_ms(self) -> int | None:
        """From being asked to the first cell that ran."""
        return _between(self.asked, self.next_cell)


@dataclass(frozen=True, slots=True)
class Taking:
    """Capacity of the node that somebody else took while it was free."""

    workspace_uid: str
    namespace: str
    name: str
    amount: Resources
    interval: Interval


class PauseOutcome(StrEnum):
    """How a pause ended: capacity given back, the session running on, or the session gone without a snapshot."""

    PAUSED = "paused"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Cycle:
    """One pause of one workspace, and every attempt to come back from it."""

    workspace_uid: str
    operation_id: str
    asked: int
    last_activity: int | None = None
    frozen: int | None = None
    snapshot_done: int | None = None
    process_gone: int | None = None
    freed: int | None = None
    ended: int | None = None
    outcome: PauseOutcome | None = None
    node: str = ""
    freed_amount: Resources = field(default_factory=Resources)
    snapshot_id: str = ""
    snapshot_bytes: int = 0
    returns: tuple[Return, ...] = ()

    @property
    def pause_to_free_ms(self) -> int | None:
        """From the request of the pause to capacity that others can use."""
        return _between(self.asked, self.freed)

    @property
    def snapshot_ms(self) -> int | None:
        """How long the session was frozen while it was saved."""
        return _between(self.frozen, self.snapshot_done)

    @property
    def reacquired(self) -> int | None:
        """When this workspace held capacity again for the first time."""
        return next((r.acquired for r in self.returns if r.acquired is not None), None)

    @property
    def without_allocation(self) -> Interval | None:
        """The time in which the workspace held nothing; None for a pause that freed nothing."""
        return None if self.freed is None else Interval(self.freed, self.reacquired)


def cycles(entries: Iterable[Entry]) -> list[Cycle]:
    """The pauses of one workspace in the order in which they were asked for."""
    found: list[Cycle] = []
    for entry in sorted(entries, key=lambda e: e.seq):
        if entry.event is Event.PAUSE_ASKED:
            found.append(Cycle(entry.workspace_uid, entry.operation_id, entry.at))
        elif found:
            found[-1] = _with(found[-1], entry)
    return found


def takings(cycle: Cycle, others: Iterable[Hold]) -> list[Taking]:
    """Who took capacity on the node after this pause had freed it and before the workspace had it back.

    `others` may be the holds of every workspace; an interval ends when the workspace is back, at the latest.
    """
    free = cycle.without_allocation
    if free is None:
        return []
    return [
        Taking(h.workspace_uid, h.namespace, h.name, h.amount, Interval(h.interval.start, _earlier(h.interval, free)))
        for h in others
        if h.workspace_uid != cycle.workspace_uid
        and h.node == cycle.node
        and free.start <= h.interval.start
        and (free.end is None or h.interval.start < free.end)
    ]


def _with(cycle: Cycle, entry: Entry) -> Cycle:
    if cycle.outcome is None or (not cycle.returns and entry.event not in _ASKED):
        return _pausing(cycle, entry)
    if cycle.outcome is PauseOutcome.FAILED:
        return cycle
    if entry.event in _ASKED and not any(attempt.succeeded for attempt in cycle.returns):
        attempt = Return(entry.operation_id, entry.at, entry.event is Event.START_ASKED)
        return replace(cycle, returns=(*cycle.returns, attempt))
    return replace(cycle, returns=(*cycle.returns[:-1], _returning(cycle.returns[-1], entry)))


def _pausing(cycle: Cycle, entry: Entry) -> Cycle:
    match entry.event:
        case Event.CAPACITY_FREED if cycle.freed is None:
            node = str(entry.details.get("node", ""))
            return replace(cycle, freed=entry.at, node=node, freed_amount=amount(entry))
        case Event.SNAPSHOT_DONE if cycle.snapshot_done is None:
            snapshot_id, size = str(entry.details.get("snapshot_id", "")), int(entry.details.get("bytes", 0))
            return replace(cycle, snapshot_done=entry.at, snapshot_id=snapshot_id, snapshot_bytes=size)
        case Event.LAST_ACTIVITY if cycle.last_activity is None:
            return replace(cycle, last_activity=entry.at)
        case Event.FROZEN if cycle.frozen is None:
            return replace(cycle, frozen=entry.at)
        case Event.PROCESS_GONE if cycle.process_gone is None:
            return replace(cycle, process_gone=entry.at)
        case Event.PAUSED | Event.PAUSE_FAILED | Event.LOST if cycle.outcome is None:
            return replace(cycle, ended=entry.at, outcome=_OUTCOMES[entry.event])
    return cycle


def _returning(attempt: Return, entry: Entry) -> Return:
    if attempt.ended is not None and entry.event is not Event.NEXT_CELL_RAN:
        return attempt
    match entry.event:
        case Event.CAPACITY_ACQUIRED if attempt.acquired is None:
            return replace(attempt, acquired=entry.at)
        case Event.RESTORED if attempt.restored is None:
            return replace(attempt, restored=entry.at)
        case Event.SERVER_ANSWERED if attempt.answered is None:
            return replace(attempt, answered=entry.at)
        case Event.PROVEN:
            return replace(attempt, verdict=str(entry.details.get("verdict", "")))
        case Event.NEXT_CELL_RAN if attempt.next_cell is None:
            return replace(attempt, next_cell=entry.at)
        case Event.RESUMED | Event.STARTED:
            return replace(attempt, ready=entry.at, ended=entry.at, succeeded=True)
        case Event.RESUME_FAILED | Event.START_FAILED | Event.CANCELLED | Event.LOST | Event.DELETE_ASKED:
            return replace(attempt, ended=entry.at)
    return attempt


def _between(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else max(0, end - start)


def _earlier(one: Interval, other: Interval) -> int | None:
    ends = [interval.end for interval in (one, other) if interval.end is not None]
    return min(ends) if ends else None


_ASKED = {Event.RESUME_ASKED, Event.START_ASKED}
_OUTCOMES = {
    Event.PAUSED: PauseOutcome.PAUSED,
    Event.PAUSE_FAILED: PauseOutcome.FAILED,
    Event.LOST: PauseOutcome.LOST,
}
