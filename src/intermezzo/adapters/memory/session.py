"""The server inside a simulated sandbox: kernels that remember, and witnesses that cannot lie.

Whatever it says comes from the memory of the sandbox that the endpoint belongs to, so a pause that kept
nothing is seen as such.
"""

import json
from collections.abc import AsyncIterator, Sequence
from itertools import count
from typing import Any

from intermezzo.adapters.memory.calculator import CalculationError, run
from intermezzo.adapters.memory.cluster import MemoryCluster
from intermezzo.adapters.memory.process import KernelProcess
from intermezzo.adapters.memory.world import LiveSandbox
from intermezzo.domain.continuity import WitnessReport
from intermezzo.domain.errors import Forbidden, NotFound, Unreachable
from intermezzo.domain.identity import IdentityReport, Reseeded
from intermezzo.domain.orders import SandboxState
from intermezzo.ports.session import Access, CellUpdate, Kernel


class MemorySession:
    """Implements `ports.session.Session` for the sandboxes of one `MemoryCluster`."""

    def __init__(self, cluster: MemoryCluster) -> None:
        self._cluster = cluster
        self._kernels = count(1)

    async def plant(self, access: Access, nonce: str) -> WitnessReport:
        """Plant a nonce in init and every kernel."""
        for process in self._reach(access).memory.processes():
            process.plant(nonce)
        return await self.witness(access)

    async def witness(self, access: Access) -> WitnessReport:
        """What the processes hold now."""
        witnesses = tuple(process.testify() for process in self._reach(access).memory.processes())
        return WitnessReport(self._cluster.world.clock.now(), witnesses)

    async def accepts(self, access: Access) -> bool:
        """Whether that token is the one in its memory."""
        try:
            self._reach(access)
        except Forbidden:
            return False
        return True

    async def identity(self, access: Access) -> IdentityReport:
        """What its memory says."""
        live = self._reach(access)
        kernels = tuple(Reseeded(kernel_id, ("random",)) for kernel_id in live.memory.reseeded)
        return IdentityReport(live.memory.path, live.spec.hostname, live.memory.renamed_at, kernels)

    async def answers(self, access: Access, kernel_id: str, timeout_s: float) -> bool:
        """Whether that kernel is alive."""
        return kernel_id in self._reach(access).memory.kernels

    async def kernels(self, access: Access) -> list[Kernel]:
        """The kernels that run now."""
        return [
            Kernel(kernel.process.id, kernel.name, kernel.busy, kernel.last_activity, kernel.path)
            for kernel in self._reach(access).memory.kernels.values()
        ]

    def start_kernel(self, access: Access, path: str = "") -> str:
        """Start one more kernel and return its id, as a user opening a notebook would."""
        live = self._reach(access)
        kernel = self._cluster.world.processes.start_kernel(live.memory, f"kernel-{next(self._kernels)}", path=path)
        kernel.last_activity = self._cluster.world.clock.now()
        return kernel.process.id

    async def run_code(
        self, access: Access, code: str, *, kernel_id: str = "", timeout_s: float = 0
    ) -> AsyncIterator[CellUpdate]:
        """Run a piece of code as one cell."""
        kernel = self._kernel(access, kernel_id)
        for update in self._cells(kernel, [code]):
            yield update

    async def run_notebook(
        self, access: Access, path: str, notebook: dict[str, Any] | None, *, timeout_s: float = 0
    ) -> AsyncIterator[CellUpdate]:
        """Run the code cells of a notebook in its own kernel, one after another, up to the first that fails."""
        live = self._reach(access)
        files = self._cluster.world.volumes[live.spec.volume_id]
        if notebook is not None:
            files[path] = json.dumps(notebook).encode()
        if path not in files:
            raise NotFound(f"there is no notebook {path}")
        cells = [cell for cell in json.loads(files[path])["cells"] if cell["cell_type"] == "code"]
        own = next((k.process.id for k in live.memory.kernels.values() if k.path == path), "")
        kernel = self._kernel(access, own or self.start_kernel(access, path))
        for update in self._cells(kernel, ["".join(cell["source"]) for cell in cells]):
            yield update

    def _cells(self, kernel: KernelProcess, cells: Sequence[str]) -> "list[CellUpdate]":
        updates: list[CellUpdate] = []
        for index, code in enumerate(cells):
            kernel.execution_count += 1
            kernel.last_activity = self._cluster.world.clock.now()
            updates.append(CellUpdate(index, len(cells), "running"))
            try:
                printed, result = run(code, kernel.names)
            except CalculationError as error:
                problem = str(error)
                updates.append(
                    CellUpdate(index, len(cells), "failed", problem=problem, execution_count=kernel.execution_count)
                )
                return updates
            updates += [CellUpdate(index, len(cells), "output", o) for o in _outputs(printed, result, kernel)]
            updates.append(CellUpdate(index, len(cells), "done", execution_count=kernel.execution_count))
        return updates

    def _kernel(self, access: Access, kernel_id: str) -> KernelProcess:
        kernels = self._reach(access).memory.kernels
        if kernel_id and kernel_id not in kernels:
            raise NotFound(f"there is no kernel {kernel_id}")
        return kernels[kernel_id or next(reversed(kernels), "") or self.start_kernel(access)]

    def _reach(self, access: Access) -> LiveSandbox:
        here = self._cluster.world.sandboxes.values()
        live = next((s for s in here if s.port == access.endpoint.port), None)
        if live is None or not live.answers or live.state is not SandboxState.RUNNING:
            raise Unreachable("the server in the sandbox does not answer")
        if access.token != live.memory.token:
            raise Forbidden("the server in the sandbox refuses this token")
        return live


def _outputs(printed: str, result: str, kernel: KernelProcess) -> list[dict[str, Any]]:
    stream = {"output_type": "stream", "name": "stdout", "text": printed}
    outcome = {
        "output_type": "execute_result",
        "execution_count": kernel.execution_count,
        "data": {"text/plain": result},
        "metadata": {},
    }
    return [output for output, there in ((stream, printed), (outcome, result)) if there]
