"""The loop that makes each workspace what its owner asked for: load, observe, plan, act, again.

It decides nothing itself: `domain.lifecycle.plan` does, from what is recorded and what is seen. It acts outside any
transaction and writes guarded by the record's revision, so that it may die anywhere and be started again.
"""

import asyncio
from collections.abc import Mapping

import structlog

from intermezzo.control.context import Context
from intermezzo.control.loop.performer import Performer
from intermezzo.control.loop.workqueue import WorkQueue
from intermezzo.control.queue.dispatch import LINE, Dispatch
from intermezzo.domain.actions import Acquire, Rest, Wait
from intermezzo.domain.errors import StaleWrite, Unreachable
from intermezzo.domain.lifecycle import plan, with_original
from intermezzo.domain.orders import Observed
from intermezzo.domain.workspace import SETTLED, Phase, Workspace

log = structlog.get_logger(__name__)

STEPS_IN_ONE_PASS = 25
RESYNC_S = 10.0
UNDER_WAY_S = 1.0
REWATCH_S = 0.5


class Reconciler:
    """Drives all workspaces. `run` works until cancelled; `reconcile` looks at one workspace once."""

    def __init__(self, context: Context, workers: int = 8) -> None:
        self._context = context
        self._dispatch = Dispatch(context)
        self._performer = Performer(context, self._dispatch)
        self._queue = WorkQueue(self.reconcile, workers)
        context.wake = self._queue.add

    async def run(self) -> None:
        """Look at everything now, then whenever something may have changed, and at all of it now and then."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._queue.run())
            group.create_task(self._watch())
            group.create_task(self._resync())

    async def reconcile(self, uid: str) -> float | None:
        """Bring one workspace as far as it goes now, or look along the queue of those who wait (`LINE`); returns after
        how many seconds to look again at the latest."""
        if uid == LINE:
            return await self._serve()
        for _ in range(STEPS_IN_ONE_PASS):
            workspace = await self._context.store.find(uid)
            if workspace is None:
                return None
            seen = await self._observe(workspace)
            action = plan(workspace, seen, self._context.clock.now())
            log.debug("planned", workspace=str(workspace.key), phase=workspace.phase.value, action=repr(action))
            match action:
                case Rest():
                    return self._look_again(workspace)
                case Wait(until):
                    wait = max(0.0, (until - self._context.clock.now()) / 1000)
                    return min(wait, self._look_again(workspace) or wait)
            try:
                again = await self._performer.perform(workspace, action, seen)
            except StaleWrite:
                continue
            self._context.changes.touch(uid)
            if not again:
                return self._look_again(workspace)
        return 0.0

    async def _serve(self) -> float | None:
        try:
            await self._dispatch.serve()
        except Unreachable:
            self._context.standing.forget()
            return UNDER_WAY_S
        return None

    async def _observe(self, workspace: Workspace) -> Observed:
        """What there is of it, and of a fork that has not come to be, the snapshot that it is to be made from."""
        cluster, origin = self._context.cluster, workspace.unmade
        try:
            seen = await cluster.observe(workspace.uid)
            return with_original(workspace, seen, await cluster.observe(origin.workspace_uid)) if origin else seen
        except Unreachable:
            return Observed(reachable=False)

    @staticmethod
    def _look_again(workspace: Workspace) -> float | None:
        """Watching tells sooner; this is for the case that a message was missed."""
        return None if workspace.phase in SETTLED or workspace.phase is Phase.QUEUED else UNDER_WAY_S

    async def _watch(self) -> None:
        while True:
            try:
                async for uid in self._context.cluster.watch():
                    self._queue.add(uid)
            except Unreachable:
                log.warning("cluster_silent")
            await asyncio.sleep(REWATCH_S)

    async def _resync(self) -> None:
        while True:
            try:
                for uid in await self._restless():
                    self._queue.add(uid)
                self._dispatch.wake_waiting()
            except Unreachable:
                log.warning("store_silent")
            await asyncio.sleep(RESYNC_S)

    async def _restless(self) -> list[str]:
        """Those with something to do, by one look at all: a thousand that rest must not keep the rest waiting."""
        records = await self._context.store.workspaces()
        try:
            seen = await self._context.cluster.observe_all()
        except Unreachable:
            return [record.uid for record in records]
        now = self._context.clock.now()
        return [record.uid for record in records if not self._rests(record, _seen_of(record, seen), now)]

    def _rests(self, record: Workspace, seen: Observed, now: int) -> bool:
        """One who waits rests too, as long as its place is known and nothing but its turn is missing."""
        if record.phase is Phase.QUEUED:
            return self._context.standing.knows(record) and isinstance(plan(record, seen, now), Acquire)
        return record.phase in SETTLED and isinstance(plan(record, seen, now), Rest)


def _seen_of(workspace: Workspace, everything: Mapping[str, Observed]) -> Observed:
    seen, origin = everything.get(workspace.uid, Observed()), workspace.unmade
    return with_original(workspace, seen, everything.get(origin.workspace_uid, Observed())) if origin else seen
