"""Event streams: they say what changed, and leave nothing behind when those who listened have gone."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest
from httpx_sse import EventSource, aconnect_sse

from intermezzo.client.workspace_models import WorkspaceShape
from web.served import Served, served
from web.test_workspaces import WORKSPACES

LISTENERS = 100
PREFIX = "/api/intermezzo/v1"
STREAMS = (f"{PREFIX}/changes", f"{PREFIX}/events")


@pytest.fixture(scope="module")
def installation() -> Iterator[Served]:
    with served() as reached:
        yield reached


@asynccontextmanager
async def program(installation: Served) -> AsyncIterator[httpx.AsyncClient]:
    """A program with as many connections as it likes."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=installation.url, headers=installation.headers, limits=limits, timeout=60
    ) as client:
        yield client


async def create(client: httpx.AsyncClient, name: str) -> WorkspaceShape:
    answer = await client.post(WORKSPACES, json={"name": name})
    assert answer.status_code == 201
    return WorkspaceShape.model_validate(answer.json())


async def hears_of(source: EventSource, uid: str) -> None:
    """Returns once the stream has told of that workspace."""
    async for event in source.aiter_sse():
        told = json.loads(event.data)
        if uid in (told if event.event == "changed" else [told["workspace_uid"]]):
            return
    raise AssertionError("the stream has ended")


def at_work(installation: Served) -> Counter[str]:
    """What the server's event loop works on."""

    async def names() -> Counter[str]:
        found = (task.get_coro() for task in asyncio.all_tasks() if task is not asyncio.current_task())
        return Counter(getattr(coroutine, "__qualname__", "") for coroutine in found)

    return asyncio.run_coroutine_threadsafe(names(), installation.loop).result()


async def comes_to_rest(installation: Served, rest: Counter[str]) -> Counter[str]:
    """What is left beyond `rest` once it does not get less any more, or nothing."""
    left = Counter[str]()
    for _ in range(600):
        left = at_work(installation) - rest
        if not left:
            break
        await asyncio.sleep(0.05)
    return left


async def test_whoever_listens_is_told_and_whoever_leaves_leaves_nothing_behind(installation: Served) -> None:
    async with program(installation) as client:
        for path in STREAMS:  # whatever is made once for all streams is there from now on
            async with aconnect_sse(client, "GET", path):
                pass
        await create(client, "first")
        async with aconnect_sse(client, "GET", STREAMS[1]) as source:
            await anext(source.aiter_sse())
    rest = await quiet(installation)
    async with program(installation) as client, AsyncExitStack() as stack:
        listening = [
            await stack.enter_async_context(aconnect_sse(client, "GET", path))
            for path in STREAMS
            for _ in range(LISTENERS)
        ]
        assert (at_work(installation) - rest).total() >= len(listening)
        made = await create(client, "second")
        await asyncio.gather(*(hears_of(source, made.uid) for source in listening))
    assert not await comes_to_rest(installation, rest)


async def quiet(installation: Served) -> Counter[str]:
    """What it works on when nobody asks for anything."""
    before = at_work(installation)
    for _ in range(600):
        await asyncio.sleep(0.05)
        now = at_work(installation)
        if now == before and not any(name.startswith(("RequestResponseCycle", "HTTP")) for name in now):
            return now
        before = now
    raise AssertionError(f"it never came to rest: {before}")


async def test_a_stream_is_sent_as_it_comes_and_not_packed(installation: Served) -> None:
    async with (
        program(installation) as client,
        aconnect_sse(client, "GET", STREAMS[0], headers={"Accept-Encoding": "gzip"}) as source,
    ):
        assert "Content-Encoding" not in source.response.headers
        made = await create(client, "third")
        await hears_of(source, made.uid)
