"""What the ledger says about time: who held which capacity when, and in which state each workspace was.

Everything here is derived from entries and from nothing else, in whole milliseconds, so that a report made today and
one made tomorrow agree about yesterday. Intervals are half-open: `start` belongs to one, `end` to the next. An interval
without an end is still open; no present time ever stands in for it unless the caller gives one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.resources import Resources


@dataclass(frozen=True, slots=True)
class Interval:
    """From `start` up to but not including `end` (epoch milliseconds); open while `end` is None."""

    start: int
    end: int | None = None

    def within(self, first: int, last: int) -> int:
        """How many milliseconds of it lie between the two times."""
        end = last if self.end is None else min(self.end, last)
        return max(0, end - max(self.start, first))

    def length(self, now: int) -> int:
        """How many milliseconds it has lasted by `now`; what is over does not change any more."""
        return self.within(self.start, now)


@dataclass(frozen=True, slots=True)
class Hold:
    """Capacity that a workspace held on a node."""

    workspace_uid: str
    namespace: str
    name: str
    node: str
    amount: Resources
    interval: Interval


class State(StrEnum):
    """What a workspace was doing, as far as its time is concerned."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    RESUMING = "resuming"
    FAILED = "failed"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class Stay:
    """A workspace was in one state all this time. The stays of a workspace follow each other without a gap."""

    state: State
    interval: Interval


def holds(entries: Iterable[Entry]) -> list[Hold]:
    """Every hold of every workspace, in the order in which they began. An attempt that got no capacity has none."""
    found: list[Hold] = []
    held: dict[str, int] = {}
    for entry in steady(entries):
        index = held.pop(entry.workspace_uid, None) if entry.event in _ENDS_HOLD else None
        if index is not None:
            begun = found[index]
            found[index] = replace(begun, interval=Interval(begun.interval.start, entry.at))
        if entry.event is Event.CAPACITY_ACQUIRED:
            held[entry.workspace_uid] = len(found)
            found.append(_hold(entry))
    return found


def stays(entries: Iterable[Entry]) -> list[Stay]:
    """The states of one workspace one after another, from its creation to its end."""
    found: list[Stay] = []
    for entry, state in _states(steady(entries)):
        if found and found[-1].interval.end is None:
            last = found.pop()
            if last.state is state:
                found.append(last)
                continue
            if entry.at > last.interval.start:
                found.append(Stay(last.state, Interval(last.interval.start, entry.at)))
        if state is not None:
            found.append(Stay(state, Interval(entry.at)))
    return found


def time_in(state: State, found: Iterable[Stay], first: int, last: int) -> int:
    """Milliseconds in a state between two times."""
    return sum(stay.interval.within(first, last) for stay in found if stay.state is state)


def steady(entries: Iterable[Entry]) -> list[Entry]:
    """The control plane's entries in the order of the ledger, with times that never go back.

    The order is the truth; a clock that was set back must not give an interval of less than nothing. What a node
    saw is left out: it is written down later than it happened.
    """
    found: list[Entry] = []
    latest: dict[str, int] = {}
    for entry in sorted(entries, key=lambda e: e.seq):
        if entry.source != "node" and entry.event not in _NOT_A_CHANGE:
            at = max(entry.at, latest.get(entry.workspace_uid, entry.at))
            latest[entry.workspace_uid] = at
            found.append(replace(entry, at=at))
    return found


def amount(entry: Entry) -> Resources:
    """The amount of capacity that an entry speaks of."""
    details = entry.details
    return Resources(details.get("cpu_millis", 0), details.get("memory_bytes", 0), details.get("accelerators", {}))


def _hold(entry: Entry) -> Hold:
    node = str(entry.details.get("node", ""))
    return Hold(entry.workspace_uid, entry.namespace, entry.name, node, amount(entry), Interval(entry.at))


def _states(entries: Sequence[Entry]) -> Iterator[tuple[Entry, State | None]]:
    """Each entry that changes the state, with the state that begins; None where the workspace is gone."""
    bringing_up = State.STARTING
    for entry in entries:
        bringing_up = _BRINGING_UP.get(entry.event, bringing_up)
        told = str(entry.details.get("phase", "")).lower()
        if entry.event is Event.CAPACITY_ACQUIRED:
            yield entry, bringing_up
        elif entry.event is Event.DELETED:
            yield entry, None
        elif entry.event in _TELLS_PHASE and told in set(State):
            yield entry, State(told)
        elif entry.event in _BEGINS:
            yield entry, _BEGINS[entry.event]


# The last activity lies before the entry's place in the ledger, and no note of progress ends a state.
_NOT_A_CHANGE = {Event.LAST_ACTIVITY, Event.PROVEN, Event.NEXT_CELL_RAN, Event.WAS_FORKED}
_ENDS_HOLD = {Event.CAPACITY_FREED, Event.CAPACITY_ACQUIRED, Event.DELETED}
_TELLS_PHASE = {
    Event.START_FAILED,
    Event.RESUME_FAILED,
    Event.FORK_FAILED,
    Event.PAUSE_FAILED,
    Event.LOST,
    Event.RESUMED,
    Event.CANCELLED,
}
_BRINGING_UP = {
    Event.START_ASKED: State.STARTING,
    Event.RESUME_ASKED: State.RESUMING,
    Event.FORK_ASKED: State.STARTING,
}
_BEGINS = {
    Event.START_ASKED: State.STARTING,
    Event.RESUME_ASKED: State.RESUMING,
    Event.FORK_ASKED: State.STARTING,
    Event.FORKED: State.RUNNING,
    Event.FORK_FAILED: State.FAILED,
    Event.QUEUED: State.QUEUED,
    Event.STARTED: State.RUNNING,
    Event.START_FAILED: State.FAILED,
    Event.PAUSE_ASKED: State.PAUSING,
    Event.PAUSED: State.PAUSED,
    Event.PAUSE_FAILED: State.RUNNING,
    Event.RESUMED: State.RUNNING,
    Event.RESUME_FAILED: State.PAUSED,
    Event.CANCELLED: State.PAUSED,
    Event.LOST: State.FAILED,
    Event.DELETE_ASKED: State.DELETING,
}
