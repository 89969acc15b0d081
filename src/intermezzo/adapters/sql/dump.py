"""All rows of a database as one moment saw them, and an empty database filled with them.

Rows are plain values, so that what one sort of database gave out another one can take in. Reading changes nothing,
not even tables that an older version made; filling is one transaction, and never touches what somebody else wrote.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, Table, func, inspect, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql.database import MIGRATION_LOCK, Database
from intermezzo.adapters.sql.migrate import configuration, upgrade
from intermezzo.adapters.sql.tables import metadata
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, Refused

TABLES = tuple(table.name for table in metadata.sorted_tables)
"""Every table of this version, those that others refer to before them."""

ROWS_AT_ONCE = 500

Row = Mapping[str, Any]


class Dump:
    """One moment of a database. `revision` names the form of its tables."""

    def __init__(self, connection: AsyncConnection, revision: str) -> None:
        self._connection = connection
        self.revision = revision

    async def rows(self, name: str) -> AsyncIterator[Row]:
        """The rows of one of `TABLES`, in the order of its key."""
        table = metadata.tables[name]
        async with self._connection.stream(select(table).order_by(*table.primary_key)) as found:
            async for row in found.mappings():
                yield dict(row)


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database, None for a database of another sort."""
    parsed = make_url(url)
    return Path(parsed.database or "") if parsed.get_backend_name() == "sqlite" else None


@asynccontextmanager
async def dumping(url: str) -> AsyncIterator[Dump]:
    """Read a database while others go on writing to it.

    Raises `NotFound` where there is none, `Refused` for one that another version wrote, `Unreachable`.
    """
    file = sqlite_file(url)
    if file is not None and not file.is_file():
        raise NotFound(f"there is no database at {file}", "Start Intermezzo here once, or name its directory.")
    database = Database.connect(url)
    try:
        async with database.read() as connection:
            found = await connection.run_sync(_revision)
            newest = ScriptDirectory.from_config(configuration()).get_current_head()
            if found is None or found != newest:
                hint = (
                    "Start Intermezzo of this version once, which brings it up to date, or use the one that wrote it."
                )
                raise Refused(f"the database has the form {found or 'of nothing'}, this version knows {newest}", hint)
            yield Dump(connection, found)
    finally:
        await database.close()


async def fill(url: str, revision: str, content: Iterable[tuple[str, Iterable[Row]]]) -> None:
    """Make the tables in that form in an empty database, put rows into them, and bring them up to date: all or nothing.

    Raises `Conflict` for one that is not empty, `Refused` for a form that is not known, `InvalidInput` for rows that do
    not fit, `Unreachable`.
    """
    database = Database.connect(url)
    try:
        async with database.write() as connection:
            await database.lock(connection, MIGRATION_LOCK)
            if await connection.run_sync(_has_tables):
                raise Conflict("the database is not empty", "Name an empty one in database.url.")
            await connection.run_sync(upgrade, revision)
            await connection.run_sync(_insert, content)
            await connection.run_sync(upgrade)
    finally:
        await database.close()


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _has_tables(connection: Connection) -> bool:
    return bool(inspect(connection).get_table_names())


def _insert(connection: Connection, content: Iterable[tuple[str, Iterable[Row]]]) -> None:
    """`content` is in the order of `TABLES` of its time: nothing is referred to before it is there."""
    there = MetaData()
    there.reflect(connection)
    for name, rows in content:
        if name not in there.tables:
            raise InvalidInput(f"there is no table {name} in the form that the rows are of")
        table = there.tables[name]
        left = iter(rows)
        while part := list(islice(left, ROWS_AT_ONCE)):
            if strange := {column for row in part for column in row} - set(table.columns.keys()):
                raise InvalidInput(f"the table {name} has no column {min(strange)}")
            connection.execute(table.insert(), [dict(row) for row in part])
        _count_on(connection, table)


def _count_on(connection: Connection, table: Table) -> None:
    """Numbers that the database gives out go on above those that are there; SQLite sees to that by itself."""
    if connection.dialect.name == "sqlite":
        return
    for column in table.primary_key:
        found = text("SELECT pg_get_serial_sequence(:table, :column)")
        sequence = connection.scalar(found, {"table": table.name, "column": column.name})
        highest = connection.scalar(select(func.max(column))) if sequence else None
        if highest is not None:
            connection.execute(text("SELECT setval(:sequence, :highest)"), {"sequence": sequence, "highest": highest})
