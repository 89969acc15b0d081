"""Keep-awake leases on an SQL database."""

from typing import Any

from sqlalchemy import literal, select
from sqlalchemy.dialects import postgresql, sqlite

from intermezzo.adapters.sql import tables
from intermezzo.adapters.sql.database import Database
from intermezzo.domain.lease import Lease, LeaseSource

_l, _w = tables.leases.c, tables.workspaces.c


class SqlLeases:
    """Implements `ports.leases.Leases`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def leases(self) -> dict[str, Lease]:
        """All of them, by workspace uid."""
        async with self._database.read() as connection:
            found = (await connection.execute(select(tables.leases))).mappings()
            return {row["workspace_uid"]: _lease(row) for row in found}

    async def lease(self, workspace_uid: str) -> Lease | None:
        """That workspace's."""
        async with self._database.read() as connection:
            wanted = select(tables.leases).where(_l.workspace_uid == workspace_uid)
            row = (await connection.execute(wanted)).mappings().first()
        return _lease(row) if row else None

    async def put(self, lease: Lease) -> None:
        """Store it, of a workspace that there is."""
        values = {
            "until": lease.until,
            "source": lease.source.value,
            "asked_by": lease.asked_by,
            "asked_at": lease.asked_at,
            "reason": lease.reason,
        }
        row = select(_w.uid, *(literal(value) for value in values.values())).where(_w.uid == lease.workspace_uid)
        dialect = sqlite if self._database.is_sqlite else postgresql
        written = dialect.insert(tables.leases).from_select(["workspace_uid", *values], row)
        async with self._database.write() as connection:
            await connection.execute(written.on_conflict_do_update(index_elements=["workspace_uid"], set_=values))


def _lease(row: Any) -> Lease:
    return Lease(**{**row, "source": LeaseSource(row["source"])})
