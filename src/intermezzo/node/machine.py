"""What this machine is: its CPU features, kernel, memory and processors. Reads `/proc` and changes nothing."""

import os
from pathlib import Path

from intermezzo.domain.resources import Resources


def cpu_features() -> tuple[str, ...]:
    """The CPU's features (flags of /proc/cpuinfo), sorted; a snapshot can only be restored where all are present."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith(("flags", "Features")):
            return tuple(sorted(line.partition(":")[2].split()))
    return ()


def kernel() -> str:
    """The kernel's release."""
    return os.uname().release


def memory_bytes() -> int:
    """All memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def capacity(cpu_millis: int, memory: int, accelerators: dict[str, int]) -> Resources:
    """What the node offers; 0 stands for all that the machine has."""
    return Resources(cpu_millis or 1000 * (os.cpu_count() or 1), memory or memory_bytes(), accelerators)


def free_bytes(path: Path) -> int:
    """What an ordinary user could still write to the disk that holds `path`."""
    figures = os.statvfs(path)
    return figures.f_bavail * figures.f_frsize
