"""Statements about workspaces, reservations and the ledger, each within a transaction that the store opened."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, false, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import rows, tables
from intermezzo.domain.capacity import free
from intermezzo.domain.errors import AlreadyExists, StaleWrite
from intermezzo.domain.ledger import Entry
from intermezzo.domain.names import fold
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Reservation, Workspace, WorkspaceKey

HIGHEST = 2**63 - 1  # of the numbers that a database counts with

_w, _r = tables.workspaces.c, tables.reservations.c
_WHOLE = select(
    _w.document, _w.revision, _r.node, _r.cpu_millis, _r.memory_bytes, _r.accelerators, _r.since
).select_from(tables.workspaces.outerjoin(tables.reservations))


def has_key(key: WorkspaceKey) -> ColumnElement[bool]:
    """The condition that a record has that name."""
    return _is(_w.namespace_folded, fold(key.namespace)) & _is(_w.name_folded, fold(key.name))


def in_namespace(namespace: str) -> ColumnElement[bool]:
    """The condition that a record is in that namespace."""
    return _is(_w.namespace_folded, fold(namespace))


def has_uid(*uids: str) -> ColumnElement[bool]:
    """The condition that a record has one of these uids."""
    return _w.uid.in_([uid for uid in uids if _storable(uid)])


async def revisions(connection: AsyncConnection, *conditions: ColumnElement[bool]) -> dict[str, int]:
    """The revisions of the records that meet the conditions, by uid."""
    found = (await connection.execute(select(_w.uid, _w.revision).where(*conditions))).all()
    return dict(found)


async def find(connection: AsyncConnection, *conditions: ColumnElement[bool]) -> list[Workspace]:
    """The records that meet the conditions, by key, each with its reservation."""
    found = (await connection.execute(_WHOLE.where(*conditions))).mappings()
    return sorted((rows.workspace(row) for row in found), key=lambda w: w.key)


async def add(connection: AsyncConnection, workspace: Workspace) -> None:
    """Store a new record. Raises `AlreadyExists`."""
    try:
        await connection.execute(insert(tables.workspaces), [rows.workspace_row(workspace)])
    except IntegrityError as error:
        raise AlreadyExists(f"there is a workspace {workspace.key} already") from error


async def save(connection: AsyncConnection, workspace: Workspace) -> None:
    """Write a record under its next revision. Raises `StaleWrite`."""
    row = rows.workspace_row(workspace.with_(revision=workspace.revision + 1))
    unchanged = (_w.uid == workspace.uid) & (_w.revision == workspace.revision)
    _require_one(workspace, (await connection.execute(update(tables.workspaces).where(unchanged).values(row))).rowcount)


async def remove(connection: AsyncConnection, workspace: Workspace) -> None:
    """Delete a record, and with it its reservation. Raises `StaleWrite`."""
    unchanged = (_w.uid == workspace.uid) & (_w.revision == workspace.revision)
    _require_one(workspace, (await connection.execute(delete(tables.workspaces).where(unchanged))).rowcount)


async def reservations(connection: AsyncConnection) -> dict[str, Reservation]:
    """What is held now, by workspace uid."""
    found = (await connection.execute(select(tables.reservations))).mappings()
    return {row["workspace_uid"]: rows.reservation(row) for row in found}


async def room_for(
    connection: AsyncConnection, workspace_uid: str, wanted: Reservation, capacity: Mapping[str, Resources]
) -> bool:
    """Whether the node holds the amount beside what others hold there. Only sure while others cannot reserve."""
    held = await reservations(connection)
    others = [r.amount for uid, r in held.items() if uid != workspace_uid and r.node == wanted.node]
    whole = capacity.get(wanted.node)
    return whole is not None and free(whole, sum(others, Resources())).fits(wanted.amount)


async def hold(connection: AsyncConnection, workspace_uid: str, wanted: Reservation) -> None:
    """Write down a reservation in place of any other of this workspace."""
    await let_go(connection, workspace_uid)
    await connection.execute(insert(tables.reservations), [rows.reservation_row(workspace_uid, wanted)])


async def let_go(connection: AsyncConnection, workspace_uid: str) -> None:
    """Delete the workspace's reservation, if it has one."""
    await connection.execute(delete(tables.reservations).where(_r.workspace_uid == workspace_uid))


async def append(connection: AsyncConnection, entries: Sequence[Entry]) -> None:
    """Append to the ledger, in this order."""
    if entries:
        written: list[dict[str, Any]] = [rows.entry_row(entry) for entry in entries]
        await connection.execute(insert(tables.ledger), written)


async def ledger(connection: AsyncConnection, workspace_uid: str | None, after_seq: int, limit: int) -> list[Entry]:
    """Entries in order."""
    l = tables.ledger.c  # noqa: E741
    wanted = select(tables.ledger).where(l.seq > min(after_seq, HIGHEST)).order_by(l.seq).limit(limit)
    if workspace_uid is not None:
        wanted = wanted.where(l.workspace_uid == workspace_uid)
    return [rows.entry(row) for row in (await connection.execute(wanted)).mappings()]


def _is(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    return column == text if _storable(text) else false()


def _storable(text: str) -> bool:
    """Whether a database takes that text at all: none takes half a surrogate pair, PostgreSQL no NUL either."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _require_one(workspace: Workspace, changed: int) -> None:
    if changed != 1:
        raise StaleWrite(f"workspace {workspace.key} has changed since it was read", "Read it again.")
