"""How the signals of a simulated sandbox read. What only its guest can tell is unknown while that does not answer."""

from typing import TypeVar

from intermezzo.adapters.memory.process import KernelProcess
from intermezzo.adapters.memory.world import LiveSandbox
from intermezzo.domain.readings import (
    Absent,
    KernelReading,
    KernelState,
    Known,
    ProcessorUse,
    Reading,
    Readings,
    Unknown,
)
from intermezzo.domain.server import Server

T = TypeVar("T")
SOURCE = "the simulated sandbox"
OVER_MS = 60_000


def readings(live: LiveSandbox, at: int) -> Readings:
    """Every signal of a sandbox."""
    doings, server = live.memory.doings, live.spec.server
    kernels = tuple(_kernel(kernel) for kernel in live.memory.kernels.values())
    no_lab = None if server is Server.JUPYTERLAB else Absent(SOURCE, at, "it has no Jupyter server")
    no_editor = None if server is Server.CODE_SERVER else Absent(SOURCE, at, "it has no VS Code")
    no_accelerator = None if doings.accelerators else Absent(SOURCE, at, "it holds no real accelerator")
    return Readings(
        kernels=no_lab or _told(live, at, kernels),
        terminals=_told(live, at, tuple(doings.terminals.values())),
        processor=Known(SOURCE, at, ProcessorUse(doings.cpu_millis, OVER_MS)),
        memory=Known(SOURCE, at, doings.memory_bytes),
        accelerators=no_accelerator or Known(SOURCE, at, doings.accelerators),
        server=no_lab or _told(live, at, doings.server_seen),
        editor=no_editor or _told(live, at, doings.editor_seen),
        keep_awake=_told(live, at, doings.keep_awake),
    )


def _told(live: LiveSandbox, at: int, says: T) -> Reading[T]:
    return Known(SOURCE, at, says) if live.answers else Unknown(SOURCE, at, "the guest in the sandbox does not answer")


def _kernel(kernel: KernelProcess) -> KernelReading:
    state = KernelState.BUSY if kernel.busy else KernelState.IDLE
    return KernelReading(kernel.process.id, state, kernel.busy_since if kernel.busy else kernel.last_activity)
