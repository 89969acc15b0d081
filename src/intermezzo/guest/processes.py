"""What `/proc` says about the processes of this sandbox. Reads only; a process that ends meanwhile is skipped."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
CONNECTION_FILE = re.compile(rb"kernel-([0-9A-Za-z-]{8,64})\.json")


@dataclass(frozen=True)
class Process:
    """A process as proc(5) tells it; `started` is in clock ticks since boot."""

    pid: int
    name: str
    state: str
    parent: int
    group: int
    session: int
    started: int


def family(ancestor: int) -> list[Process]:
    """The process and all that come from it, lowest pid first. Where there is no sandbox, others run beside them."""
    known = {process.pid: process for pid in pids() if (process := _process(pid))}
    found: set[int] = set()
    level = {ancestor}
    while level:
        found |= level
        level = {process.pid for process in known.values() if process.parent in level} - found
    return [process for pid, process in known.items() if pid in found]


def pids() -> list[int]:
    """Every process, lowest pid first."""
    return sorted(int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())


def started(pid: int) -> int:
    """When the process started, in clock ticks since boot (proc(5), field 22); 0 if it is gone."""
    try:
        stat = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return 0
    return int(stat[stat.rindex(b")") + 2 :].split()[19])


def name(pid: int) -> str:
    """The command's name, or an empty text if it is gone."""
    try:
        return (PROC / str(pid) / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def kernels() -> Iterator[tuple[str, int]]:
    """Pairs of kernel id and pid, told by the connection file in the arguments. The first of a family counts."""
    seen = set()
    for pid in pids():
        found = CONNECTION_FILE.search(_command_line(pid))
        if found and found[1] not in seen:
            seen.add(found[1])
            yield found[1].decode(), pid


def arguments(pid: int) -> list[str]:
    """The command and its arguments; empty if it is gone."""
    return _command_line(pid).decode(errors="replace").removesuffix("\0").split("\0")


def _process(pid: int) -> Process | None:
    try:
        text = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    name = text[text.index(b"(") + 1 : text.rindex(b")")].decode(errors="replace")
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(pid, name, fields[0].decode(), *(int(fields[n]) for n in (1, 2, 3, 19)))


def _command_line(pid: int) -> bytes:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""
