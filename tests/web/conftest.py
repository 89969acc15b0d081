"""One simulated installation a test, and browsers and programs that talk to it."""

from collections.abc import AsyncIterator

import httpx
import pytest

from intermezzo.control.accounts import People
from intermezzo.domain.account import Use
from intermezzo.web.auth.credentials import Credentials
from web.simulated import SITE, Simulated, program


@pytest.fixture
async def world() -> AsyncIterator[Simulated]:
    """A control plane that works."""
    simulated = Simulated()
    async with simulated.working():
        yield simulated


@pytest.fixture
async def browser(world: Simulated) -> AsyncIterator[httpx.AsyncClient]:
    """A client without credentials."""
    transport = httpx.ASGITransport(world.api(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=SITE) as client:
        yield client


@pytest.fixture
async def api(world: Simulated) -> AsyncIterator[httpx.AsyncClient]:
    """A program with an API token."""
    async with program(world) as client:
        yield client


@pytest.fixture
async def credentials(world: Simulated) -> Credentials:
    """The credentials of an installation that `ada` administers."""
    clock = world.plane.context.clock
    await People(world.store.accounts, world.store, clock).prepare("ada")
    return Credentials(world.store.accounts, clock)


async def log_in(browser: httpx.AsyncClient, credentials: Credentials) -> None:
    """Give a browser a session."""
    code = await credentials.issue("ada", Use.LOGIN)
    answer = await browser.post("/login", json={"code": code}, headers={"Origin": SITE})
    answer.raise_for_status()
