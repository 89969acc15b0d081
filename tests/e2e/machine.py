"""What the machine itself shows of an installation: read from the kernel, never from the product's own records."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from intermezzo.node.config import NodeConfig
from node.world import control_groups

PROC = Path("/proc")


class Footprint:
    """Everything that exists on this machine because of the installation in `folder` (its data elsewhere: `data`)."""

    def __init__(self, folder: Path, data: Path | None = None) -> None:
        self._folder = folder
        self._data = data or folder / ".intermezzo"
        self._mark = NodeConfig(data_dir=self._data).instance

    def all(self) -> list[str]:
        """Each interface, namespace, control group, mount, packet rule table and process; empty if nothing is left."""
        mark, folder = self._mark, str(self._folder)
        tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True).stdout
        return [
            *(f"interface {p.name}" for p in Path("/sys/class/net").iterdir() if mark in p.name),
            *(f"namespace {p}" for p in Path("/run/netns").glob(f"*{mark}*")),
            *(f"group {p}" for p in control_groups(mark)),
            *(f"mount {line}" for line in _mounts() if f"{folder}/" in line or mark in line),
            *(f"table {line}" for line in tables.splitlines() if mark in line),
            *(f"process {pid} {' '.join(arguments)}" for pid, arguments in self._processes()),
        ]

    def of(self, uid: str) -> list[str]:
        """The part of it that names one workspace."""
        return [trace for trace in self.all() if uid in trace]

    def sandboxes(self) -> dict[str, int]:
        """How many sandboxes run for each workspace, by uid: by their processes, and only those not being started."""
        found: dict[str, int] = {}
        for pid, root, arguments in self._engines():
            if "boot" in arguments and not _is_copy(pid, root):
                uid = root.rpartition("/")[2]
                found[uid] = found.get(uid, 0) + 1
        return found

    def engines(self) -> list[int]:
        """The process ids of everything that the engine runs."""
        return [pid for pid, _, _ in self._engines()]

    def _engines(self) -> Iterator[tuple[int, str, list[str]]]:
        """Process id, the flag that names the workspace, and all arguments."""
        parent = f"--root={self._data}/node/engine/"
        for pid, arguments in self._processes():
            for root in [word for word in arguments if word.startswith(parent)]:
                yield pid, root, arguments

    def _processes(self) -> Iterator[tuple[int, list[str]]]:
        for entry in PROC.iterdir():
            if not entry.name.isdigit():
                continue
            arguments = _arguments(int(entry.name))
            if any(str(self._folder) in word for word in arguments):
                yield int(entry.name), arguments


def children(pid: int) -> dict[int, list[str]]:
    """The direct children of a process with their arguments."""
    listed = (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()
    return {int(child): _arguments(int(child)) for child in listed}


def _arguments(pid: int) -> list[str]:
    """The arguments of a process that runs; empty for one that is gone or only waits to be reaped."""
    try:
        if (PROC / str(pid) / "stat").read_bytes().rpartition(b") ")[2][:1] == b"Z":
            return []
        return (PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def _is_copy(pid: int, root: str) -> bool:
    """The engine's helper processes are copies of a sandbox's first process, with the same arguments."""
    try:
        parent = int((PROC / str(pid) / "stat").read_bytes().rpartition(b") ")[2].split()[1])
    except OSError:
        return True
    arguments = _arguments(parent)
    return root in arguments and "boot" in arguments


def _mounts() -> list[str]:
    return (PROC / "mounts").read_text().splitlines()
