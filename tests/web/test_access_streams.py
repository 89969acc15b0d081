"""Answers that go on: they tell only what may be seen, and end with the credential of whoever listens."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from fastapi import FastAPI
from starlette.types import Message

from intermezzo.adapters.memory import ManualClock
from intermezzo.domain.access import Scope
from intermezzo.domain.account import Standing, Use
from intermezzo.domain.workspace import WorkspaceKey, WorkspaceSpec
from intermezzo.web.application import create_api
from intermezzo.web.auth.credentials import Issued
from intermezzo.web.auth.lasting import BELIEVED_MS
from web.simulated import Simulated
from web.town import API, Town


class Listener:
    """Somebody who listens to a stream. `ended` is done when the application ends it."""

    def __init__(self, app: FastAPI, path: str, token: str) -> None:
        self.heard: asyncio.Queue[str] = asyncio.Queue()
        self.begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        scope = {
            "type": "http",
            "http_version": "1.1",
            "scheme": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"host", b"intermezzo.test"), (b"authorization", f"Bearer {token}".encode())],
        }
        self.ended = asyncio.create_task(app(scope, self._stay, self._hear))

    async def _stay(self) -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def _hear(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun.set_result(message["status"])
        for line in message.get("body", b"").decode().splitlines():
            if line.startswith("data:"):
                await self.heard.put(line.removeprefix("data:").strip())


@asynccontextmanager
async def listening(town: Town, path: str, issued: Issued) -> AsyncIterator[Listener]:
    """Listen meanwhile."""
    listener = Listener(town.app, path, issued.secret)
    assert await listener.begun == 200
    try:
        yield listener
    finally:
        listener.ended.cancel()
        with suppress(asyncio.CancelledError):
            await listener.ended


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands still."""
    return ManualClock()


@pytest.fixture
async def town(world: Simulated, clock: ManualClock) -> Town:
    """Everybody, and a workspace of ada's."""
    made = Town(create_api(world.plane, world.store, clock))
    await made.settle()
    await world.plane.create("red", "exp", "ada", WorkspaceSpec("jupyterlab", "", ""), "ada")
    return made


async def known(town: Town, subject: str) -> Issued:
    """Somebody's new token."""
    return await town.credentials.make(subject, Use.API, "listens", frozenset(Scope), 0)


async def test_a_stranger_hears_nothing_of_what_happens(town: Town, world: Simulated) -> None:
    uid = (await world.plane.get(WorkspaceKey("red", "exp"))).uid
    own = await world.plane.create("blue", "own", "bob", WorkspaceSpec("jupyterlab", "", ""), "bob")
    async with listening(town, f"{API}/changes", await known(town, "bob")) as bob:
        world.plane.context.changes.touch(uid)
        world.plane.context.changes.touch(own.uid)
        assert json.loads(await bob.heard.get()) == [own.uid]
    async with listening(town, f"{API}/events", await known(town, "bob")) as bob:
        assert json.loads(await bob.heard.get())["name"] == "own"


async def revoked(town: Town, issued: Issued) -> None:
    await town.credentials.revoke(issued.credential.id)


async def disabled(town: Town, issued: Issued) -> None:
    await town.people.change_account(issued.credential.subject, None, Standing.DISABLED)


@pytest.mark.parametrize("path", ["changes", "events"])
@pytest.mark.parametrize("shut_out", [revoked, disabled])
async def test_it_ends_when_the_listener_is_shut_out(
    town: Town,
    world: Simulated,
    clock: ManualClock,
    path: str,
    shut_out: Callable[[Town, Issued], Awaitable[None]],
) -> None:
    uid = (await world.plane.get(WorkspaceKey("red", "exp"))).uid
    issued = await known(town, "ada")
    async with listening(town, f"{API}/{path}", issued) as ada:
        world.plane.context.changes.touch(uid)
        await ada.heard.get()
        await shut_out(town, issued)
        clock.advance(BELIEVED_MS)
        world.plane.context.changes.touch(uid)
        await ada.ended


async def test_who_leaves_the_team_hears_no_more_of_it(town: Town, world: Simulated, clock: ManualClock) -> None:
    red = await world.plane.get(WorkspaceKey("red", "exp"))
    blue = await world.plane.create("blue", "own", "boss", WorkspaceSpec("jupyterlab", "", ""), "boss")
    await town.people.join("blue", "boss", (await town.people.memberships())[0].role)
    async with listening(town, f"{API}/changes", await known(town, "boss")) as boss:
        world.plane.context.changes.touch(red.uid)
        assert red.uid in json.loads(await boss.heard.get())
        await town.people.leave("red", "boss")
        clock.advance(BELIEVED_MS)
        while blue.uid not in (heard := json.loads(await said_after(boss, world, red.uid, blue.uid))):
            pass
        assert red.uid not in heard


async def said_after(listener: Listener, world: Simulated, *uids: str) -> str:
    """What is said next, once these have changed."""
    for uid in uids:
        world.plane.context.changes.touch(uid)
    return await listener.heard.get()
