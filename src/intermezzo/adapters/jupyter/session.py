"""A session against a real Jupyter server: proves that kernels answer, and runs code in them.

Never starts or ends a sandbox, and leaves history, outputs and execution counts alone unless it runs what a user
asked to have run.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from datetime import datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any, Self

import httpx

from intermezzo.adapters.jupyter.execution import Execution
from intermezzo.adapters.jupyter.guest import Guest
from intermezzo.adapters.jupyter.http import Server, UnexpectedStatus
from intermezzo.adapters.jupyter.limits import Limits
from intermezzo.adapters.jupyter.link import KernelLink, LinkBroken
from intermezzo.adapters.jupyter.notebook import (
    NotebookFile,
    checked_notebook,
    checked_path,
    has_tag,
    is_runnable,
    kernel_name,
)
from intermezzo.adapters.jupyter.outputs import CellOutputs, Displays
from intermezzo.adapters.jupyter.server import JupyterServer
from intermezzo.domain.continuity import WitnessReport
from intermezzo.domain.errors import IntermezzoError, NotFound, Unreachable
from intermezzo.domain.identity import IdentityReport
from intermezzo.ports.session import Access, CellUpdate, Kernel

_NO_OP = {"code": "", "silent": True, "store_history": False, "user_expressions": {}, "allow_stdin": False}


class JupyterSession:
    """Implements the port `Session`. Close it, or use it as an asynchronous context."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        # No connection is kept: one from before a pause leads to a sandbox that is gone, and nothing says so.
        self._client = httpx.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            # A server lets in by a cookie who brought its token once; kept, that would hide what a token is worth.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            timeout=self._limits.request_s,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def plant(self, access: Access, nonce: str) -> WitnessReport:
        """Put a value derived from `nonce` into the memory of each process that can hold one, and report it."""
        return await self._guest(access).plant(nonce)

    async def witness(self, access: Access) -> WitnessReport:
        """Read back what the processes hold now."""
        return await self._guest(access).witness()

    async def accepts(self, access: Access) -> bool:
        """Whether the server or the guest takes this access token."""
        taken = await asyncio.gather(
            _takes(self._server(access).status()),
            _takes(self._guest(access).ready()),
        )
        return any(taken)

    async def identity(self, access: Access) -> IdentityReport:
        """Who the session says that it is."""
        return await self._guest(access).identity()

    async def answers(self, access: Access, kernel_id: str, timeout_s: float) -> bool:
        """Whether the kernel answers: a silent no-op cell, or on its control channel while busy.

        False if the kernel is gone or silent for `timeout_s`. Raises `Unreachable`.
        """
        state = asyncio.ensure_future(self._server(access).kernel_state(kernel_id))
        try:
            async with asyncio.timeout(timeout_s), KernelLink(access, kernel_id, self._limits) as link:
                return await _answer(link, busy=await state == "busy")
        except (TimeoutError, LinkBroken, NotFound):
            return False
        finally:
            state.cancel()
            await asyncio.gather(state, return_exceptions=True)

    async def kernels(self, access: Access) -> list[Kernel]:
        """The kernels that run now. Raises `Unreachable`."""
        server = self._server(access)
        kernels, sessions = await asyncio.gather(server.kernels(), server.sessions())
        try:
            paths = {session["kernel"]["id"]: session["path"] for session in sessions if session.get("kernel")}
            return [_kernel(model, paths) for model in kernels]
        except (KeyError, TypeError, ValueError) as error:
            raise Unreachable("the server in the sandbox described its kernels in an unknown way") from error

    async def run_code(
        self, access: Access, code: str, *, kernel_id: str = "", timeout_s: float = 0
    ) -> AsyncIterator[CellUpdate]:
        """Run one piece of code as cell 0 of 1; the last update is `done` or `failed`.

        The time-out counts from when the kernel begins. Raises `NotFound` for a kernel that is not there and
        `Unreachable`, both before anything ran.
        """
        kernel_id = kernel_id or await self._newest_kernel(access)
        outputs = CellOutputs(self._limits.output_bytes)
        async with KernelLink(access, kernel_id, self._limits) as link:
            execution = Execution(self._server(access), link, kernel_id, outputs, timeout_s, self._limits)
            yield CellUpdate(0, 1, "running")
            async for output in execution.run(code):
                yield CellUpdate(0, 1, "output", output)
        yield _last_update(0, 1, execution.problem, execution.execution_count)

    async def run_notebook(
        self, access: Access, path: str, notebook: dict[str, Any] | None, *, timeout_s: float = 0
    ) -> AsyncIterator[CellUpdate]:
        """Run a notebook in its live kernel, or a new one, saving after every cell; stops at the first that fails.

        `index` counts all cells of the notebook, `total` is their number; text and empty cells give no update.
        `timeout_s` bounds each cell. Raises `InvalidInput`, `NotFound` and `Unreachable` before anything ran.
        """
        server = self._server(access)
        file = NotebookFile(server, checked_path(path))
        if notebook is None:
            await file.load()
        else:
            await file.create(checked_notebook(notebook))
        cells = file.notebook["cells"]
        kernel_id = await server.kernel_of(checked_path(path), kernel_name(file.notebook))
        displays: Displays = {}
        async with KernelLink(access, kernel_id, self._limits) as link:
            for index, cell in enumerate(cells):
                if not is_runnable(cell):
                    continue
                outputs = CellOutputs(self._limits.output_bytes, displays)
                execution = Execution(server, link, kernel_id, outputs, timeout_s, self._limits)
                yield CellUpdate(index, len(cells), "running")
                try:
                    async for output in execution.run(cell["source"]):
                        yield CellUpdate(index, len(cells), "output", output)
                finally:
                    unsaved = await _save(file, index, outputs, execution.execution_count)
                raised = execution.raised and has_tag(cell, "raises-exception")
                problem = "; ".join(filter(None, ["" if raised else execution.problem, unsaved]))
                yield _last_update(index, len(cells), problem, execution.execution_count)
                if problem:
                    return

    async def close(self) -> None:
        """Let go of all connections."""
        await self._client.aclose()

    async def _newest_kernel(self, access: Access) -> str:
        kernels = await self.kernels(access)
        if kernels:
            return max(kernels, key=lambda kernel: kernel.last_activity).id
        return await self._server(access).start_kernel()

    def _server(self, access: Access) -> JupyterServer:
        end = access.endpoint
        return JupyterServer(self._http(f"http://{end.host}:{end.port}{end.base_path}", access))

    def _guest(self, access: Access) -> Guest:
        return Guest(self._http(f"http://{access.endpoint.host}:{access.endpoint.guest_port}/", access))

    def _http(self, base: str, access: Access) -> Server:
        return Server(self._client, base, access.token, self._limits)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def _answer(link: KernelLink, *, busy: bool) -> bool:
    channel, request = ("control", "kernel_info") if busy else ("shell", "execute")
    asked = await link.send(channel, f"{request}_request", {} if busy else _NO_OP)
    while True:
        message = await link.receive()
        if (message.parent_id, message.channel, message.type) == (asked, channel, f"{request}_reply"):
            return bool(message.content.get("status", "ok") == "ok")


async def _save(file: NotebookFile, index: int, outputs: CellOutputs, execution_count: int | None) -> str:
    try:
        await file.save(index, outputs.outputs, execution_count)
    except IntermezzoError as error:
        return f"the result could not be saved: {error.message}"
    return ""


def _last_update(index: int, total: int, problem: str, execution_count: int | None) -> CellUpdate:
    state = "failed" if problem else "done"
    return CellUpdate(index, total, state, problem=problem, execution_count=execution_count)


def _kernel(model: dict[str, Any], paths: dict[str, str]) -> Kernel:
    active = datetime.fromisoformat(model["last_activity"])
    return Kernel(
        id=str(model["id"]),
        name=str(model["name"]),
        busy=model["execution_state"] == "busy",
        last_activity=round(active.timestamp() * 1000),
        path=str(paths.get(model["id"], "")),
    )


async def _takes(asked: Awaitable[Any]) -> bool:
    """Whether a question was let in, whatever the answer; nobody else's word counts for a refusal."""
    try:
        await asked
    except UnexpectedStatus as error:
        return error.status not in {401, 403}
    return True
