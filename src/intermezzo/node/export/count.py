"""How large an archive will be, before it is made: a look at sizes only, given up when it takes too long."""

import stat
import time

from intermezzo.node.export.sparse import BLOCK
from intermezzo.node.export.walk import walk

UNKNOWN = (0, 0)


def counted(root: int, within_s: float) -> tuple[int, int]:
    """How many files lie below an open folder, and the bytes of their archive before it is compressed; zeros if the
    time was too short."""
    deadline = time.monotonic() + within_s
    files = total = 0
    for entry in walk("", root):
        if time.monotonic() > deadline:
            return UNKNOWN
        if entry.status is None:
            continue
        total += BLOCK
        if stat.S_ISREG(entry.status.st_mode):
            files += 1
            total += -(-min(entry.status.st_size, entry.status.st_blocks * 512) // BLOCK) * BLOCK
    return files, total
