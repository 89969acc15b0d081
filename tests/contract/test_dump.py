"""What a database gives out, another one takes in: one moment's rows, of every table, across both sorts."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from contract.conftest import database_url
from contract.inhabited import inhabit
from contract.samples import entry, workspace
from intermezzo.adapters.sql.dump import TABLES, dumping, fill
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, Refused

Rows = dict[str, list[dict[str, Any]]]


async def rows_of(url: str) -> tuple[str, Rows]:
    async with dumping(url) as dump:
        return dump.revision, {name: [dict(row) async for row in dump.rows(name)] for name in TABLES}


async def inhabited(url: str) -> None:
    store = await SqlStore.open(url)
    await inhabit(store)
    await store.close()


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
async def test_every_row_of_every_table_comes_back_in_the_other_database(
    sql_url: str, target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await inhabited(sql_url)
    revision, before = await rows_of(sql_url)
    assert not [name for name, rows in before.items() if not rows], "a table that nothing was put into"
    (tmp_path / "other").mkdir()
    other = await database_url(target, tmp_path / "other", request)
    await fill(other, revision, before.items())
    assert await rows_of(other) == (revision, before)


async def test_what_is_given_numbers_goes_on_above_what_came_back(sql_url: str, tmp_path: Path) -> None:
    await inhabited(f"sqlite+aiosqlite:///{tmp_path}/first.db")
    revision, before = await rows_of(f"sqlite+aiosqlite:///{tmp_path}/first.db")
    await fill(sql_url, revision, before.items())
    store = await SqlStore.open(sql_url)
    highest = max(line.seq for line in await store.ledger())
    await store.append([entry("u2", 99)])
    assert [line.seq for line in await store.ledger(after_seq=highest)] == [highest + 1]
    await store.close()


async def test_it_is_one_moment_although_others_go_on_writing(sql_url: str) -> None:
    """Workspace and its first line of the ledger are written together; so they are in the dump together."""
    store = await SqlStore.open(sql_url)
    writing = asyncio.Event()

    async def write() -> None:
        for number in range(200):
            await store.add(workspace(f"u{number}", f"n{number}"), [entry(f"u{number}", number)])
            writing.set()

    writer = asyncio.create_task(write())
    await writing.wait()
    async with dumping(sql_url) as dump:
        seen = [row["uid"] async for row in dump.rows("workspaces")]
        await writer
        lines = [row["workspace_uid"] async for row in dump.rows("ledger")]
    assert sorted(lines) == sorted(seen)
    assert 0 < len(seen) < 200
    await store.close()


async def test_only_an_empty_database_is_filled(sql_url: str) -> None:
    await inhabited(sql_url)
    revision, before = await rows_of(sql_url)
    with pytest.raises(Conflict, match="not empty"):
        await fill(sql_url, revision, {}.items())
    assert await rows_of(sql_url) == (revision, before)


async def test_rows_that_do_not_fit_leave_the_database_empty(sql_url: str, tmp_path: Path) -> None:
    await inhabited(f"sqlite+aiosqlite:///{tmp_path}/first.db")
    revision, before = await rows_of(f"sqlite+aiosqlite:///{tmp_path}/first.db")
    for strange in ({"nowhere": [{"a": 1}]}, {"settings": [{"name": "a", "value": "1", "extra": 2}]}):
        with pytest.raises(InvalidInput, match=r"there is no table nowhere|no column extra"):
            await fill(sql_url, revision, {**before, **strange}.items())
    with pytest.raises(Refused, match="another version"):
        await fill(sql_url, "9999", before.items())
    await fill(sql_url, revision, before.items())
    assert await rows_of(sql_url) == (revision, before)


async def test_a_database_of_another_form_is_not_read_and_not_changed(sql_url: str) -> None:
    await inhabited(sql_url)
    engine = create_async_engine(sql_url)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with pytest.raises(Refused, match="has the form 0001"):
        await rows_of(sql_url)
    async with engine.connect() as connection:
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == "0001"
    await engine.dispose()


def test_where_there_is_no_database_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no database"):
        asyncio.run(rows_of(f"sqlite+aiosqlite:///{tmp_path}/none.db"))
    assert list(tmp_path.iterdir()) == []
