"""The store on an SQL database: SQLite by default, PostgreSQL by URL.

Each method is one transaction. What a method has returned from is on the disk.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import activity, holders, ledger, rows, tables, volumes, workspaces
from intermezzo.adapters.sql.accounts import SqlAccounts
from intermezzo.adapters.sql.catalog import SqlCatalog
from intermezzo.adapters.sql.database import CAPACITY_LOCK, Database
from intermezzo.adapters.sql.known import KnownRecords
from intermezzo.adapters.sql.leases import SqlLeases
from intermezzo.adapters.sql.notices import SqlNotices
from intermezzo.adapters.sql.schedules import SqlSchedules
from intermezzo.adapters.sql.volumes import SqlVolumes
from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.errors import NotFound
from intermezzo.domain.ledger import Entry
from intermezzo.domain.resources import Resources
from intermezzo.domain.tally import NO_QUOTAS, Quotas, require_one_more
from intermezzo.domain.volumes import Volume
from intermezzo.domain.workspace import Reservation, Workspace, WorkspaceKey
from intermezzo.ports.store import Run


class _NoRoom(Exception):
    """Undoes a transaction: there is too little capacity, or a quota allows no more."""


class SqlStore:
    """Implements `ports.store.Store`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.accounts = SqlAccounts(database)
        self.catalog = SqlCatalog(database)
        self.schedules = SqlSchedules(database)
        self.notices = SqlNotices(database)
        self.leases = SqlLeases(database)
        self.volumes = SqlVolumes(database)
        self._known = KnownRecords()

    @classmethod
    async def open(cls, url: str) -> Self:
        """The store at an SQLAlchemy URL, its tables brought up to date. Raises what `Database.open` raises."""
        return cls(await Database.open(url))

    async def close(self) -> None:
        """Let go of the database."""
        await self._database.close()

    async def add(
        self,
        workspace: Workspace,
        entries: Sequence[Entry] = (),
        quotas: Quotas = NO_QUOTAS,
        home: Volume | None = None,
    ) -> Workspace:
        """Store a new record."""
        async with self._database.write() as connection:
            if quotas.all:
                await self._database.lock(connection, CAPACITY_LOCK)
            await workspaces.add(connection, workspace)
            if quotas.all:
                require_one_more(quotas.all, await holders.everyone(connection, workspace.uid))
            if home is not None:
                await volumes.take_home(self._database, connection, home)
            await volumes.write_users(self._database, connection, workspace)
            return await self._written(connection, workspace, entries)

    async def get(self, key: WorkspaceKey) -> Workspace:
        """The record of that name."""
        async with self._database.read() as connection:
            found = await workspaces.find(connection, workspaces.has_key(key))
        if not found:
            raise NotFound(f"there is no workspace {key}")
        return found[0]

    async def find(self, uid: str) -> Workspace | None:
        """The record of that uid, if there is one."""
        async with self._database.read() as connection:
            found = await workspaces.find(connection, workspaces.has_uid(uid))
        return found[0] if found else None

    async def workspaces(self, namespace: str | None = None) -> list[Workspace]:
        """All records (of a namespace), by key."""
        conditions = [] if namespace is None else [workspaces.in_namespace(namespace)]
        async with self._database.read() as connection:
            return await self._known.find(connection, *conditions)

    async def save(self, workspace: Workspace, entries: Sequence[Entry] = ()) -> Workspace:
        """Write a changed record."""
        async with self._database.write() as connection:
            await workspaces.save(connection, workspace)
            return await self._written(connection, workspace, entries)

    async def reserve(
        self,
        workspace: Workspace,
        reservation: Reservation,
        capacity: Mapping[str, Resources],
        entries: Sequence[Entry] = (),
        quotas: Quotas = NO_QUOTAS,
    ) -> Workspace | None:
        """Take capacity with the change, or do nothing."""
        try:
            async with self._database.write() as connection:
                await self._database.lock(connection, CAPACITY_LOCK)
                await workspaces.save(connection, workspace)
                if not await workspaces.room_for(connection, workspace.uid, reservation, capacity):
                    raise _NoRoom
                if quotas.all and quotas.excess(await holders.holders(connection, workspace.uid), reservation):
                    raise _NoRoom
                await workspaces.hold(connection, workspace.uid, reservation)
                return await self._written(connection, workspace, entries)
        except _NoRoom:
            return None

    async def remount(self, workspace: Workspace, entries: Sequence[Entry] = ()) -> Workspace:
        """Write a changed record with other data volumes."""
        async with self._database.write() as connection:
            await workspaces.save(connection, workspace)
            await volumes.write_users(self._database, connection, workspace)
            return await self._written(connection, workspace, entries)

    async def release(self, workspace: Workspace, entries: Sequence[Entry] = ()) -> Workspace:
        """Give capacity back with the change."""
        async with self._database.write() as connection:
            await workspaces.save(connection, workspace)
            await workspaces.let_go(connection, workspace.uid)
            return await self._written(connection, workspace, entries)

    async def remove(self, workspace: Workspace, entries: Sequence[Entry] = (), volume_ids: Sequence[str] = ()) -> None:
        """Forget the record, keep its ledger."""
        async with self._database.write() as connection:
            await workspaces.remove(connection, workspace)
            await volumes.drop(connection, volume_ids)
            await self._append(connection, entries)

    async def reservations(self) -> dict[str, Reservation]:
        """What is held now, by workspace uid."""
        async with self._database.read() as connection:
            return await workspaces.reservations(connection)

    async def ledger(self, workspace_uid: str | None = None, after_seq: int = 0, limit: int = 1000) -> list[Entry]:
        """Entries in order of `seq`."""
        async with self._database.read() as connection:
            return await workspaces.ledger(connection, workspace_uid, after_seq, limit)

    async def append(self, entries: Sequence[Entry]) -> None:
        """Append entries that change no record."""
        async with self._database.write() as connection:
            await self._append(connection, entries)

    async def save_run(self, run: Run) -> None:
        """Insert or replace."""
        async with self._database.write() as connection:
            await self._upsert(connection, tables.runs, "id", rows.run_row(run))

    async def runs(self, workspace_uid: str) -> list[Run]:
        """Newest first."""
        c = tables.runs.c
        wanted = select(tables.runs).where(c.workspace_uid == workspace_uid).order_by(c.started_at.desc(), c.id.desc())
        async with self._database.read() as connection:
            return [rows.run(row) for row in (await connection.execute(wanted)).mappings()]

    async def note_activity(self, done: Mapping[str, Sequence[Activity]]) -> None:
        """Keep the newest of each sort."""
        async with self._database.write() as connection:
            await activity.note(connection, done)

    async def activity(self, workspace_uid: str) -> list[Activity]:
        """The newest of each sort, newest first."""
        async with self._database.read() as connection:
            return await activity.of(connection, workspace_uid)

    async def activities(self, workspace_uids: Collection[str]) -> dict[str, dict[Source, int]]:
        """The newest of each sort in each of these workspaces."""
        async with self._database.read() as connection:
            return await activity.of_all(connection, workspace_uids)

    async def newest_activity(self, workspace_uids: Collection[str]) -> dict[str, Activity]:
        """The newest of any sort in each of these workspaces."""
        async with self._database.read() as connection:
            return await activity.newest(connection, workspace_uids)

    async def setting(self, name: str, default: Any = None) -> Any:
        """A small JSON value."""
        wanted = select(tables.settings.c.value).where(tables.settings.c.name == name)
        async with self._database.read() as connection:
            value = (await connection.execute(wanted)).scalar()
        return default if value is None else json.loads(value)

    async def set_setting(self, name: str, value: Any) -> None:
        """Store such a value."""
        async with self._database.write() as connection:
            await self._upsert(connection, tables.settings, "name", {"name": name, "value": json.dumps(value)})

    async def _written(self, connection: AsyncConnection, workspace: Workspace, entries: Sequence[Entry]) -> Workspace:
        await self._append(connection, entries)
        return (await workspaces.find(connection, workspaces.has_uid(workspace.uid)))[0]

    async def _append(self, connection: AsyncConnection, entries: Sequence[Entry]) -> None:
        await ledger.append(self._database, connection, entries)

    async def _upsert(self, connection: AsyncConnection, table: Any, key: str, row: dict[str, Any]) -> None:
        dialect = sqlite if self._database.is_sqlite else postgresql
        statement = dialect.insert(table).values(row)
        await connection.execute(statement.on_conflict_do_update(index_elements=[key], set_=row))
