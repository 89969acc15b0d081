"""Notices in the same database as the store. The only place that knows how they are written down.

A subject stands in its column case-folded and in the content as it was given.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, and_, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import tables
from intermezzo.adapters.sql.database import NOTICES_LOCK, Database
from intermezzo.domain.names import fold
from intermezzo.domain.notice import Delivery, Fate, Notice, Sort
from intermezzo.domain.workspace import WorkspaceKey

_n, _d = tables.notices.c, tables.deliveries.c
AT_ONCE = 500  # a database takes only so many values in one statement


class SqlNotices:
    """Implements `ports.notices.Notices`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, notices: Sequence[Notice], now: int) -> list[Notice]:
        """Store those that are new or had ended."""
        stored: list[Notice] = []
        if not notices:
            return stored
        async with self._database.write() as connection:
            await self._database.lock(connection, NOTICES_LOCK)
            known = await _known(connection, notices)
            for notice in notices:
                before = known.get(_identity(notice))
                if before is not None and before.in_force(now):
                    continue
                kept = replace(notice, id=before.id if before else notice.id)
                known[_identity(kept)] = kept
                stored.append(kept)
                if before:
                    await connection.execute(update(tables.notices).where(_n.id == kept.id).values(_row(kept)))
                    await connection.execute(delete(tables.deliveries).where(_d.notice_id == kept.id))
                else:
                    await connection.execute(insert(tables.notices).values(_row(kept)))
        return stored

    async def in_force(self, now: int, sort: Sort | None = None) -> list[Notice]:
        """Those that have not ended."""
        return await self._chosen(_in_force(now), *([] if sort is None else [_n.sort == sort.value]))

    async def of_subject(self, subject: str, now: int) -> list[Notice]:
        """What one person is to be shown."""
        return await self._chosen(_shown(now), _n.subject == fold(subject))

    async def of_workspaces(self, workspace_uids: Collection[str], now: int) -> list[Notice]:
        """What is to be shown about these workspaces."""
        uids, found = sorted(workspace_uids), []
        for start in range(0, len(uids), AT_ONCE):
            found += await self._chosen(_shown(now), _n.workspace_uid.in_(uids[start : start + AT_ONCE]))
        return sorted(found, key=lambda notice: (notice.created_at, notice.id))

    async def find(self, notice_id: str) -> Notice | None:
        """By id."""
        return next(iter(await self._chosen(_n.id == notice_id)), None)

    async def dismiss(self, ids: Collection[str], at: int) -> None:
        """Their person has seen enough of them."""
        await self._change(ids, _n.dismissed_at == 0, dismissed_at=at)

    async def withdraw(self, ids: Collection[str], at: int) -> None:
        """End those that are in force."""
        await self._change(ids, _in_force(at), expires_at=at)

    async def undelivered(self, channel: str, now: int, limit: int) -> list[tuple[Notice, int]]:
        """What is to be brought to people now."""
        tried = and_(_d.notice_id == _n.id, _d.channel == channel)
        again = and_(_d.state == Fate.DELAYED.value, _d.not_before <= now)
        due = and_(_shown(now), _n.subject != "", or_(_d.state.is_(None), again))
        wanted = select(*_n, _d.attempts).select_from(tables.notices).outerjoin(tables.deliveries, tried).where(due)
        async with self._database.read() as connection:
            rows = (await connection.execute(wanted.order_by(_n.created_at, _n.id).limit(limit))).mappings()
            return [(_notice(row), row["attempts"] or 0) for row in rows]

    async def note_delivery(self, delivery: Delivery) -> None:
        """What became of an attempt."""
        same = and_(_d.notice_id == delivery.notice_id, _d.channel == delivery.channel)
        async with self._database.write() as connection:
            await connection.execute(delete(tables.deliveries).where(same))
            if (await connection.execute(select(_n.id).where(_n.id == delivery.notice_id))).first():
                await connection.execute(insert(tables.deliveries).values(_delivery_row(delivery)))

    async def deliveries(self, notice_id: str) -> list[Delivery]:
        """How far it has come."""
        wanted = select(tables.deliveries).where(_d.notice_id == notice_id).order_by(_d.channel)
        async with self._database.read() as connection:
            return [_delivery(row) for row in (await connection.execute(wanted)).mappings()]

    async def forget(self, before: int) -> None:
        """Delete what had ended."""
        async with self._database.write() as connection:
            await connection.execute(delete(tables.notices).where(_n.expires_at > 0, _n.expires_at <= before))

    async def _chosen(self, *conditions: ColumnElement[bool]) -> list[Notice]:
        wanted = select(tables.notices).where(*conditions).order_by(_n.created_at, _n.id)
        async with self._database.read() as connection:
            return [_notice(row) for row in (await connection.execute(wanted)).mappings()]

    async def _change(self, ids: Collection[str], condition: ColumnElement[bool], **values: int) -> None:
        if ids:
            async with self._database.write() as connection:
                changed = update(tables.notices).where(_n.id.in_(list(ids)), condition).values(values)
                await connection.execute(changed)


