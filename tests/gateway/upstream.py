"""A server in the place of a workspace's: it tells what reached it, and speaks websockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from intermezzo.app import InBackground

LARGEST = 2**31 - 1


async def _nothing() -> None:
    """Before it listens there is nothing to close."""


@dataclass
class Upstream:
    """What has reached a server: each request as it came in, and the websockets that are open."""

    port: int
    served: str
    close: Callable[[], Awaitable[None]] = _nothing
    requests: list[dict[str, Any]] = field(default_factory=list)
    open_sockets: int = 0
    all_closed: asyncio.Event = field(default_factory=asyncio.Event)

    def app(self) -> Starlette:
        methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
        return Starlette(
            routes=[Route("/{path:path}", self._tell, methods=methods), WebSocketRoute("/{path:path}", self._echo)]
        )

    async def _tell(self, request: Request) -> Response:
        body = await request.body()
        seen = _seen(request.scope) | {"method": request.method, "body_bytes": len(body)}
        self.requests.append(seen)
        answer = JSONResponse(seen)
        for cookie in request.query_params.getlist("set-cookie"):
            answer.raw_headers.append((b"set-cookie", cookie.encode()))
        return answer

    async def _echo(self, socket: WebSocket) -> None:
        self.requests.append(_seen(socket.scope) | {"method": "WEBSOCKET"})
        offered = socket.scope["subprotocols"]
        await socket.accept(subprotocol=offered[-1] if offered else None)
        self.open_sockets += 1
        self.all_closed.clear()
        try:
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                if message.get("bytes") is not None:
                    await socket.send_bytes(message["bytes"])
                else:
                    await socket.send_text(message["text"])
        except WebSocketDisconnect:
            pass
        finally:
            self.open_sockets -= 1
            if not self.open_sockets:
                self.all_closed.set()


def _seen(scope: Any) -> dict[str, Any]:
    return {
        "path": scope["raw_path"].decode("latin-1"),
        "query": scope["query_string"].decode("latin-1"),
        "headers": {name.decode(): value.decode("latin-1") for name, value in scope["headers"]},
    }


@asynccontextmanager
async def listening(port: int, served: str) -> AsyncIterator[Upstream]:
    """Such a server at a port of the loopback interface, for the workspace of that uid."""
    upstream = Upstream(port, served)
    config = uvicorn.Config(
        upstream.app(), log_level="critical", ws="websockets-sansio", ws_max_size=LARGEST, lifespan="off"
    )
    server = InBackground(config)
    serving = asyncio.create_task(server.serve(sockets=[socket.create_server(("127.0.0.1", port))]))
    while not server.started:
        assert not serving.done(), serving
        await asyncio.sleep(0.01)

    async def close() -> None:
        server.should_exit = True
        server.force_exit = True
        await serving

    upstream.close = close
    try:
        yield upstream
    finally:
        await close()
