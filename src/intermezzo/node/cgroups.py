"""Control groups: the CPU and memory that a sandbox may use, and what it uses now. Both versions are known.

Groups carry the installation's mark in their name, so that a leftover can be found. Where the machine offers
no groups that may be written, sandboxes run without limits, and the node says so.
"""

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from intermezzo.domain.resources import Resources
from intermezzo.node.processes import identify

PERIOD_US = 100_000
# The engine's own memory counts too; without room for it a full notebook would take the whole session down.
ENGINE_MEMORY = 256 << 20


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where the groups live: one root for version 2, one for each controller for version 1, which counts CPU
    time in `accounting`; None where it does not."""

    cpu: Path
    memory: Path
    version: int
    accounting: Path | None = None

    @property
    def roots(self) -> tuple[Path, ...]:
        """Each distinct root."""
        found = (self.cpu, *([self.accounting] if self.accounting else []), self.memory)
        return tuple(dict.fromkeys(path.resolve() for path in found))


def find_hierarchy(root: Path = Path("/sys/fs/cgroup")) -> Hierarchy | None:
    """What this machine offers; None where no group could be made."""
    if os.geteuid() != 0:
        return None
    cpu, memory = root / "cpu", root / "memory"
    if (cpu / "cpu.cfs_quota_us").exists() or (memory / "memory.usage_in_bytes").exists():
        if not (os.access(cpu, os.W_OK) and os.access(memory, os.W_OK)):
            return None
        counts = (root / "cpuacct" / "cpuacct.usage").exists() and os.access(root / "cpuacct", os.W_OK)
        return Hierarchy(cpu, memory, 1, root / "cpuacct" if counts else None)
    if (root / "cgroup.controllers").exists() and os.access(root, os.W_OK):
        return Hierarchy(root, root, 2)
    return None


class ControlGroups:
    """The groups of one installation."""

    def __init__(self, hierarchy: Hierarchy, instance: str) -> None:
        self._hierarchy = hierarchy
        self._parent = f"intermezzo-{instance}"

    def create(self, uid: str, limits: Resources) -> tuple[Path, ...]:
        """Make the group of a workspace with its memory limit; returns the files a process joins by. Raises OSError."""
        groups = self._paths(uid)
        for group in groups:
            group.mkdir(parents=True, exist_ok=True)
        if self._hierarchy.version == 2:
            self._delegate()
        name = "memory.max" if self._hierarchy.version == 2 else "memory.limit_in_bytes"
        (groups[-1] / name).write_text(str(limits.memory_bytes + ENGINE_MEMORY), encoding="ascii")
        return tuple(group / "cgroup.procs" for group in groups)

    def limit_cpu(self, uid: str, limits: Resources) -> None:
        """Hold the user's programs to their share. Raises OSError."""
        self._set_cpu(uid, str(limits.cpu_millis * PERIOD_US // 1000))

    def lift_cpu_limit(self, uid: str) -> None:
        """While the programs are frozen only the engine works: a small share would only lengthen a pause or resume."""
        self._set_cpu(uid, "max" if self._hierarchy.version == 2 else "-1")

    def memory_bytes(self, uid: str) -> int:
        """Memory of the processes themselves and what they share (not the file cache); 0 without a group."""
        figures = self._memory(uid)
        return figures.get("anon", figures.get("total_rss", 0)) + self._shared(figures)

    def shared_bytes(self, uid: str) -> int:
        """The part of it that holds the memory of the sandbox's programs, which is what a snapshot saves."""
        return self._shared(self._memory(uid))

    def processor_us(self, uid: str) -> int | None:
        """CPU time used in the group since it was made, in microseconds; None where nothing counts it."""
        own = Path(self._parent) / uid
        try:
            if self._hierarchy.version == 2:
                lines = (self._hierarchy.cpu / own / "cpu.stat").read_text(encoding="ascii").splitlines()
                return int(dict(line.split() for line in lines)["usage_usec"])
            if self._hierarchy.accounting is None:
                return None
            return int((self._hierarchy.accounting / own / "cpuacct.usage").read_text(encoding="ascii")) // 1000
        except OSError:
            return None

    def _memory(self, uid: str) -> dict[str, int]:
        path = self._hierarchy.memory / self._parent / uid / "memory.stat"
        try:
            lines = path.read_text(encoding="ascii").splitlines()
        except OSError:
            return {}
        return {name: int(value) for name, value in (line.split() for line in lines)}

    @staticmethod
    def _shared(figures: dict[str, int]) -> int:
        return figures.get("total_shmem", figures.get("shmem", 0))

    async def remove(self, uid: str) -> list[str]:
        """End what still runs in a workspace's group and delete it; returns what could not be removed."""
        for _ in range(100):
            for group in self._paths(uid):
                self._end(group)
                with contextlib.suppress(OSError):
                    group.rmdir()
            if not self.remains(uid):
                return []
            await asyncio.sleep(0.01)
        return self.remains(uid)

    def remains(self, uid: str = "") -> list[str]:
        """Groups of a workspace, or of the whole installation, that exist now."""
        if uid:
            return [str(group) for group in self._paths(uid) if group.is_dir()]
        parents = [root / self._parent for root in self._hierarchy.roots]
        return [str(path) for parent in parents if parent.is_dir() for path in (parent, *_folders(parent))]

    def tidy(self) -> None:
        """Delete the parent groups if nothing is in them."""
        for root in self._hierarchy.roots:
            with contextlib.suppress(OSError):
                (root / self._parent).rmdir()

    def _paths(self, uid: str) -> tuple[Path, ...]:
        return tuple(root / self._parent / uid for root in self._hierarchy.roots)

    def _delegate(self) -> None:
        """Version 2 gives a group's children only the controllers that it was told to."""
        root = self._hierarchy.cpu
        for group in (root, root / self._parent):
            (group / "cgroup.subtree_control").write_text("+cpu +memory", encoding="ascii")

    def _set_cpu(self, uid: str, quota: str) -> None:
        group = self._hierarchy.cpu / self._parent / uid
        if self._hierarchy.version == 2:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}", encoding="ascii")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="ascii")
            (group / "cpu.cfs_quota_us").write_text(quota, encoding="ascii")

    @staticmethod
    def _end(group: Path) -> None:
        with contextlib.suppress(OSError):
            for line in (group / "cgroup.procs").read_text(encoding="ascii").split():
                if identity := identify(int(line)):
                    identity.send(signal.SIGKILL)


def _folders(parent: Path) -> list[Path]:
    return [entry for entry in parent.iterdir() if entry.is_dir()]
