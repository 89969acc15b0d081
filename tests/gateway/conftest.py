"""The installation that most tests of this folder share; each test makes a workspace of its own."""

from collections.abc import AsyncIterator
from itertools import count

import pytest
import pytest_asyncio

from gateway.served import Served, served
from intermezzo.domain.workspace import Workspace

NUMBERS = count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The shared installation lives in one event loop, and so do its tests."""
    for item in items:
        if (
            item.path.parent.name == "gateway"
            and isinstance(item, pytest.Function)
            and item.get_closest_marker("asyncio")
        ):
            item.add_marker(pytest.mark.asyncio(loop_scope="package"), append=False)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def site() -> AsyncIterator[Served]:
    """One installation for all tests of this folder."""
    async with served() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="package")
async def exp(site: Served) -> AsyncIterator[Workspace]:
    """A running workspace of ada's."""
    made = await site.start(f"exp-{next(NUMBERS)}")
    yield made
    await site.delete(made)
