"""The idle rule at work: again and again it looks at every running workspace, decides, and pauses what is due.

It decides nothing itself: `domain.idleness` does. It pauses only on what was read just now, only by the same command
that people use, and never without a warning that was due. What it remembers is for showing; nothing is lost with it.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from intermezzo.control.commands import Commands
from intermezzo.control.context import Context
from intermezzo.control.idleness.gathering import Gathered, activity_of, gather, gather_one, rule_of
from intermezzo.control.idleness.leases import KeepingAwake
from intermezzo.control.idleness.scripts import Scripts
from intermezzo.control.pacing import attempted, paced
from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.activity_rules import ActivityRule
from intermezzo.domain.errors import Conflict, NotFound
from intermezzo.domain.idle import Decision, Presence, Reason, Why
from intermezzo.domain.idleness import Evidence, decide, works_on
from intermezzo.domain.readings import Known
from intermezzo.domain.workspace import Phase, Workspace

BY = "idle rule"
AT_ONCE = 50
OFF = Reason(Why.SWITCHED_OFF)

WarnedLongEnough = Callable[[Workspace, Decision], bool]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Look:
    """One workspace as it was when it was last looked at: what was known, the rule that matched it (or why none can
    pause it), and what came of it."""

    evidence: Evidence
    rule: ActivityRule | Reason
    decision: Decision


class IdleRule:
    """Looks, decides, pauses. `warned_long_enough` says whether the warning before a pause that is due was out for its
    time."""

    def __init__(
        self, context: Context, commands: Commands, awake: KeepingAwake, warned_long_enough: WarnedLongEnough
    ) -> None:
        self._context = context
        self._commands = commands
        self._warned_long_enough = warned_long_enough
        self._awake = awake
        self.scripts = Scripts(context)
        self._looks: dict[str, Look] = {}
        self._last = Gathered()

    async def run(self) -> None:
        """Sweep again and again, until cancelled."""
        try:
            while True:
                await attempted(self.sweep, "the idle rule")
                await asyncio.sleep(self._context.idle.every_s)
        finally:
            self.scripts.stop()

    def look(self, uid: str) -> Look | None:
        """How it was last seen; None for one that is not running or was not looked at yet."""
        return self._looks.get(uid)

    async def look_now(self, workspace: Workspace) -> Look | None:
        """What holds for one of them now, by what was last read in its sandbox; None for one that is not running."""
        if workspace.phase is not Phase.RUNNING or workspace.operation is not None:
            return None
        look = self._look(workspace, await gather_one(self._context, workspace, self._last))
        self._looks[workspace.uid] = look
        return look

    def decisions(self) -> Mapping[str, Decision]:
        """What was last decided about each running workspace, by uid."""
        return {uid: look.decision for uid, look in self._looks.items()}

    async def sweep(self) -> None:
        """Look at all once, and pause what is due. Raises `Unreachable` if the store does not answer."""
        gathered = await gather(self._context)
        self.scripts.forget_all_but({workspace.uid for workspace in gathered.workspaces})
        looks: dict[str, Look] = {}
        async for workspace in paced(gathered.workspaces, AT_ONCE):
            looks[workspace.uid] = self._look(workspace, gathered)
        before, self._looks, self._last = self._looks, looks, gathered
        await self._remember(looks)
        await self._hear(gathered)
        async for workspace in paced(gathered.workspaces, AT_ONCE):
            await self._act(workspace, looks[workspace.uid], gathered)
            if _differ(before.get(workspace.uid), self._looks.get(workspace.uid)):
                self._context.changes.touch(workspace.uid)

    def _look(self, workspace: Workspace, gathered: Gathered) -> Look:
        activity = activity_of(self._context, workspace)
        rule = rule_of(self._context, workspace, gathered.namespace(workspace)) if self._context.idle.pauses else OFF
        evidence = gathered.evidence(workspace, activity, self.scripts.asked(workspace.uid))
        return Look(evidence, rule, decide(evidence, rule, activity.protection, self._context.clock.now()))

    async def _remember(self, looks: Mapping[str, Look]) -> None:
        """Store when work began and ended: a later process must not take a workspace for idle all along."""
        changes = {uid: [change] for uid, look in looks.items() if (change := _change_of_work(look))}
        if changes:
            await self._context.store.note_activity(changes)

    async def _hear(self, gathered: Gathered) -> None:
        """Leases that were asked for, or given up, from inside a sandbox."""
        for workspace in gathered.workspaces:
            readings, held = gathered.readings.get(workspace.uid), gathered.leases.get(workspace.uid)
            if readings is None or not isinstance(readings.keep_awake, Known):
                continue
            said = readings.keep_awake.says
            if said is not None or held is not None:
                with suppress(Conflict, NotFound):
                    await self._awake.hear_keep_awake(workspace, said, held)

    async def _act(self, workspace: Workspace, look: Look, gathered: Gathered) -> None:
        probe = activity_of(self._context, workspace).probe
        if probe is not None:
            awaited = any(reason.why is Why.PROBED_FIRST for reason in look.decision.reasons)
            self.scripts.ask(workspace.uid, probe, before_a_pause=awaited)
        if look.decision.due:
            await self._pause(workspace, gathered)

    async def _pause(self, workspace: Workspace, gathered: Gathered) -> None:
        """Make a pause that is due, unless something was done or asked for since the sweep began."""
        record = await self._context.store.find(workspace.uid)
        if record is None or record.phase is not Phase.RUNNING or record.operation is not None:
            return
        look = self._look(record, await gather_one(self._context, record, gathered))
        if look.decision.due and not self._warned_long_enough(record, look.decision):
            reasons = (Reason(Why.WARNED_FIRST), *look.decision.reasons)
            look = replace(look, decision=replace(look.decision, due=False, reasons=reasons))
        self._looks[record.uid] = look
        if not look.decision.due:
            return
        because = {
            "because": list(look.decision.because),
            "idle_since": look.decision.since,
            "due_at": look.decision.pauses_at,
        }
        try:
            await self._commands.pause(record.key, BY, because, record)
        except (Conflict, NotFound) as changed:
            log.info("idle_pause_left_out", workspace=str(record.key), reason=changed.message)


def _change_of_work(look: Look) -> Activity | None:
    """That work began or ended, where that was not stored before."""
    working, noted = look.decision.working, works_on(look.evidence.done)
    if working and not noted:
        return Activity(Source.WORK, look.decision.at)
    if noted and not working and look.decision.presence is not Presence.UNKNOWN:
        return Activity(Source.REST, look.decision.at)
    return None


def _differ(before: Look | None, after: Look | None) -> bool:
    """Whether people would see a difference that does not come from time going by."""
    return _shown(before) != _shown(after)


def _shown(look: Look | None) -> object:
    if look is None:
        return None
    decision = look.decision
    return decision.presence, decision.pauses_at is None, tuple(reason.why for reason in decision.reasons)
