"""Schedules in their owner's hands: look at them, set and remove them. What is due is done by the timetable."""

from dataclasses import dataclass, replace
from typing import Any

from intermezzo.control import entries
from intermezzo.control.commands import Commands
from intermezzo.control.context import Context, new_id
from intermezzo.control.schedules.timetable import Timetable, lead
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.schedule import Action, Rule, Schedule, check_zone, next_after
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey

MOST_PER_WORKSPACE = 20


@dataclass(frozen=True, slots=True)
class Planned:
    """A schedule as it stands. `next_at` is its next occurrence (the one that is held back, if one is) and `begins_at`
    when something will be done for it: earlier where a session is to be ready by then. Epoch milliseconds."""

    schedule: Schedule
    next_at: int
    begins_at: int


class Schedules:
    """All raise `NotFound` for an unknown workspace."""

    def __init__(self, context: Context, commands: Commands) -> None:
        self._context = context
        self.timetable = Timetable(context, commands)

    async def schedules(self, key: WorkspaceKey) -> list[Planned]:
        """Those of a workspace that still have something before them, in the order in which they were set."""
        workspace = await self._context.store.get(key)
        found = await self._context.store.schedules.of(workspace.uid)
        resumed = await self._context.store.schedules.resumed(workspace.uid) if found else []
        planned = []
        for schedule in found:
            next_at = next_after(schedule.rule, schedule.zone, schedule.done_until)
            if next_at is not None:
                ahead = lead(resumed) if schedule.action is Action.READY else 0
                planned.append(Planned(schedule, next_at, next_at - ahead))
        return planned

    async def set_schedule(self, key: WorkspaceKey, action: Action, rule: Rule, zone: str, by: str) -> Planned:
        """Set one; asked twice, it is one.

        Raises `InvalidInput` for an unknown zone and for a time that is over, `Conflict` for more than
        `MOST_PER_WORKSPACE` and for a workspace that is being deleted.
        """
        check_zone(zone)
        workspace = await self._context.store.get(key)
        now = self._context.clock.now()
        if next_after(rule, zone, now) is None:
            raise InvalidInput("that time is over already", "Name a later one.", {"at": "must be in the future"})
        if workspace.phase is Phase.DELETING:
            raise Conflict(f"{key} is being deleted")
        wanted = Schedule(
            id=new_id(),
            workspace_uid=workspace.uid,
            action=action,
            rule=rule,
            zone=zone,
            set_by=by,
            set_at=now,
            done_until=now,
        )
        known = await self.schedules(key)
        for planned in known:
            if planned.schedule.wish == wanted.wish:
                return planned
            if planned.schedule.contradicts(wanted):
                hint = f"Name another time, or remove that one first: `intermezzo schedule list {key.typed}`."
                raise Conflict(f"{key} would be paused and resumed at the very same time", hint)
        if len(known) >= MOST_PER_WORKSPACE:
            hint = f"Remove one first: `intermezzo schedule list {key.typed}`."
            raise Conflict(f"{key} has {MOST_PER_WORKSPACE} schedules, which is as many as there can be", hint)
        await self._context.store.schedules.add(wanted, [_fact(workspace, Event.SCHEDULE_SET, wanted, now, by)])
        self._told(workspace)
        return next(planned for planned in await self.schedules(key) if planned.schedule.id == wanted.id)

    async def remove_schedule(self, key: WorkspaceKey, schedule_id: str, by: str) -> None:
        """Remove one. Raises `NotFound` if the workspace has none of that id."""
        workspace = await self._context.store.get(key)
        found = {schedule.id: schedule for schedule in await self._context.store.schedules.of(workspace.uid)}
        if schedule_id not in found:
            raise NotFound(f"{key} has no schedule {schedule_id}", f"`intermezzo schedule list {key.typed}`")
        now = self._context.clock.now()
        removed = _fact(workspace, Event.SCHEDULE_REMOVED, found[schedule_id], now, by)
        await self._context.store.schedules.drop(schedule_id, [removed])
        self._told(workspace)

    def _told(self, workspace: Workspace) -> None:
        self._context.changes.touch(workspace.uid)
        self.timetable.wake()


def _fact(workspace: Workspace, event: Event, schedule: Schedule, at: int, by: str) -> Entry:
    details: dict[str, Any] = {
        "schedule_id": schedule.id,
        "action": schedule.action.value,
        "rule": str(schedule.rule),
        "zone": schedule.zone,
    }
    return replace(entries.entry(workspace, event, at, **details), actor=by)
