"""The memory of a simulated sandbox: what a pause must keep and a fresh start does not have."""

import copy
import hashlib
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from intermezzo.adapters.memory.doings import Doings
from intermezzo.domain.continuity import Witness

_FIRST_KERNEL_PID = 20


@dataclass(slots=True)
class Process:
    """One process: who it is, when it began (clock ticks), and the value planted in its memory."""

    role: str
    id: str
    pid: int
    started: int
    nonce: str = ""

    def plant(self, nonce: str) -> None:
        """Hold a value that can be derived from `nonce` only."""
        self.nonce = hashlib.sha256(f"{nonce}{self.role}{self.id}".encode()).hexdigest()

    def testify(self) -> Witness:
        """This process's account of itself."""
        return Witness(self.role, self.id, self.pid, self.started, self.nonce)


@dataclass(slots=True)
class KernelProcess:
    """A kernel: a process with a user's variables and a count of the cells that it ran."""

    process: Process
    name: str = "python3"
    path: str = ""
    names: dict[str, Any] = field(default_factory=dict)
    execution_count: int = 0
    busy: bool = False
    busy_since: int = 0
    last_activity: int = 0
    seed: int = 0

    def begin(self, at: int) -> None:
        """A cell begins, and runs until it is said to end."""
        self.busy, self.busy_since, self.last_activity = True, at, at

    def end(self, at: int) -> None:
        """The cell has ended."""
        self.busy, self.last_activity = False, at


@dataclass(slots=True)
class Memory:
    """All processes of one sandbox. `token` and `path` are what its server was told to take and to answer under; who
    restores it elsewhere finds the same ones. `reseeded` are the kernels that began anew when it was renamed."""

    init: Process
    token: str = field(default="", repr=False)
    path: str = ""
    renamed_at: int = 0
    reseeded: tuple[str, ...] = ()
    kernels: dict[str, KernelProcess] = field(default_factory=dict)
    next_pid: int = _FIRST_KERNEL_PID
    doings: Doings = field(default_factory=Doings)
    opened: set[str] = field(default_factory=set)  # files, as the session calls them

    def image(self) -> "Memory":
        """A copy that nothing done afterwards can change."""
        return copy.deepcopy(self)

    def processes(self) -> list[Process]:
        """Every process that can hold a nonce."""
        return [self.init, *(kernel.process for kernel in self.kernels.values())]


class ProcessTable:
    """Gives out start times: no two processes of a cluster ever begin at the same tick."""

    def __init__(self) -> None:
        self._ticks = count(1000)

    def boot(self) -> Memory:
        """The memory of a sandbox that has just been started: an init and no kernel."""
        return Memory(Process("init", "init", 1, next(self._ticks)))

    def start_kernel(self, memory: Memory, kernel_id: str, name: str = "python3", path: str = "") -> KernelProcess:
        """A new kernel with nothing in it; it takes the place of one of the same id."""
        kernel = KernelProcess(Process("kernel", kernel_id, memory.next_pid, next(self._ticks)), name, path)
        kernel.seed = next(self._ticks)
        memory.next_pid += 1
        memory.kernels[kernel_id] = kernel
        return kernel

    def rename(self, memory: Memory, token: str, path: str, at: int) -> None:
        """Give what was restored another identity, and each of its kernels random numbers of its own."""
        memory.token, memory.path, memory.renamed_at = token, path, at
        for kernel in memory.kernels.values():
            kernel.seed = next(self._ticks)
        memory.reseeded = tuple(memory.kernels)
