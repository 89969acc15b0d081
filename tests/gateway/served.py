"""A simulated installation behind a real gateway: Envoy and the relay before the control plane's two applications."""

import asyncio
import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from gateway.upstream import Upstream, listening
from intermezzo.app import InBackground
from intermezzo.config.settings import Settings
from intermezzo.domain.account import Use
from intermezzo.domain.kind import Kind
from intermezzo.domain.orders import Sandbox
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey, WorkspaceSpec
from intermezzo.private import private_socket
from intermezzo.web.application import create_api
from intermezzo.web.auth.origin import Site
from intermezzo.web.gateway.private import create_gateway_api
from web.simulated import Simulated

PATIENCE_S = 60.0
MESSAGE_BYTES = 2**20


class Served:
    """One installation. `browser` and `socket` come in by the public port, as anybody does."""

    def __init__(self, settings: Settings, simulated: Simulated, app: FastAPI, stack: AsyncExitStack) -> None:
        self.settings = settings
        self.simulated = simulated
        self.plane = simulated.plane
        self.app = app
        self._stack = stack
        self._gateway: subprocess.Popen[bytes] | None = None
        self._upstreams: dict[str, Upstream] = {}

    @property
    def url(self) -> str:
        """Where it is reached from here."""
        return self.settings.listen.model_copy(update={"public_url": ""}).url

    @property
    def log(self) -> Path:
        return self.settings.run_dir / "gateway.log"

    async def start_gateway(self) -> None:
        """Start the gateway's process and wait until it leads to the control plane."""
        command = [sys.executable, "-m", "intermezzo.gateway", str(self.settings.run_dir / "settings.json")]
        with self.log.open("ab") as log:
            self._gateway = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: ASYNC220
        await self.until(self.answers, "the gateway answers")

    async def answers(self) -> bool:
        try:
            async with self.browser() as browser:
                return (await browser.get("/api/intermezzo/v1/health")).is_success
        except httpx.TransportError:
            assert self._gateway is not None
            assert self._gateway.poll() is None, self.log.read_text()
            return False

    @property
    def gateway_pid(self) -> int:
        assert self._gateway is not None
        return self._gateway.pid

    def end_gateway(self) -> None:
        assert self._gateway is not None
        self._gateway.terminate()
        self._gateway.wait(PATIENCE_S)

    def kill_gateway(self) -> None:
        """As a crash does: with -9."""
        assert self._gateway is not None
        self._gateway.kill()
        self._gateway.wait(PATIENCE_S)

    async def start(
        self, name: str, namespace: str = "default", owner: str = "ada", kind: str = "jupyterlab"
    ) -> Workspace:
        """A running workspace, with a server where its sandbox is."""
        record = await self.plane.create(namespace, name, owner, WorkspaceSpec(kind, "", ""), owner)
        return await self.settled(record.key, Phase.RUNNING)

    async def settled(self, key: WorkspaceKey, phase: Phase) -> Workspace:
        async def there() -> bool:
            return (await self.plane.get(key)).phase is phase

        await self.until(there, f"{key} is {phase}")
        record = await self.plane.get(key)
        if phase is Phase.RUNNING:
            await self.upstream(record)
        return record

    async def pause(self, record: Workspace) -> Workspace:
        await self.plane.pause(record.key, record.owner)
        return await self.settled(record.key, Phase.PAUSED)

    async def resume(self, record: Workspace) -> Workspace:
        await self.plane.resume(record.key, record.owner)
        return await self.settled(record.key, Phase.RUNNING)

    async def delete(self, record: Workspace) -> None:
        await self.plane.delete(record.key, record.owner)

        async def is_gone() -> bool:
            return await self.plane.find(record.uid) is None

        await self.until(is_gone, f"{record.key} is gone")
        for server in self._upstreams.values():
            if server.served == record.uid:
                await server.close()

    async def upstream(self, record: Workspace) -> Upstream:
        """The server where that workspace's sandbox is now."""
        sandbox = await self.sandbox(record)
        if sandbox.id not in self._upstreams:
            server = await self._stack.enter_async_context(listening(sandbox.endpoint.port, record.uid))
            self._upstreams[sandbox.id] = server
        return self._upstreams[sandbox.id]

    async def upstream_seen(self, record: Workspace) -> Upstream:
        """The server where its first sandbox was."""
        return next(server for server in self._upstreams.values() if server.served == record.uid)

    async def sandbox(self, record: Workspace) -> Sandbox:
        return (await self.plane.live(record.key))[1]

    async def session_of(self, subject: str = "ada") -> str:
        """The secret of a new browser session."""
        secret: str = await self.app.state.credentials.issue(subject, Use.SESSION)
        return secret

    def browser(self, session: str = "", **options: Any) -> httpx.AsyncClient:
        """A browser that may be logged in; it follows no redirect by itself."""
        cookies = {"intermezzo_session": session} if session else {}
        return httpx.AsyncClient(
            base_url=self.url, cookies=cookies, trust_env=False, verify=False, timeout=PATIENCE_S, **options
        )

    def socket(self, path: str, headers: dict[str, str], *protocols: str, **options: Any) -> connect:
        """A websocket to be opened."""
        return connect(
            self.url.replace("http", "ws", 1) + path,
            additional_headers=headers,
            subprotocols=[Subprotocol(name) for name in protocols] or None,
            compression=None,
            proxy=None,
            max_size=None,
            **options,
        )

    async def entered(self, record: Workspace, subject: str = "ada") -> httpx.AsyncClient:
        """A browser that has been let into a workspace."""
        browser = self.browser(await self.session_of(subject))
        await self._stack.enter_async_context(browser)

        async def inside() -> bool:
            answer = await browser.get(path_of(record), follow_redirects=True)
            return answer.status_code == 200

        await self.until(inside, f"{subject} is inside {record.key}")
        return browser

    async def until(self, holds: Callable[[], Awaitable[bool]], what: str) -> None:
        """Poll what another process does, within a bound."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not await holds():  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"not within {PATIENCE_S} s: {what}\n{self.log.read_text()[-3000:]}") from None


def path_of(record: Workspace, rest: str = "", port: str = "jupyterlab") -> str:
    """An address behind the gateway, for names of plain letters."""
    return f"/workspace/connect/{record.key.namespace}/{record.key.name}/{port}/{rest}"


def cookies_of(browser: httpx.AsyncClient) -> dict[str, str]:
    """A browser's cookies as the header of a websocket."""
    return {"Cookie": "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.cookies.jar)}


async def echo(socket: ClientConnection, message: str | bytes) -> str | bytes:
    await socket.send(message)
    answer: str | bytes = await socket.recv()
    return answer


@asynccontextmanager
async def served(listen: dict[str, Any] | None = None, *kinds: Kind) -> AsyncIterator[Served]:
    """Everything up; afterwards nothing of it is left."""
    folder = Path(tempfile.mkdtemp(prefix="imz-gw-"))
    chosen = {"port": free_port(), "message_bytes": MESSAGE_BYTES, **(listen or {})}
    settings = Settings.model_validate({"data_dir": folder, "listen": chosen, "log": {"level": "debug"}})
    settings.run_dir.mkdir()
    (settings.run_dir / "settings.json").write_text(json.dumps(settings.model_dump(mode="json")))
    simulated = Simulated()
    simulated.cluster.world.first_port = random.randrange(21_000, 30_000, 2)  # others may test on this machine too
    context = simulated.plane.context
    context.kinds = {**context.kinds, **{kind.name: kind for kind in kinds}}
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(simulated.working())
        site = Site(settings.listen.public_url, settings.listen.trusted_proxies)
        app = create_api(simulated.plane, simulated.store, context.clock, site)
        await app.state.people.prepare("ada")
        await stack.enter_async_context(answering(app, settings.web_socket))
        await stack.enter_async_context(answering(create_gateway_api(app), settings.gateway_socket))
        made = Served(settings, simulated, app, stack)
        try:
            await made.start_gateway()
            yield made
        finally:
            made.end_gateway()
            shutil.rmtree(folder)


@asynccontextmanager
async def answering(app: FastAPI, path: Path) -> AsyncIterator[None]:
    """An application at a unix socket, as `intermezzo.app` serves it."""
    config = uvicorn.Config(app, log_config=None, access_log=False, forwarded_allow_ips="*", lifespan="off")
    server = InBackground(config)
    serving = asyncio.create_task(server.serve(sockets=[private_socket(path)]))
    try:
        yield
    finally:
        server.should_exit = True
        server.force_exit = True
        await serving


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def children_of(pid: int) -> list[int]:
    """Its direct children."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def arguments_of(pid: int) -> str:
    """What everybody on the machine can read of how a process was started."""
    return Path(f"/proc/{pid}/cmdline").read_text()


def descriptors_of(pid: int) -> int:
    """How many files and sockets a process has open."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
