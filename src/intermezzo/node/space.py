"""Room on a disk, promised before it is taken: two who ask at once never count on the same free bytes.

A promise lasts as long as the work it was made for, and shrinks by what that work has written already. It is a memory
of this process: work that was under way when an agent died is begun again, and asks again.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from intermezzo.domain.errors import NotEnoughSpace
from intermezzo.node.machine import free_bytes

MARGIN_BYTES = 32 << 20
BLOCK_BYTES = 512
HINT = "Free some space, or delete older snapshots, then pause again."


class Space:
    """The room on the disk that holds `disk`. `free` tells how many bytes of it are free now."""

    def __init__(self, disk: Callable[[], Path], free: Callable[[Path], int] = free_bytes) -> None:
        self._disk = disk
        self._free = free
        self._promised: dict[object, tuple[int, Path]] = {}
        self._promising = threading.Lock()

    @contextmanager
    def promised(self, what: str, needed: int, folder: Path, hint: str = HINT) -> Iterator[None]:
        """Room for `needed` bytes in a folder that is being filled, for `what` (as in `the snapshot needs …`).

        Raises NotEnoughSpace if they and a margin do not fit beside what was promised to others.
        """
        token = object()
        with self._promising:
            self._require(what, needed - taken(folder), hint)
            self._promised[token] = needed, folder
        try:
            yield
        finally:
            with self._promising:
                del self._promised[token]

    def _require(self, what: str, needed: int, hint: str) -> None:
        promised = sum(max(0, needed - taken(folder)) for needed, folder in self._promised.values())
        free = self._free(self._disk())
        if needed + MARGIN_BYTES + promised <= free:
            return
        needed, left = needed + MARGIN_BYTES, max(0, free - promised)
        message = f"{what} needs about {needed} bytes, but the disk has {left} bytes free"
        if promised:
            message = (
                f"{what} needs about {needed} bytes, but the disk has {left} bytes free"
                " beside what is promised to others"
            )
        raise NotEnoughSpace(message, hint, needed_bytes=needed, free_bytes=left)


def taken(folder: Path) -> int:
    """Bytes of the disk that the files below a folder take; holes take none. They may vanish meanwhile."""
    total = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += (Path(above) / name).lstat().st_blocks * BLOCK_BYTES
    return total
