"""Opens what lies in a home, one name at a time and relative to an open folder, so that no link is ever followed.

A path is never looked up twice: what was opened is what is read, whatever is renamed meanwhile.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
LONGEST_TEXT = 1 << 20


@contextmanager
def opened(name: str, flags: int, folder: int) -> Iterator[int]:
    """A descriptor of what has that name in an open folder. Raises OSError, for a link too."""
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def descended(folder: int, *names: str) -> Iterator[int]:
    """A descriptor of a folder some steps below an open one. Raises OSError if any step is no folder."""
    here = os.dup(folder)
    try:
        for name in names:
            below = os.open(name, FOLDER, dir_fd=here)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def text(name: str, folder: int) -> str:
    """A small text file, empty if there is none that can be read."""
    try:
        with opened(name, FILE, folder) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return ""
            return os.read(descriptor, LONGEST_TEXT).decode("utf-8", errors="replace")
    except OSError:
        return ""


def names(folder: int) -> list[str]:
    """What lies directly in an open folder, in order."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)
