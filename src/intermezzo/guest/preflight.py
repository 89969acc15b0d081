"""What in this sandbox cannot be saved, and which files it holds open, found before anything is stopped. Reads `/proc`
and changes nothing.

The engine cannot save a file that is deleted but still open, or mapped, on a mounted directory: home or a data volume.
The others it opens again by their names after a restore.
"""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from intermezzo.guest import processes

DELETED = " (deleted)"
REASON = "the file is deleted but still open"
MOST = 200
# Databases and logs that Jupyter, IPython and VS Code keep for all sessions of a home: each session looks before it
# writes there. Told of, they would be in the way of every older snapshot, and nobody would look at the others any more.
SHARED = (
    ".ipython/profile_*/history.sqlite*",
    ".local/share/jupyter/*.db*",
    ".local/share/code-server/*.vscdb*",
    ".local/share/code-server/*logs/*",
)


def preflight(volumes: list[str]) -> dict[str, Any]:
    """`unsaveable` as below; `held`, the files on volumes that programs have open, and after these the ones that are
    only mapped, at most `MOST` in all; `held_left_out`, how many more there are."""
    names = held(volumes)
    return {"unsaveable": unsaveable(volumes), "held": names[:MOST], "held_left_out": max(0, len(names) - MOST)}


def held(volumes: list[str]) -> list[str]:
    """Every file on a volume (the first one is home) that a program has open or mapped, once, open ones first, without
    those that are shared. Directories are among them."""
    pids = processes.pids()
    opened = {path for pid in pids for path in _open_files(pid)}
    mapped = {path for pid in pids for path in _mapped_files(pid)} - opened
    found = [path for path in (*sorted(opened), *sorted(mapped)) if _inside(path, volumes)]
    return [path for path in found if not path.endswith(DELETED) and not shared(path, volumes[0])]


def shared(path: str, home: str) -> bool:
    """Whether it is one of those that whatever runs next in the same home writes to, and that are made for that."""
    return any(fnmatchcase(path, f"{home.rstrip('/')}/{pattern}") for pattern in SHARED)


def unsaveable(volumes: list[str]) -> list[dict[str, Any]]:
    """Each file in the way, once a process: `path`, `pid`, `process` and `reason`."""
    found = {(path, pid) for pid in processes.pids() for path in _deleted(pid) if _inside(path, volumes)}
    return [{"path": path, "pid": pid, "process": processes.name(pid), "reason": REASON} for path, pid in sorted(found)]


def _inside(path: str, volumes: list[str]) -> bool:
    return any(path.startswith(volume.rstrip("/") + "/") for volume in volumes)


def _deleted(pid: int) -> list[str]:
    return [text.removesuffix(DELETED) for text in _open_files(pid) + _mapped_files(pid) if text.endswith(DELETED)]


def _open_files(pid: int) -> list[str]:
    folder = Path(f"/proc/{pid}/fd")
    found = []
    try:
        for descriptor in folder.iterdir():
            try:
                found.append(str(descriptor.readlink()))
            except OSError:
                continue
    except OSError:
        return found
    return found


def _mapped_files(pid: int) -> list[str]:
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [fields[5] for line in lines if len(fields := line.split(maxsplit=5)) == 6]
