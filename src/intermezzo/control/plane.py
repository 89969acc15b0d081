"""The control plane as the web layer sees it: commands, queries, runs and snapshots under one name."""

import asyncio
from collections.abc import Mapping

from intermezzo.control.checkpoints import Checkpoints
from intermezzo.control.commands import Commands
from intermezzo.control.conditions.catalogue import Catalogue
from intermezzo.control.conditions.conditions import Conditions
from intermezzo.control.conditions.namespaces import Namespaces
from intermezzo.control.context import Context
from intermezzo.control.edits import Edits
from intermezzo.control.idleness.idle import IdleRule, Look
from intermezzo.control.idleness.leases import KeepingAwake
from intermezzo.control.loop.reconciler import Reconciler
from intermezzo.control.notices.damages import Damages
from intermezzo.control.notices.notices import Notices
from intermezzo.control.queries import Queries
from intermezzo.control.queue.preemption import Preemption
from intermezzo.control.quotas.quotas import QuotaQueries
from intermezzo.control.quotas.stored import Homes
from intermezzo.control.recovery import Recovery
from intermezzo.control.runs import Runs
from intermezzo.control.schedules.schedules import Schedules
from intermezzo.control.storage.auditing import Auditing
from intermezzo.control.storage.retention import Retention
from intermezzo.control.storage.snapshots import Snapshots
from intermezzo.control.storage.volumes import Volumes
from intermezzo.domain.idle import Decision
from intermezzo.domain.workspace import Workspace


class ControlPlane(
    Auditing, Commands, Edits, KeepingAwake, Namespaces, Notices, Queries, QuotaQueries, Runs, Schedules, Snapshots
):
    """Everything that can be asked of Intermezzo, and the loop that makes it so."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.reconciler = Reconciler(context)
        self.catalogue = Catalogue(context)
        self.conditions = Conditions(context, self.catalogue)
        self.volumes = Volumes(context)
        Auditing.__init__(self, context)
        Commands.__init__(self, context)
        Edits.__init__(self, context)
        KeepingAwake.__init__(self, context, self.look_now)
        Namespaces.__init__(self, context)
        Notices.__init__(self, context, self.decisions)
        Queries.__init__(self, context)
        QuotaQueries.__init__(self, context)
        Runs.__init__(self, context, self)
        Schedules.__init__(self, context, self)
        Snapshots.__init__(self, context)
        self.checkpoints = Checkpoints(context)
        self.recovery = Recovery(context, self)
        self.homes = Homes(context)
        self.retention = Retention(context)
        self.damages = Damages(context)
        self.idle_rule = IdleRule(context, self, self, self.warnings.long_enough)
        self.preemption = Preemption(context, self, self.decisions, self._decided_now)

    async def run_forever(self) -> None:
        """Repair what a former process left, then work until cancelled."""
        await self.mark_interrupted()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.reconciler.run())
            group.create_task(self.volumes.run())
            group.create_task(self.keep_told())
            group.create_task(self.timetable.run())
            group.create_task(self.idle_rule.run())
            group.create_task(self.homes.run())
            group.create_task(self.retention.run())
            group.create_task(self.damages.run())
            group.create_task(self.preemption.run())

    def decisions(self) -> Mapping[str, Decision]:
        """What the idle rule last decided about each running workspace, by uid."""
        return self.idle_rule.decisions()

    def look(self, uid: str) -> Look | None:
        """What it decided about one of them and from what; None for one that is not running or not looked at yet."""
        return self.idle_rule.look(uid)

    async def look_now(self, workspace: Workspace) -> Look | None:
        """What holds for one of them now, by what was last read in its sandbox; None for one that is not running."""
        return await self.idle_rule.look_now(workspace)

    async def _decided_now(self, workspace: Workspace) -> Decision | None:
        look = await self.look_now(workspace)
        return look.decision if look else None
