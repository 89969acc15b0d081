"""Asking an application for the beginning of an answer, so that one that never ends can be asked for too."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI
from starlette.types import Message

from web.simulated import SITE


async def status_of(app: FastAPI, method: str, path: str, headers: Mapping[str, str], body: Any = None) -> int:
    """The status of the answer; whoever asks leaves as soon as it is known."""
    content = b"" if body is None else json.dumps(body).encode()
    kinds = {"host": SITE.partition("//")[2], "content-length": str(len(content))}
    kinds |= {"content-type": "application/json"} if content else {}
    kinds |= {name.lower(): value for name, value in headers.items()}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in kinds.items()],
        "client": ("192.0.2.7", 1234),
        "server": ("intermezzo.test", 80),
    }
    known: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    parts = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def receive() -> Message:
        for part in parts:
            return part
        await known
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start" and not known.done():
            known.set_result(message["status"])

    asked = asyncio.create_task(app(scope, receive, send))
    waited: set[asyncio.Future[Any]] = {asked, known}
    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    if not known.done():
        await asked  # raises what went wrong
    status = await known
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            await asyncio.shield(asked)
    if not asked.done():
        asked.cancel()
        with suppress(asyncio.CancelledError):
            await asked
    return status
