"""A whole control plane over the shipped in-memory adapters, for tests of what is above it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx
from fastapi import FastAPI

from intermezzo.adapters.memory import MemoryCluster, MemorySession, MemoryStore
from intermezzo.control.context import Context
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.account import Use
from intermezzo.domain.workspace import Phase, WorkspaceKey
from intermezzo.kinds import load_shipped_kinds
from intermezzo.ports.clock import SystemClock
from intermezzo.web.application import create_api

SITE = "http://intermezzo.test"
STEP_S = 0.002


class Simulated:
    """The control plane with the cluster beneath it, so that a test can look at the world and let things fail."""

    def __init__(self, delay_s: float | None = STEP_S) -> None:
        self.cluster = MemoryCluster(delay_s=delay_s)
        self.session = MemorySession(self.cluster)
        self.store = MemoryStore()
        self.plane = ControlPlane(
            Context(
                store=self.store,
                cluster=self.cluster,
                session=self.session,
                clock=SystemClock(),
                kinds=load_shipped_kinds(),
                secret=b"secret of a test",
            )
        )

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """The loop runs meanwhile."""
        await self.plane.catalogue.load()
        loop = asyncio.create_task(self.plane.run_forever())
        try:
            yield
        finally:
            loop.cancel()
            with suppress(asyncio.CancelledError):
                await loop
            await self.cluster.close()

    async def reached(self, key: WorkspaceKey, phase: Phase) -> None:
        """Wait until the workspace is in that phase, woken by changes."""
        count = 0
        while (await self.plane.get(key)).phase is not phase:
            count, _ = await self.plane.wait_changed(count, 5)

    def api(self) -> FastAPI:
        """The web application."""
        return create_api(self.plane, self.store, self.plane.context.clock)


@asynccontextmanager
async def program(simulated: Simulated, subject: str = "ada") -> AsyncIterator[httpx.AsyncClient]:
    """A program that calls the API with a token of its own."""
    app = simulated.api()
    await app.state.people.prepare(subject)
    token = await app.state.credentials.issue(subject, Use.API)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url=SITE, headers=headers) as client:
        yield client
