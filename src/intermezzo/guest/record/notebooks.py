"""The notebooks in a home, found by a walk that is bounded in time, depth and number. No notebook is opened."""

import os
from pathlib import Path
from typing import Any

from intermezzo.guest.record.deadline import Deadline

DEEPEST = 8
MOST_ENTRIES = 20_000
MOST_NOTEBOOKS = 500
# Never anybody's own work, and often very many files.
SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "lost+found"})


def notebooks(home: Path, deadline: Deadline) -> tuple[list[dict[str, Any]], bool]:
    """Each notebook by its path below home: `path`, `bytes`, `modified_at` in epoch milliseconds; and whether these
    are all. Hidden folders are not looked into and links not followed."""
    found: list[dict[str, Any]] = []
    folders, entries = [(home, 0)], 0
    while folders:
        folder, depth = folders.pop()
        for entry in _entries(folder):
            entries += 1
            if entries > MOST_ENTRIES or len(found) >= MOST_NOTEBOOKS or deadline.passed:
                return _sorted(found), False
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST and entry.name not in SKIPPED and not entry.name.startswith("."):
                    folders.append((folder / entry.name, depth + 1))
            elif entry.name.endswith(".ipynb") and entry.is_file(follow_symlinks=False):
                found += _described(entry, home)
    return _sorted(found), True


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _described(entry: "os.DirEntry[str]", home: Path) -> list[dict[str, Any]]:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return []
    path = os.path.relpath(entry.path, home)
    return [{"path": path, "bytes": status.st_size, "modified_at": status.st_mtime_ns // 1_000_000}]


def _sorted(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda notebook: notebook["path"])
