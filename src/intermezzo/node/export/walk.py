"""Everything below an open folder, met one entry at a time: no link is followed, no other disk entered.

However large a folder is, only one entry of each level is held, and one open descriptor or two.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from intermezzo.node.export.descriptors import FOLDER

DEEPEST = 300
TOO_DEEP = f"it is more than {DEEPEST} folders deep"
ELSEWHERE = "it is on another disk that is mounted here"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a home. `path` is from the top with the top's name, `folder` an open descriptor of what it lies in,
    good until the next entry is asked for. `status` is None where it is left out, and then `trouble` says why."""

    path: str
    name: str
    folder: int
    status: os.stat_result | None
    trouble: str = ""


class _Level:
    """An open folder and how far it was gone through."""

    def __init__(self, path: str, descriptor: int, stack: ExitStack) -> None:
        self.path = path
        self.descriptor = descriptor
        self.entries = stack.enter_context(os.scandir(descriptor))
        self.close = stack.close


def walk(top: str, root: int) -> Iterator[Entry]:
    """Every entry below an open folder called `top`, a folder before what is in it."""
    device = os.fstat(root).st_dev
    levels = [_level(top, os.dup(root))]
    try:
        while levels:
            level = levels[-1]
            entry = next(level.entries, None)
            if entry is None:
                levels.pop().close()
                continue
            found, below = _met(level, entry.name, device, len(levels))
            if below is not None:
                levels.append(below)
            yield found
    finally:
        for level in levels:
            level.close()


def _met(level: _Level, name: str, device: int, depth: int) -> tuple[Entry, _Level | None]:
    path = f"{level.path}/{name}"

    def left_out(why: str) -> tuple[Entry, None]:
        return Entry(path, name, level.descriptor, None, why), None

    try:
        status = os.stat(name, dir_fd=level.descriptor, follow_symlinks=False)
        if status.st_dev != device:
            return left_out(ELSEWHERE)
        if not stat.S_ISDIR(status.st_mode):
            return Entry(path, name, level.descriptor, status), None
        if depth >= DEEPEST:
            return left_out(TOO_DEEP)
        below = _level(path, os.open(name, FOLDER, dir_fd=level.descriptor))
    except OSError as error:
        return left_out(error.strerror or str(error))
    opened = os.fstat(below.descriptor)
    if opened.st_dev != device:
        below.close()
        return left_out(ELSEWHERE)
    return Entry(path, name, level.descriptor, opened), below


def _level(path: str, descriptor: int) -> _Level:
    with ExitStack() as stack:
        stack.callback(os.close, descriptor)
        level = _Level(path, descriptor, stack)
        level.close = stack.pop_all().close
        return level
