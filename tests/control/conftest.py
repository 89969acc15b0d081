"""The stores that are tried with many at once: in memory, and one that really writes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from intermezzo.adapters.memory import MemoryStore
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.ports.store import Store


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: Store = MemoryStore()
    if request.param == "sqlite":
        opened = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path}/intermezzo.db")
    yield opened
    await opened.close()
