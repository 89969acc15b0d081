"""Makes one occurrence of a schedule so, with the commands that people have, and says in the ledger what came of it.

An occurrence is marked as dealt with after its command was accepted, so that it is asked for at least once whoever dies
in between; asked again, it finds nothing left to do. Which occurrence is due is decided in `domain.schedule`.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import Any

from intermezzo.control import entries
from intermezzo.control.commands import Commands
from intermezzo.control.context import Context
from intermezzo.domain.errors import IntermezzoError, StaleWrite, Unreachable
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.schedule import Action, Occurrence, Schedule
from intermezzo.domain.workspace import Phase, Workspace

ACTOR = "schedule"

MISSED = "it could not be done at its time, and it was too late to make up for it"
NEVER_FREE = "an hour later, what was under way had still not ended"
NEEDS_OWNER = "the workspace needs its owner first"


class _Step(Enum):
    """What an occurrence means for a workspace in some phase."""

    DO = auto()
    WAIT = auto()
    NOTHING = auto()
    IMPOSSIBLE = auto()


_PAUSE = {
    Phase.RUNNING: _Step.DO,
    Phase.QUEUED: _Step.DO,
    Phase.STARTING: _Step.WAIT,
    Phase.RESUMING: _Step.WAIT,
}
_RESUME = {
    Phase.PAUSED: _Step.DO,
    Phase.PAUSING: _Step.WAIT,
    Phase.FAILED: _Step.IMPOSSIBLE,
}
_STEPS = {Action.PAUSE: _PAUSE, Action.RESUME: _RESUME, Action.READY: _RESUME}


class Occurrences:
    """Deals with occurrences that are due."""

    def __init__(self, context: Context, commands: Commands) -> None:
        self._context = context
        self._commands = commands

    async def meet(self, schedule: Schedule, occurrence: Occurrence) -> None:
        """Deal with one, or leave it due: while a keep-awake lease holds, and while what is under way has not ended.

        Raises `StaleWrite`, and leaves it due, if the workspace changed meanwhile: a lease may just have been given.
        """
        workspace = await self._context.store.find(schedule.workspace_uid)
        if workspace is None:
            return
        awake_until = await self._awake_until(workspace) if schedule.action is Action.PAUSE else 0
        step = _STEPS[schedule.action].get(workspace.phase, _Step.NOTHING)
        if awake_until and workspace.phase is Phase.RUNNING:
            await self._hold(workspace, schedule, occurrence, awake_until)
        elif step is not _Step.WAIT or not occurrence.timely:
            facts = await self._outcome(workspace, schedule, step, occurrence)
            await self._context.store.schedules.mark(schedule.id, occurrence.at, 0, facts)
            self._context.changes.touch(workspace.uid)

    async def _awake_until(self, workspace: Workspace) -> int:
        """Read after the record, which every lease changes: one given since makes the pause stale."""
        lease = await self._context.store.leases.lease(workspace.uid)
        return lease.until if lease is not None and lease.holds(self._context.clock.now()) else 0

    async def _hold(self, workspace: Workspace, schedule: Schedule, occurrence: Occurrence, until: int) -> None:
        if schedule.held_until == until:
            return
        held = self._fact(Event.SCHEDULE_HELD, workspace, schedule, occurrence.at, held_until=until)
        await self._context.store.schedules.mark(schedule.id, schedule.done_until, until, [held])
        self._context.changes.touch(workspace.uid)

    async def _outcome(
        self, workspace: Workspace, schedule: Schedule, step: _Step, occurrence: Occurrence
    ) -> Sequence[Entry]:
        """What there is to tell; nothing where it is as wanted already."""
        if step is _Step.NOTHING:
            return []
        facts = []
        if occurrence.older is not None:
            facts.append(self._skipped(workspace, schedule, occurrence.older, MISSED))
        why_not = _why_not(step, occurrence) or await self._refusal(workspace, schedule, occurrence)
        if why_not:
            return [*facts, self._skipped(workspace, schedule, occurrence.at, why_not)]
        late = occurrence.late_ms
        return [*facts, self._fact(Event.SCHEDULE_MET, workspace, schedule, occurrence.at, late_ms=late)]

    async def _refusal(self, workspace: Workspace, schedule: Schedule, occurrence: Occurrence) -> str:
        """Why the command was refused; empty if it was accepted."""
        try:
            if schedule.action is Action.PAUSE:
                because = {"due_at": occurrence.at, "schedule_id": schedule.id}
                await self._commands.pause(workspace.key, ACTOR, because, workspace)
            else:
                await self._commands.resume(workspace.key, ACTOR)
        except (Unreachable, StaleWrite):
            raise
        except IntermezzoError as error:
            return error.message
        return ""

    def _skipped(self, workspace: Workspace, schedule: Schedule, due_at: int, message: str) -> Entry:
        return self._fact(Event.SCHEDULE_SKIPPED, workspace, schedule, due_at, message=message)

    def _fact(self, event: Event, workspace: Workspace, schedule: Schedule, due_at: int, **details: Any) -> Entry:
        about = {"schedule_id": schedule.id, "action": schedule.action.value, "due_at": due_at, **details}
        return replace(entries.entry(workspace, event, self._context.clock.now(), **about), actor=ACTOR)


def _why_not(step: _Step, occurrence: Occurrence) -> str:
    if not occurrence.timely:
        return NEVER_FREE if step is _Step.WAIT else MISSED
    return NEEDS_OWNER if step is _Step.IMPOSSIBLE else ""
