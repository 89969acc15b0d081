"""Looks when which schedule is due. It decides from how far each was dealt with, never from which alarm rang: after any
crash the next look goes on. It never changes a workspace: see `occurrences`.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from intermezzo.control.commands import Commands
from intermezzo.control.context import Context
from intermezzo.control.pacing import attempted
from intermezzo.control.schedules.forewarnings import Forewarnings
from intermezzo.control.schedules.occurrences import Occurrences
from intermezzo.domain.errors import StaleWrite
from intermezzo.domain.schedule import HOUR_MS, MINUTE_MS, Action, Schedule, due, next_after

log = structlog.get_logger(__name__)

LOOK_AGAIN_S = 30.0
AGAIN_MS = 1000
PAGE = 200
SOON_MS = 2 * HOUR_MS

RESUMES_LOOKED_AT = 3
LEAD_UNKNOWN_MS = 5 * MINUTE_MS
LONGEST_LEAD_MS = HOUR_MS


def lead(lasted: Sequence[int]) -> int:
    """How long before its time a resume is begun: as long as the slowest of the last few took (`lasted`, oldest first).
    In milliseconds."""
    return min(max(lasted[-RESUMES_LOOKED_AT:], default=LEAD_UNKNOWN_MS), LONGEST_LEAD_MS)


class Timetable:
    """`run` works until cancelled; `look` deals once with everything that is due."""

    def __init__(self, context: Context, commands: Commands) -> None:
        self._context = context
        self._occurrences = Occurrences(context, commands)
        self._forewarnings = Forewarnings(context)
        self._alarm = asyncio.Event()
        self._leads: dict[tuple[str, int], int] = {}

    def wake(self) -> None:
        """Look again now: a schedule was set or removed."""
        self._alarm.set()

    async def run(self) -> None:
        """Look whenever something is due, and now and then for what others changed."""
        while True:
            self._alarm.clear()
            wait_s = await attempted(self.look, "schedules")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN_S if wait_s is None else wait_s):
                    await self._alarm.wait()

    async def look(self) -> float:
        """Deal with everything that is due; returns after how many seconds to look again at the latest."""
        begun = self._context.clock.now()
        look, after = _Look(begun, begun + int(LOOK_AGAIN_S * 1000)), ""
        while page := await self._context.store.schedules.page(after, PAGE):
            after = page[-1].id
            for schedule in page:
                try:
                    await self._attend(schedule, look)
                except StaleWrite:
                    look.nearest = min(look.nearest, begun + AGAIN_MS)
                except Exception:
                    # One schedule's fault must not keep all others waiting.
                    log.exception("schedule_failed", schedule=schedule.id)
            await asyncio.sleep(0)
        self._leads = look.leads
        await self._forewarnings.look(look.pauses)
        return max(0.0, (look.nearest - self._context.clock.now()) / 1000)

    async def _attend(self, schedule: Schedule, look: "_Look") -> None:
        at = next_after(schedule.rule, schedule.zone, schedule.done_until)
        if at is None:
            await self._context.store.schedules.drop(schedule.id)
            return
        begins = at - await self._lead(schedule, at, look)
        if begins > look.at:
            look.saw(schedule, at, begins)
            return
        occurrence = due(schedule, look.at, at - begins)
        if occurrence is not None:
            await self._occurrences.meet(schedule, occurrence)

    async def _lead(self, schedule: Schedule, at: int, look: "_Look") -> int:
        """What was reckoned once for an occurrence stays, so that its beginning does not move away."""
        if schedule.action is not Action.READY or at > look.at + LONGEST_LEAD_MS:
            return 0
        known = self._leads.get((schedule.id, at))
        if known is None:
            known = lead(await self._context.store.schedules.resumed(schedule.workspace_uid))
        look.leads[schedule.id, at] = known
        return known


@dataclass(slots=True)
class _Look:
    """What one look at all schedules finds; times are epoch milliseconds. `leads` is by schedule and occurrence."""

    at: int
    nearest: int
    pauses: dict[str, int] = field(default_factory=dict)
    leads: dict[tuple[str, int], int] = field(default_factory=dict)

    def saw(self, schedule: Schedule, at: int, begins: int) -> None:
        """An occurrence that lies ahead."""
        self.nearest = min(self.nearest, begins)
        if schedule.action is Action.PAUSE and at <= self.at + SOON_MS:
            self.pauses[schedule.workspace_uid] = min(at, self.pauses.get(schedule.workspace_uid, at))
