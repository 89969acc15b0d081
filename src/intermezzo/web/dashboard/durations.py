"""How long pauses and resumes of one workspace took before, as the best guess of how long the next will take. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from intermezzo.domain.ledger import Entry, Event

_BEGINS = {Event.PAUSE_ASKED: Event.PAUSED, Event.RESUME_ASKED: Event.RESUMED}


@dataclass(frozen=True, slots=True)
class Durations:
    """Milliseconds from asking to the end, waiting in the queue included, the last time; 0 where there was none."""

    pause_ms: int = 0
    resume_ms: int = 0

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """From a workspace's ledger."""
        asked: dict[tuple[str, Event], int] = {}
        lasted: dict[Event, int] = {}
        for entry in entries:
            if entry.event in _BEGINS:
                asked[entry.operation_id, _BEGINS[entry.event]] = entry.at
            elif (entry.operation_id, entry.event) in asked:
                lasted[entry.event] = max(0, entry.at - asked[entry.operation_id, entry.event])
        return cls(lasted.get(Event.PAUSED, 0), lasted.get(Event.RESUMED, 0))
