"""A simulated installation behind a real web server, in a thread with an event loop of its own."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn
from schemathesis import Case, GenerationMode

from web.simulated import Simulated, program


@dataclass(frozen=True, slots=True)
class Served:
    """Where it is reached, with what an administrator's program sends along."""

    url: str
    headers: dict[str, str]
    simulated: Simulated
    loop: asyncio.AbstractEventLoop

    def name_what_is_there(self, case: Case[Any]) -> None:
        """Let every other valid request be about a workspace, or a kind, that there is."""
        parameters = case.path_parameters
        valid = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
        if not valid or not parameters or len(str(sorted(parameters.items()))) % 2:
            return
        workspace = {"namespace": "default", "name": "exp", "kind_name": "jupyterlab"}
        known = {**workspace, "name": "jupyterlab"} if "workspacekinds" in case.path else workspace
        parameters.update({name: known[name] for name in parameters if name in known})
        if "name" in parameters:
            body = {"namespace": "default", "name": "exp"}
            httpx.post(f"{self.url}/api/intermezzo/v1/workspaces", json=body, headers=self.headers)


@contextmanager
def served() -> Iterator[Served]:
    """Served while the block runs."""
    ready: Future[tuple[Served, uvicorn.Server]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(ready)))
    thread.start()
    try:
        reached, server = ready.result()
        try:
            yield reached
        finally:
            server.should_exit = True
    finally:
        thread.join()


async def _serve(ready: "Future[tuple[Served, uvicorn.Server]]") -> None:
    try:
        simulated = Simulated()
        async with simulated.working(), program(simulated) as client:
            config = uvicorn.Config(simulated.api(), port=0, log_config=None, access_log=False)
            listening = config.bind_socket()
            listening.listen()
            headers = {"Authorization": client.headers["Authorization"]}
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            server = uvicorn.Server(config)
            ready.set_result((Served(url, headers, simulated, asyncio.get_running_loop()), server))
            await server.serve(sockets=[listening])
    except BaseException as error:
        if not ready.done():
            ready.set_exception(error)
        raise
