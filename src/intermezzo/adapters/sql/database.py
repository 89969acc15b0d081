"""A database reached by URL: SQLite in one file, or PostgreSQL.

It gives out transactions that read and transactions that write, brings the tables up to date, and turns a silent
database into `Unreachable`. What is committed survives a power cut: SQLite waits for the disk on every commit.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from intermezzo.adapters.sql.migrate import upgrade
from intermezzo.domain.errors import InvalidInput, Unreachable

BUSY_TIMEOUT_MS = 30_000
OURS_ALONE = 0o600

# Keys of PostgreSQL's advisory locks; always taken in this order, so that no two transactions wait for each other.
MIGRATION_LOCK, CAPACITY_LOCK, LEDGER_LOCK, ACCOUNTS_LOCK = 0x1E7E0, 0x1E7E1, 0x1E7E2, 0x1E7E3
NOTICES_LOCK = 0x1E7E4
# Between those for capacity and for the ledger.
VOLUMES_LOCK = 0x1E7E5


class Database:
    """Gives out transactions. Made by `open`, let go by `close`."""

    def __init__(self, engine: AsyncEngine) -> None:
        # PostgreSQL lets every statement see a moment of its own unless told otherwise; SQLite never does.
        one_moment = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        self._engine = engine
        self._reader = engine.execution_options(**one_moment)
        self._writer = engine.execution_options(writes=True)
        self.is_sqlite = engine.dialect.name == "sqlite"
        # SQLite has one writer at a time; standing in line here is fairer and cheaper than its polling.
        self._turn: AbstractAsyncContextManager[Any] = asyncio.Lock() if self.is_sqlite else nullcontext()

    @classmethod
    async def open(cls, url: str) -> Self:
        """Open the database and bring its tables up to date; safe while another process does the same.

        Raises `InvalidInput` for a URL of another sort, `Refused` for tables newer than this program, `Unreachable`.
        """
        database = cls.connect(url)
        try:
            async with database.write() as connection:
                await database.lock(connection, MIGRATION_LOCK)
                await connection.run_sync(upgrade)
        except BaseException:
            await database.close()
            raise
        return database

    @classmethod
    def connect(cls, url: str) -> Self:
        """The database with whatever tables it has. Raises `InvalidInput` for a URL of another sort, `Unreachable`."""
        parsed = make_url(url)
        match parsed.drivername:
            case "sqlite+aiosqlite":
                return cls(_sqlite(parsed))
            case "postgresql+asyncpg":
                return cls(create_async_engine(parsed, pool_pre_ping=True, connect_args={"timeout": 10}))
            case other:
                hint = "Use sqlite+aiosqlite:///FILE or postgresql+asyncpg://…"
                raise InvalidInput(
                    f"database driver {other} is not supported", hint, {"database.url": "unknown driver"}
                )

    async def close(self) -> None:
        """Let go of every connection."""
        await self._engine.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that sees one moment and changes nothing."""
        with _unreachable_if_silent():
            async with self._reader.begin() as connection:
                yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that is durable when this ends without an exception, and never was if with one."""
        with _unreachable_if_silent():
            async with self._turn, self._writer.begin() as connection:
                yield connection

    async def lock(self, connection: AsyncConnection, key: int) -> None:
        """Keep others who ask for the same key out until this transaction ends. SQLite lets only one write anyway."""
        if not self.is_sqlite:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})


class _unreachable_if_silent:
    """Turns a driver's complaint that is nobody's programming error into `Unreachable`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        ours = isinstance(error, IntegrityError | ProgrammingError | DataError)
        if isinstance(error, DBAPIError | PoolTimeout | OSError) and not ours:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise Unreachable(f"the database does not answer: {cause}", "See that it runs and its disk is not full.")


def _sqlite(url: URL) -> AsyncEngine:
    if not url.database or url.database == ":memory:":
        raise InvalidInput("SQLite needs a file", "Use sqlite+aiosqlite:///FILE.", {"database.url": "names no file"})
    file = Path(url.database)
    try:
        file.touch(OURS_ALONE)
        file.chmod(OURS_ALONE)
    except OSError as error:
        raise Unreachable(f"the database file cannot be used: {error}", "See that its directory is there.") from error
    engine = create_async_engine(url)

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # so that BEGIN is ours, below
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={BUSY_TIMEOUT_MS}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        # Taking the write lock at once: a read that turns into a write could find its snapshot outdated.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")

    return engine
