"""A real JupyterLab, started once, and a session that is impatient enough for tests."""

from collections.abc import AsyncIterator, Iterator

import pytest

from intermezzo.adapters.jupyter.limits import Limits
from intermezzo.adapters.jupyter.session import JupyterSession
from jupyter.lab import Lab, serve


@pytest.fixture(scope="session")
def running_lab() -> Iterator[Lab]:
    yield from serve()


@pytest.fixture
def lab(running_lab: Lab) -> Iterator[Lab]:
    yield running_lab
    with running_lab.client() as client:
        for kernel in client.get("api/kernels").json():
            client.delete(f"api/kernels/{kernel['id']}")


@pytest.fixture
async def session() -> AsyncIterator[JupyterSession]:
    async with JupyterSession(Limits(look_s=0.5, grace_s=2)) as session:
        yield session