def _in_force(now: int) -> ColumnElement[bool]:
    return or_(_n.expires_at == 0, _n.expires_at > now)


def _shown(now: int) -> ColumnElement[bool]:
    return and_(_in_force(now), _n.dismissed_at == 0)


async def _known(connection: AsyncConnection, notices: Sequence[Notice]) -> dict[tuple[str, str, str, str], Notice]:
    found: dict[tuple[str, str, str, str], Notice] = {}
    occasions = sorted({notice.occasion for notice in notices})
    for start in range(0, len(occasions), AT_ONCE):
        wanted = select(tables.notices).where(_n.occasion.in_(occasions[start : start + AT_ONCE]))
        for row in (await connection.execute(wanted)).mappings():
            notice = _notice(row)
            found[_identity(notice)] = notice
    return found


def _identity(notice: Notice) -> tuple[str, str, str, str]:
    return notice.workspace_uid, notice.sort, notice.occasion, fold(notice.subject)


def _row(notice: Notice) -> dict[str, Any]:
    content = {
        "subject": notice.subject,
        "message": notice.message,
        "key": [notice.key.namespace, notice.key.name] if notice.key else None,
        "kind": notice.kind,
        "moment": notice.moment,
        "since": notice.since,
    }
    return {
        "id": notice.id,
        "workspace_uid": notice.workspace_uid,
        "sort": notice.sort.value,
        "occasion": notice.occasion,
        "subject": fold(notice.subject),
        "content": json.dumps(content),
        "created_at": notice.created_at,
        "expires_at": notice.expires_at,
        "dismissed_at": notice.dismissed_at,
    }


def _notice(row: RowMapping) -> Notice:
    content = json.loads(row["content"])
    return Notice(
        id=row["id"],
        sort=Sort(row["sort"]),
        occasion=row["occasion"],
        subject=content["subject"],
        message=content["message"],
        created_at=row["created_at"],
        workspace_uid=row["workspace_uid"],
        key=WorkspaceKey(*content["key"]) if content["key"] else None,
        kind=content["kind"],
        moment=content["moment"],
        since=content["since"],
        expires_at=row["expires_at"],
        dismissed_at=row["dismissed_at"],
    )


def _delivery_row(delivery: Delivery) -> dict[str, Any]:
    return {
        "notice_id": delivery.notice_id,
        "channel": delivery.channel,
        "state": delivery.fate.value,
        "attempts": delivery.attempts,
        "not_before": delivery.not_before,
        "problem": delivery.problem,
    }


def _delivery(row: RowMapping) -> Delivery:
    return Delivery(
        row["notice_id"], row["channel"], Fate(row["state"]), row["attempts"], row["not_before"], row["problem"]
    )
