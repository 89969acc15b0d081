"""Warns owners before an idle pause: looks at what the idle rule has decided, and gives, takes back or corrects
warnings until what is told is true.

It pauses nothing. Whether somebody was warned long enough is answered here for the idle rule, which waits for it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from intermezzo.control.context import Context, new_id
from intermezzo.control.entries import entry
from intermezzo.control.pacing import in_parts, paced
from intermezzo.domain.idle import Decision, Why
from intermezzo.domain.lease import Lease
from intermezzo.domain.ledger import Event
from intermezzo.domain.notice import KEPT_MS, Notice, Sort
from intermezzo.domain.warning import Step, pause_comes_at, step, warned_long_enough
from intermezzo.domain.workspace import Phase, Workspace

SEEN = frozenset({Why.KERNEL_IDLE, Why.NO_JOB, Why.ACCELERATOR_IDLE})
AT_ONCE = 200  # between these the event loop gets its turn

Decisions = Callable[[], Mapping[str, Decision]]


class Warnings:
    """The warnings in force, by workspace uid. `decisions` is what the idle rule has decided about each workspace."""

    def __init__(self, context: Context, decisions: Decisions) -> None:
        self._context = context
        self._decisions = decisions
        self._given: dict[str, Notice] = {}

    def long_enough(self, workspace: Workspace, decision: Decision) -> bool:
        """Whether a pause that is due may be made now, as far as warnings go."""
        given = self._given.get(workspace.uid)
        return warned_long_enough(decision, given, self._warn_before_ms(workspace), self._context.clock.now())

    async def look(self) -> None:
        """Make what is told true once. Raises `Unreachable`."""
        now = self._context.clock.now()
        told = {n.workspace_uid: n for n in await self._context.store.notices.in_force(now, Sort.IDLE_PAUSE)}
        records = {record.uid: record for record in await self._context.store.workspaces()}
        leases = await self._context.store.leases.leases()
        decisions = self._decisions()
        ended = [notice for uid, notice in told.items() if not _may_be_paused(records.get(uid))]
        fresh: list[Notice] = []
        async for uid, decided in paced(list(decisions.items()), AT_ONCE):
            record, given = records.get(uid), told.get(uid)
            if record is None or not _may_be_paused(record):
                continue
            decision = _put_off(decided, leases.get(uid))
            wanted = step(decision, given, self._warn_before_ms(record), now)
            if given is not None and wanted in {Step.WITHDRAW, Step.REPLACE}:
                ended.append(given)
            if wanted in {Step.GIVE, Step.REPLACE}:
                fresh.append(self._warning(record, decision, now))
        await self._withdraw(ended, now)
        await self._give(fresh, records, now)
        self._given = {n.workspace_uid: n for n in await self._context.store.notices.in_force(now, Sort.IDLE_PAUSE)}

    async def _withdraw(self, ended: list[Notice], now: int) -> None:
        for part in in_parts(ended, AT_ONCE):
            await self._context.store.notices.withdraw([notice.id for notice in part], now)
            await self._show(part)

    async def _give(self, fresh: list[Notice], records: Mapping[str, Workspace], now: int) -> None:
        for part in in_parts(fresh, AT_ONCE):
            given = await self._context.store.notices.add(part, now)
            entries = [
                entry(records[n.workspace_uid], Event.WARNED, now, pauses_at=n.moment, reason=n.message) for n in given
            ]
            await self._context.store.append(entries)
            await self._show(given)

    async def _show(self, notices: Sequence[Notice]) -> None:
        for notice in notices:
            self._context.changes.touch(notice.workspace_uid)
        await asyncio.sleep(0)

    def _warning(self, workspace: Workspace, decision: Decision, now: int) -> Notice:
        moment = pause_comes_at(decision, now, self._warn_before_ms(workspace))
        return Notice(
            id=new_id(),
            sort=Sort.IDLE_PAUSE,
            occasion=f"{decision.since} {decision.pauses_at}",
            subject=workspace.owner,
            message="; ".join(str(reason) for reason in decision.reasons if reason.why in SEEN),
            created_at=now,
            workspace_uid=workspace.uid,
            key=workspace.key,
            moment=moment,
            since=decision.since,
            expires_at=moment + KEPT_MS,
        )

    def _warn_before_ms(self, workspace: Workspace) -> int:
        return (self._context.said(workspace).rules.warn_before_s or 0) * 1000


def _put_off(decision: Decision, lease: Lease | None) -> Decision:
    """The decision with a lease in it that was perhaps given only after it."""
    if decision.pauses_at is None or lease is None or lease.until <= decision.pauses_at:
        return decision
    return replace(decision, pauses_at=lease.until)


def _may_be_paused(record: Workspace | None) -> bool:
    return record is not None and record.phase is Phase.RUNNING
