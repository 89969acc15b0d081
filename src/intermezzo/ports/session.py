"""What the control plane needs from the server that runs inside a sandbox: kernels, code, and witnesses.

Every sandbox has witnesses. Only a server that has kernels (`access.server.has_kernels`) may be asked for them or to
run anything. An implementation speaks to the server's own API and to the guest's. It never starts or ends a sandbox and
never writes to the user's history or outputs unless it runs what the user asked to have run.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from intermezzo.domain.continuity import WitnessReport
from intermezzo.domain.identity import IdentityReport
from intermezzo.domain.orders import Endpoint
from intermezzo.domain.server import Server


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach one session and what answers there; `token` must never be logged."""

    endpoint: Endpoint
    token: str = field(repr=False)
    server: Server = Server.JUPYTERLAB


@dataclass(frozen=True, slots=True)
class Kernel:
    """A live kernel. `last_activity` is in epoch milliseconds."""

    id: str
    name: str
    busy: bool
    last_activity: int
    path: str = ""


@dataclass(frozen=True, slots=True)
class CellUpdate:
    """Progress of a run: cell `index` of `total` is `running`, gave `output` (nbformat), or is `done` or `failed`."""

    index: int
    total: int
    state: str
    output: dict[str, Any] | None = None
    problem: str = ""
    execution_count: int | None = None


class Session(Protocol):
    """Every method raises `Unreachable` if the server does not answer."""

    async def plant(self, access: Access, nonce: str) -> WitnessReport:
        """Put a value derived from `nonce` into the memory of each process that can hold one, and report it."""
        ...

    async def witness(self, access: Access) -> WitnessReport:
        """Read back what the processes hold now."""
        ...

    async def accepts(self, access: Access) -> bool:
        """Whether the server or the guest takes this access token. Only both refusing it is a no."""
        ...

    async def identity(self, access: Access) -> IdentityReport:
        """Who the session says that it is."""
        ...

    async def answers(self, access: Access, kernel_id: str, timeout_s: float) -> bool:
        """Whether the kernel answers through the server: a silent no-op cell, or its control channel while busy."""
        ...

    async def kernels(self, access: Access) -> list[Kernel]:
        """The kernels that run now."""
        ...

    def run_code(
        self, access: Access, code: str, *, kernel_id: str = "", timeout_s: float = 0
    ) -> AsyncIterator[CellUpdate]:
        """Run one piece of code in a live kernel (the newest, or a new one where none runs). 0 is no time-out."""
        ...

    def run_notebook(
        self, access: Access, path: str, notebook: dict[str, Any] | None, *, timeout_s: float = 0
    ) -> AsyncIterator[CellUpdate]:
        """Run a notebook that lies at `path` in home (written there first if given), saving after every cell."""
        ...
