"""Two teams and everybody who has something to do with them, for tests of who may do what.

Team `red` owns the namespace `red`: ada is a member, boss administers it. bob is a member of the team `blue`. root
administers the installation, eve audits it.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI

from intermezzo.control.accounts import People
from intermezzo.domain.access import Role, Scope, TeamRole
from intermezzo.domain.account import Use
from intermezzo.web.auth.credentials import Credentials
from web.simulated import SITE

API = "/api/intermezzo/v1"
WORKSPACES = f"{API}/workspaces"

ACCOUNTS: Mapping[str, Role] = {
    "root": Role.PLATFORM_ADMIN,
    "eve": Role.AUDITOR,
    "ada": Role.USER,
    "boss": Role.USER,
    "bob": Role.USER,
}
TEAMS: Mapping[str, Mapping[str, TeamRole]] = {
    "red": {"ada": TeamRole.MEMBER, "boss": TeamRole.ADMIN},
    "blue": {"bob": TeamRole.MEMBER},
}


class Town:
    """The application with these people in it."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.people: People = app.state.people
        self.credentials: Credentials = app.state.credentials

    async def settle(self) -> None:
        """Make everybody."""
        for subject, role in ACCOUNTS.items():
            await self.people.add_account(subject, role)
        for team, members in TEAMS.items():
            await self.people.add_team(team, (team,))
            for subject, membership in members.items():
                await self.people.join(team, subject, membership)

    async def token(self, subject: str, *scopes: Scope) -> str:
        """An API token of somebody, with these scopes or with all."""
        issued = await self.credentials.make(subject, Use.API, "a test", frozenset(scopes or Scope), 0)
        return issued.secret

    def client(self, headers: Mapping[str, str] | None = None, address: str = "192.0.2.7") -> httpx.AsyncClient:
        """Somebody's program or browser, at that address."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False, client=(address, 1234))
        return httpx.AsyncClient(transport=transport, base_url=SITE, headers=headers)

    @asynccontextmanager
    async def program(self, subject: str, *scopes: Scope) -> AsyncIterator[httpx.AsyncClient]:
        """A program of somebody."""
        async with self.client({"Authorization": f"Bearer {await self.token(subject, *scopes)}"}) as client:
            yield client

    @asynccontextmanager
    async def browser(self, subject: str) -> AsyncIterator[httpx.AsyncClient]:
        """A browser in which somebody has logged in, on a page of ours: it sends what such a page does."""
        code = await self.credentials.issue(subject, Use.LOGIN)
        async with self.client({"Origin": SITE}) as client:
            (await client.post("/login", json={"code": code})).raise_for_status()
            client.headers["X-XSRF-Token"] = client.cookies["intermezzo_xsrf"]
            yield client
