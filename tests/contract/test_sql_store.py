"""What is said of the SQL store beyond the contract: it lasts, it is private, and its ledger cannot be rewritten."""

import asyncio
import os
import signal
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from contract.samples import GPU, NODE, entry, reservation, workspace
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.domain.errors import InvalidInput, Refused, StaleWrite, Unreachable
from intermezzo.domain.resources import Resources

APPEND_FOREVER = """
import asyncio, sys
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.domain.ledger import Entry, Event

async def main():
    store = await SqlStore.open(sys.argv[1])
    number = 0
    while True:
        await store.append([Entry("u", "team", "x", number, Event.STARTED)])
        print(number, flush=True)
        number += 1

asyncio.run(main())
"""


async def test_everything_acknowledged_survives_kill_9(sql_url: str) -> None:
    await (await SqlStore.open(sql_url)).close()
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", APPEND_FOREVER, sql_url, stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout is not None
    for _ in range(50):
        await writer.stdout.readline()
    os.kill(writer.pid, signal.SIGKILL)
    rest = (await writer.stdout.read()).split()
    await writer.wait()
    acknowledged = 50 + len(rest)
    store = await SqlStore.open(sql_url)
    entries = await store.ledger(limit=10_000)
    assert [e.at for e in entries] == list(range(len(entries)))
    assert len(entries) >= acknowledged
    await store.append([entry()])
    await store.close()


async def test_the_ledger_refuses_to_be_changed(sql_url: str) -> None:
    store = await SqlStore.open(sql_url)
    await store.append([entry(at=1), entry(at=2)])
    before = await store.ledger()
    row = "'u', 'n', 'x', 9, 'created', '', '', '', '{}'"
    attempts = ["UPDATE ledger SET at = 5", "DELETE FROM ledger WHERE seq = 1"]
    if sql_url.startswith("sqlite"):
        attempts.append(f"INSERT OR REPLACE INTO ledger VALUES (1, {row})")
    else:
        attempts.append("TRUNCATE ledger")
    engine = create_async_engine(sql_url)
    for attempt in attempts:
        with pytest.raises(DBAPIError, match="append-only"):
            async with engine.begin() as connection:
                await connection.execute(text(attempt))
    await engine.dispose()
    assert await store.ledger() == before
    await store.close()


async def test_it_opens_again_with_what_was_stored(sql_url: str) -> None:
    store = await SqlStore.open(sql_url)
    held = await store.reserve(await store.add(workspace()), reservation(), {NODE: Resources(9000, 2**40, {GPU: 1})})
    await store.close()
    again = await SqlStore.open(sql_url)
    assert await again.find("u1") == held
    await again.close()


async def test_many_open_a_new_database_at_once(sql_url: str) -> None:
    stores = await asyncio.gather(*(SqlStore.open(sql_url) for _ in range(8)))
    await stores[0].add(workspace())
    assert await stores[7].find("u1") is not None
    for store in stores:
        await store.close()


async def test_two_processes_worth_of_stores_never_oversell(sql_url: str) -> None:
    one, two = await SqlStore.open(sql_url), await SqlStore.open(sql_url)
    added = [await one.add(workspace(f"u{n}", f"n{n}")) for n in range(20)]
    capacity = {NODE: Resources(64_000, 2**40, {GPU: 4})}
    taken = await asyncio.gather(
        *((one, two)[n % 2].reserve(w, reservation(), capacity, [entry(w.uid)]) for n, w in enumerate(added))
    )
    assert len([w for w in taken if w]) == 4
    assert len(await one.reservations()) == 4
    for store in (one, two):
        await store.close()


async def test_two_processes_worth_of_writers_exclude_each_other(sql_url: str) -> None:
    one, two = await SqlStore.open(sql_url), await SqlStore.open(sql_url)
    read = await one.add(workspace())
    results = await asyncio.gather(
        *((one, two)[n % 2].save(read.with_(token=n)) for n in range(20)), return_exceptions=True
    )
    assert len([r for r in results if not isinstance(r, StaleWrite)]) == 1
    for store in (one, two):
        await store.close()


async def test_a_writer_that_is_cancelled_at_any_moment_leaves_all_or_nothing(sql_url: str) -> None:
    store = await SqlStore.open(sql_url)
    read = await store.add(workspace())
    for turns in range(40):
        write = asyncio.ensure_future(store.save(read.with_(token=turns + 1), [entry(at=turns)]))
        for _ in range(turns):
            await asyncio.sleep(0)
        write.cancel()
        await asyncio.gather(write, return_exceptions=True)
        read = await store.get(read.key)
    assert len(await store.ledger()) == read.revision
    assert (await store.save(read)).revision == read.revision + 1
    await store.close()


async def test_a_database_of_a_newer_version_is_refused(sql_url: str) -> None:
    await (await SqlStore.open(sql_url)).close()
    engine = create_async_engine(sql_url)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await engine.dispose()
    with pytest.raises(Refused, match="9999"):
        await SqlStore.open(sql_url)


async def test_the_file_is_private_and_durable(tmp_path: Path) -> None:
    file = tmp_path / "intermezzo.db"
    file.touch(0o644)
    store = await SqlStore.open(f"sqlite+aiosqlite:///{file}")
    await store.append([entry()])
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in os.scandir(tmp_path)}
    assert modes == dict.fromkeys(["intermezzo.db", "intermezzo.db-wal", "intermezzo.db-shm"], 0o600)
    with closing(sqlite3.connect(file)) as plain:
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    await store.close()


async def test_a_database_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    for url in (
        f"sqlite+aiosqlite:///{tmp_path}/missing/intermezzo.db",
        f"sqlite+aiosqlite:///{tmp_path}",
        f"postgresql+asyncpg://ada:S3CRET@/postgres?host={tmp_path}",
    ):
        if url.startswith("postgresql"):
            pytest.importorskip("asyncpg", reason="asyncpg is not installed")
        with pytest.raises(Unreachable) as raised:
            await SqlStore.open(url)
        assert "S3CRET" not in raised.value.message


# The driver's thread may report a failed first connection only after the loop of the test has ended.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_file_that_is_no_database_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database" * 100)
    with pytest.raises(Unreachable, match="not a database"):
        await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path}/notes.txt")


@pytest.mark.parametrize("url", ["mysql+asyncmy://localhost/x", "sqlite+aiosqlite://", "sqlite+aiosqlite:///:memory:"])
async def test_other_databases_are_refused_by_name(url: str) -> None:
    with pytest.raises(InvalidInput):
        await SqlStore.open(url)


async def test_the_tables_are_what_the_queries_expect(sql_url: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from sqlalchemy import Connection

    from intermezzo.adapters.sql.tables import metadata

    await (await SqlStore.open(sql_url)).close()

    def differences(connection: Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), metadata))

    engine = create_async_engine(sql_url)
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()
