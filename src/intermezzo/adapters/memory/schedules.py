"""Schedules that live as long as their process: for tests and for a dry run.

It keeps every promise of the port but durability. Nothing in it awaits, so each method is one transaction.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from intermezzo.domain.errors import NotFound
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.schedule import Schedule
from intermezzo.domain.workspace import Workspace


class MemorySchedules:
    """Implements `ports.schedules.Schedules`, beside the records and the ledger of a memory store."""

    def __init__(
        self, records: Mapping[str, Workspace], ledger: Sequence[Entry], note: Callable[[Sequence[Entry]], None]
    ) -> None:
        self._records = records
        self._ledger = ledger
        self._note = note
        self._schedules: dict[str, Schedule] = {}

    async def of(self, workspace_uid: str) -> list[Schedule]:
        """Those of one workspace."""
        own = [schedule for schedule in self._all() if schedule.workspace_uid == workspace_uid]
        return sorted(own, key=lambda schedule: (schedule.set_at, schedule.id))

    async def page(self, after: str = "", limit: int = 500) -> list[Schedule]:
        """All of them, a part at a time."""
        later = [schedule for schedule in self._all() if schedule.id > after]
        return sorted(later, key=lambda schedule: schedule.id)[:limit]

    async def add(self, schedule: Schedule, entries: Sequence[Entry] = ()) -> None:
        """Store a new one."""
        if schedule.workspace_uid not in self._records:
            raise NotFound("the workspace of that schedule is gone")
        self._schedules[schedule.id] = schedule
        self._note(entries)

    async def mark(self, schedule_id: str, done_until: int, held_until: int, entries: Sequence[Entry] = ()) -> None:
        """Store how far it was dealt with."""
        known = self._schedules.get(schedule_id)
        if known is not None:
            self._schedules[schedule_id] = replace(known, done_until=done_until, held_until=held_until)
        self._note(entries)

    async def drop(self, schedule_id: str, entries: Sequence[Entry] = ()) -> None:
        """Forget it."""
        if self._schedules.pop(schedule_id, None) is not None:
            self._note(entries)

    async def resumed(self, workspace_uid: str) -> list[int]:
        """How long each resume that ended well took."""
        asked: dict[str, int] = {}
        lasted = []
        for entry in self._ledger:
            if entry.workspace_uid != workspace_uid:
                continue
            if entry.event is Event.RESUME_ASKED:
                asked[entry.operation_id] = entry.at
            elif entry.event is Event.RESUMED and entry.operation_id in asked:
                lasted.append(max(0, entry.at - asked[entry.operation_id]))
        return lasted

    def _all(self) -> list[Schedule]:
        return [schedule for schedule in self._schedules.values() if schedule.workspace_uid in self._records]
