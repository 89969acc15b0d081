"""Volumes on an SQL database, and the statements about who uses them that go with a workspace's own."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import tables
from intermezzo.adapters.sql.database import VOLUMES_LOCK, Database
from intermezzo.domain.errors import AlreadyExists, Conflict, NotFound, StaleWrite
from intermezzo.domain.names import fold
from intermezzo.domain.volumes import Purpose, Volume
from intermezzo.domain.workspace import Workspace

AT_ONCE = 500  # ids in one question: databases bound how many values a statement may carry

_v, _u = tables.volumes.c, tables.volume_users.c


class SqlVolumes:
    """Implements `ports.volumes.Volumes`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def volumes(self, namespace: str | None = None) -> list[Volume]:
        """All (of a namespace)."""
        conditions = [] if namespace is None else [_v.namespace_folded == fold(namespace)]
        async with self._database.read() as connection:
            found = await _find(connection, *conditions)
        return sorted(found, key=lambda volume: (volume.namespace, volume.name))

    async def deleting(self) -> list[Volume]:
        """Those that are being deleted."""
        async with self._database.read() as connection:
            return await _find(connection, _v.deleting_at != 0)

    async def find(self, namespace: str, name: str) -> Volume | None:
        """By its name."""
        async with self._database.read() as connection:
            return await _one(connection, (_v.namespace_folded == fold(namespace)) & (_v.name == name))

    async def users(self, volume_ids: Collection[str]) -> dict[str, list[str]]:
        """The uids of the workspaces that use them."""
        wanted = list(volume_ids)
        found: dict[str, list[str]] = {}
        async with self._database.read() as connection:
            for first in range(0, len(wanted), AT_ONCE):
                chosen = select(_u.volume_id, _u.workspace_uid).where(_u.volume_id.in_(wanted[first : first + AT_ONCE]))
                for volume_id, uid in await connection.execute(chosen.order_by(_u.workspace_uid)):
                    found.setdefault(volume_id, []).append(uid)
        return found

    async def add(self, volume: Volume) -> None:
        """Store a new one."""
        async with self._database.write() as connection:
            await _insert(connection, volume)

    async def give(self, volume_id: str, owner: str) -> None:
        """Replace its owner."""
        async with self._database.write() as connection:
            await self._database.lock(connection, VOLUMES_LOCK)
            known = await _known(connection, volume_id)
            if known.deleting_at:
                raise Conflict(f"volume {known} is being deleted")
            if known.purpose is Purpose.HOME and await _users(connection, volume_id):
                raise Conflict(f"home volume {known} is in use")
            await connection.execute(update(tables.volumes).where(_v.id == volume_id).values(owner=owner))

    async def mark(self, volume_id: str, at: int) -> None:
        """Write down that it is being deleted."""
        async with self._database.write() as connection:
            await self._database.lock(connection, VOLUMES_LOCK)
            known = await _known(connection, volume_id)
            if await _users(connection, volume_id):
                raise Conflict(f"volume {known} is in use")
            unmarked = (_v.id == volume_id) & (_v.deleting_at == 0)
            await connection.execute(update(tables.volumes).where(unmarked).values(deleting_at=at))

    async def forget(self, volume_id: str) -> None:
        """Remove a marked one."""
        async with self._database.write() as connection:
            await connection.execute(delete(tables.volumes).where((_v.id == volume_id) & (_v.deleting_at != 0)))


async def take_home(database: Database, connection: AsyncConnection, home: Volume) -> None:
    """Store a new home volume with the workspace that is made with it, or take one that rests. Raises `StaleWrite` if
    it is not any more as it was read."""
    await database.lock(connection, VOLUMES_LOCK)
    known = await _one(connection, _v.id == home.id)
    if known is None:
        try:
            await _insert(connection, home)
        except AlreadyExists as error:
            raise StaleWrite(error.message) from error
    elif known != home or await _users(connection, home.id):
        raise StaleWrite(f"home volume {home} has changed since it was read")


async def write_users(database: Database, connection: AsyncConnection, workspace: Workspace) -> None:
    """Write down which volumes a workspace uses, in place of what stood there. Raises `StaleWrite` if a data volume is
    gone or is being deleted."""
    await database.lock(connection, VOLUMES_LOCK)
    mounted = {mount.volume_id for mount in workspace.mounts}
    usable = select(_v.id).where(_v.id.in_(mounted), _v.deleting_at == 0, _v.purpose == Purpose.DATA.value)
    if mounted and set((await connection.execute(usable)).scalars()) != mounted:
        raise StaleWrite("a data volume has changed since it was read")
    await connection.execute(delete(tables.volume_users).where(_u.workspace_uid == workspace.uid))
    rows = [{"workspace_uid": workspace.uid, "volume_id": volume_id} for volume_id in workspace.volume_ids]
    await connection.execute(insert(tables.volume_users), rows)


async def drop(connection: AsyncConnection, volume_ids: Sequence[str]) -> None:
    """Forget volumes, whatever is known of them."""
    if volume_ids:
        await connection.execute(delete(tables.volumes).where(_v.id.in_(volume_ids)))


async def _insert(connection: AsyncConnection, volume: Volume) -> None:
    try:
        await connection.execute(insert(tables.volumes), [_row(volume)])
    except IntegrityError as error:
        raise AlreadyExists(f"there is a volume {volume} already", "Choose another name.") from error


async def _known(connection: AsyncConnection, volume_id: str) -> Volume:
    known = await _one(connection, _v.id == volume_id)
    if known is None:
        raise NotFound("there is no such volume")
    return known


async def _users(connection: AsyncConnection, volume_id: str) -> bool:
    return (await connection.execute(select(_u.workspace_uid).where(_u.volume_id == volume_id))).first() is not None


async def _one(connection: AsyncConnection, condition: ColumnElement[bool]) -> Volume | None:
    found = await _find(connection, condition)
    return found[0] if found else None


async def _find(connection: AsyncConnection, *conditions: ColumnElement[bool]) -> list[Volume]:
    found = (await connection.execute(select(tables.volumes).where(*conditions))).mappings()
    return [_volume(row) for row in found]


def _row(volume: Volume) -> dict[str, Any]:
    return {
        "id": volume.id,
        "namespace": volume.namespace,
        "namespace_folded": fold(volume.namespace),
        "name": volume.name,
        "owner": volume.owner,
        "purpose": volume.purpose.value,
        "created_at": volume.created_at,
        "deleting_at": volume.deleting_at,
    }


def _volume(row: Any) -> Volume:
    given = {name: value for name, value in row.items() if name != "namespace_folded"}
    return replace(Volume(**given), purpose=Purpose(row["purpose"]))
