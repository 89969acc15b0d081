"""The accelerators of this node: real ones as NVIDIA's management library tells, virtual ones as declared.

Without the library, the driver or a device there are no real ones. The path for real ones has been exercised
against a stand-in only; it has not yet been run on a GPU.
"""

import importlib
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from intermezzo.domain.errors import Unreachable
from intermezzo.domain.readings import AcceleratorUse
from intermezzo.domain.resources import Accelerator
from intermezzo.node.config import VirtualAccelerator
from intermezzo.node.processes import identify

RESOURCE = "nvidia.com/gpu"
CONTROL_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")


class ManagementLibrary(Protocol):
    """The few calls of NVIDIA's management library that are used; each raises `NVMLError`."""

    NVMLError: type[Exception]

    def nvmlInit(self) -> None:
        """Load the driver."""
        ...

    def nvmlSystemGetDriverVersion(self) -> str:
        """The driver's version."""
        ...

    def nvmlDeviceGetCount(self) -> int:
        """How many devices there are."""
        ...

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:
        """The handle for the others."""
        ...

    def nvmlDeviceGetUUID(self, handle: Any) -> str:
        """The identity that stays the same over restarts."""
        ...

    def nvmlDeviceGetName(self, handle: Any) -> str:
        """The model."""
        ...

    def nvmlDeviceGetMinorNumber(self, handle: Any) -> int:
        """The number of its device node."""
        ...

    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any:
        """Its memory: `total` in bytes."""
        ...

    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any:
        """How busy it was in the last sampling period: `gpu` in percent."""
        ...

    def nvmlDeviceGetComputeRunningProcesses(self, handle: Any) -> Sequence[Any]:
        """Who uses it: `pid` and `usedGpuMemory` in bytes."""
        ...


def management_library() -> ManagementLibrary | None:
    """The library, if it is installed and finds a driver."""
    try:
        library: ManagementLibrary = importlib.import_module("pynvml")
        library.nvmlInit()
    except ImportError:
        return None
    except library.NVMLError:
        return None
    return library


class Accelerators:
    """What there is on this node. Real devices are given to at most one sandbox each, by the one who orders."""

    def __init__(self, library: ManagementLibrary | None, virtual: Iterable[VirtualAccelerator] = ()) -> None:
        self._library = library
        self._virtual = tuple(virtual)

    def all(self) -> tuple[Accelerator, ...]:
        """Every accelerator, real ones first."""
        declared = [
            Accelerator(f"virtual-{kind.model.lower()}-{n}", kind.resource, kind.model, virtual=True)
            for kind in self._virtual
            for n in range(kind.count)
        ]
        return (*self._real(), *declared)

    def counts(self) -> dict[str, int]:
        """How many there are of each resource."""
        found: dict[str, int] = {}
        for accelerator in self.all():
            found[accelerator.resource] = found.get(accelerator.resource, 0) + 1
        return found

    def identity(self, wanted: int) -> str:
        """Model and driver as a snapshot records them; empty where no real accelerator is asked for."""
        real = self._real()
        return f"{real[0].model} {real[0].driver}" if wanted and real else ""

    def given(self, wanted: int) -> int:
        """How many real ones a sandbox that asks for so many gets."""
        return min(wanted, len(self._real()))

    def device_paths(self, chosen: Sequence[Accelerator]) -> list[str]:
        """The device nodes that a sandbox with these accelerators needs."""
        if self._library is None or not chosen:
            return []
        minors = [self._library.nvmlDeviceGetMinorNumber(h) for u, h in self._handles() if u in {a.id for a in chosen}]
        control = [path for path in CONTROL_DEVICES if Path(path).exists()]
        return control + [f"/dev/nvidia{minor}" for minor in minors]

    def memory_held(self, pids: Iterable[int]) -> int:
        """Accelerator memory in bytes that the given processes hold; 0 means that it is really free."""
        if self._library is None:
            return 0
        ours = set(pids)
        return sum(
            int(process.usedGpuMemory or 0)
            for _, handle in self._handles()
            for process in self._library.nvmlDeviceGetComputeRunningProcesses(handle)
            if process.pid in ours
        )

    @property
    def has_real(self) -> bool:
        """Whether there are any that can be busy."""
        return self._library is not None

    def use(self, pids: Collection[int]) -> tuple[AcceleratorUse, ...]:
        """The real ones that one of these processes has open, and how busy each is. Raises `Unreachable` where that
        cannot be told."""
        if self._library is None:
            return ()
        try:
            each = (self._use_of(uuid, handle, frozenset(pids)) for uuid, handle in self._handles())
            return tuple(use for use in each if use is not None)
        except self._library.NVMLError as error:
            raise Unreachable(f"the accelerators could not be asked: {error}") from error

    def _use_of(self, uuid: str, handle: Any, pids: frozenset[int]) -> AcceleratorUse | None:
        assert self._library is not None
        processes = self._library.nvmlDeviceGetComputeRunningProcesses(handle)
        if any(identify(process.pid) is None for process in processes):
            # From within a container the driver's process ids may be another world's: none of them would match.
            raise Unreachable("a process that uses an accelerator cannot be seen from here")
        held = [int(process.usedGpuMemory or 0) for process in processes if process.pid in pids]
        if not held:
            return None
        busy = int(self._library.nvmlDeviceGetUtilizationRates(handle).gpu)
        return AcceleratorUse(uuid, self._library.nvmlDeviceGetName(handle), busy, sum(held))

    def _real(self) -> list[Accelerator]:
        if self._library is None:
            return []
        library = self._library
        try:
            driver = library.nvmlSystemGetDriverVersion()
            return [
                Accelerator(
                    uuid,
                    RESOURCE,
                    library.nvmlDeviceGetName(handle),
                    virtual=False,
                    memory_bytes=int(library.nvmlDeviceGetMemoryInfo(handle).total),
                    driver=driver,
                )
                for uuid, handle in self._handles()
            ]
        except library.NVMLError:
            return []

    def _handles(self) -> list[tuple[str, Any]]:
        if self._library is None:
            return []
        library = self._library
        handles = [library.nvmlDeviceGetHandleByIndex(n) for n in range(library.nvmlDeviceGetCount())]
        return [(library.nvmlDeviceGetUUID(handle), handle) for handle in handles]
