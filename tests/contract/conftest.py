"""The stores that the contract is tried on."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from contract.postgres import postgres_server
from intermezzo.adapters.memory import MemoryStore
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.ports.store import Store

STORES = ["memory", "sqlite", "postgresql"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with postgres_server() as url:
        yield url


async def empty(url: str) -> str:
    """The same database with nothing in it."""
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("DROP SCHEMA public CASCADE"))
        await connection.execute(text("CREATE SCHEMA public"))
    await engine.dispose()
    return url


async def database_url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if kind == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path}/intermezzo.db"
    return await empty(request.getfixturevalue("postgres"))


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: Store
    if request.param == "memory":
        opened = MemoryStore()
    else:
        opened = await SqlStore.open(await database_url(request.param, tmp_path, request))
    yield opened
    await opened.close()


@pytest.fixture(params=STORES[1:])
async def sql_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return await database_url(request.param, tmp_path, request)
