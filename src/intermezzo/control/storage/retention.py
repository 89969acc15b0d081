"""Lets go of snapshots as the rules say, and warns their owners before.

It looks at what is there again and again and makes true what `domain.retention` says of it: a warning that is due is
given, one that is not true any more is taken back, and what may go is written down as unwanted; the reconciler has it
deleted. It may die anywhere: whoever looks next finds the same.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import structlog

from intermezzo.control import entries
from intermezzo.control.context import Context, new_id
from intermezzo.control.pacing import attempted, paced
from intermezzo.control.quotas.stored import rules_of
from intermezzo.control.storage.holdings import budgets, holdings
from intermezzo.control.storage.letting_go import let_go
from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.expiry_warning import goes_at, may_go, occasion, step
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.notice import KEPT_MS, Notice, Sort
from intermezzo.domain.retention import Expiry, Why, expiries
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.warning import Step
from intermezzo.domain.workspace import SETTLED, Workspace

EVERY_S = 30.0
AT_MOST_EVERY_S = 2.0

SAYS = {
    Why.TOO_MANY: "Enough newer ones are kept.",
    Why.TOO_OLD: "It is about to be older than snapshots are kept here.",
    Why.OVER_QUOTA: "More is stored in snapshots than a quota allows, and this is the oldest one that can be spared.",
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """What one look found: records and times of warning (milliseconds) by uid, what goes by snapshot id, the warnings
    in force by snapshot id."""

    records: Mapping[str, Workspace]
    warn_before: Mapping[str, int]
    expiring: Mapping[str, Expiry]
    told: Mapping[str, Notice]
    now: int


class Retention:
    """The one who lets snapshots go."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def run(self) -> None:
        """Look again and again until cancelled."""
        count = 0
        while True:
            await attempted(self.look, "retention")
            await asyncio.sleep(AT_MOST_EVERY_S)
            count, _ = await self._context.changes.wait(count, EVERY_S)

    async def look(self) -> None:
        """Warn of what is about to go, and let go of what may, once. Raises `Unreachable`, and then nothing goes."""
        found = await self._look()
        await self._warn(found)
        async for id_, expiry in paced(found.expiring.items()):
            record, given = found.records[expiry.manifest.workspace_uid], found.told.get(id_)
            if record.phase in SETTLED and may_go(expiry, given, found.warn_before[record.uid], found.now):
                await self._let_go(record, expiry, given)

    async def _look(self) -> Found:
        context = self._context
        seen = await context.cluster.observe_all()
        told = await context.store.notices.in_force(context.clock.now(), Sort.SNAPSHOT_EXPIRING)
        records = await context.store.workspaces()
        held = holdings(context, records, {uid: observed.snapshots for uid, observed in seen.items()})
        now = context.clock.now()
        expiring = expiries(held, budgets(await rules_of(context), records), now)
        return Found(
            {each.uid: each for each in records},
            {each.workspace_uid: each.terms.warn_before_ms for each in held},
            expiring,
            {each.snapshot_id: each for each in told},
            now,
        )

    async def _warn(self, found: Found) -> None:
        ended, fresh = [], []
        async for snapshot_id in paced({*found.told, *found.expiring}):
            expiry, given = found.expiring.get(snapshot_id), found.told.get(snapshot_id)
            record = found.records.get(expiry.manifest.workspace_uid) if expiry else None
            warn = found.warn_before[record.uid] if record else 0
            wanted = step(expiry, given, warn, found.now)
            if given is not None and wanted in {Step.WITHDRAW, Step.REPLACE}:
                ended.append(given)
            if record and expiry and wanted in {Step.GIVE, Step.REPLACE}:
                fresh.append(self._warning(record, expiry, goes_at(expiry, None, warn, found.now), found.now))
        await self._context.store.notices.withdraw([notice.id for notice in ended], found.now)
        given_now = await self._context.store.notices.add(fresh, found.now)
        await self._context.store.append([_told(found, notice) for notice in given_now])
        self._show([*ended, *given_now])

    async def _let_go(self, record: Workspace, expiry: Expiry, given: Notice | None) -> None:
        warned_at = given.created_at if given else 0
        try:
            gone = await let_go(self._context, record.key, expiry, warned_at)
        except IntermezzoError as kept:
            log.info("snapshot_kept", workspace=str(record.key), snapshot=expiry.manifest.id, reason=kept.message)
            return
        if gone and given is not None:
            await self._context.store.notices.withdraw([given.id], self._context.clock.now())

    def _warning(self, record: Workspace, expiry: Expiry, moment: int, now: int) -> Notice:
        return Notice(
            id=new_id(),
            sort=Sort.SNAPSHOT_EXPIRING,
            occasion=occasion(expiry),
            subject=record.owner,
            message=f"{SAYS[expiry.why]} {how_to_keep(record, expiry.manifest)}",
            created_at=now,
            workspace_uid=record.uid,
            key=record.key,
            moment=moment,
            since=expiry.manifest.created_at,
            expires_at=moment + KEPT_MS,
        )

    def _show(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            self._context.changes.touch(notice.workspace_uid)


def how_to_keep(record: Workspace, manifest: Manifest) -> str:
    """What its owner can type."""
    return f"To keep it, pin it: `intermezzo snapshots pin {record.key.typed} {manifest.id}`."


def _told(found: Found, notice: Notice) -> Entry:
    expiry = found.expiring[notice.snapshot_id]
    return entries.entry(
        found.records[notice.workspace_uid],
        Event.SNAPSHOT_EXPIRING,
        notice.created_at,
        snapshot_id=notice.snapshot_id,
        goes_at=notice.moment,
        reason=expiry.why.value,
    )
