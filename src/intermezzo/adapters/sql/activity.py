"""Statements about what people did, each within a transaction that the store opened."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import literal, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import tables
from intermezzo.domain.activity import Activity, Source

_a, _w = tables.activity.c, tables.workspaces.c


async def note(connection: AsyncConnection, done: Mapping[str, Sequence[Activity]]) -> None:
    """Keep the newest of each sort, of workspaces that there are."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    for uid, activity in sorted((uid, each) for uid, activities in done.items() for each in activities):
        row = select(_w.uid, literal(activity.source.value), literal(activity.at)).where(_w.uid == uid)
        written = insert(tables.activity).from_select(["workspace_uid", "source", "at"], row)
        newer = written.on_conflict_do_update(
            index_elements=[_a.workspace_uid, _a.source],
            set_={"at": written.excluded["at"]},
            where=_a.at < written.excluded["at"],
        )
        await connection.execute(newer)


async def of(connection: AsyncConnection, workspace_uid: str) -> list[Activity]:
    """The newest of each sort, newest first."""
    wanted = select(_a.source, _a.at).where(_a.workspace_uid == workspace_uid).order_by(_a.at.desc(), _a.source)
    return [Activity(Source(source), at) for source, at in await connection.execute(wanted)]


async def of_all(connection: AsyncConnection, workspace_uids: Collection[str]) -> dict[str, dict[Source, int]]:
    """The newest of each sort, by workspace uid."""
    found: dict[str, dict[Source, int]] = {}
    wanted = select(_a.workspace_uid, _a.source, _a.at).where(_a.workspace_uid.in_(workspace_uids))
    for uid, source, at in await connection.execute(wanted):
        found.setdefault(uid, {})[Source(source)] = at
    return found


async def newest(connection: AsyncConnection, workspace_uids: Collection[str]) -> dict[str, Activity]:
    """The newest of any sort, by workspace uid."""
    wanted = select(_a.workspace_uid, _a.source, _a.at).where(_a.workspace_uid.in_(workspace_uids))
    in_order = wanted.order_by(_a.at, _a.source.desc())  # so that the last to be kept is the newest
    return {uid: Activity(Source(source), at) for uid, source, at in await connection.execute(in_order)}
