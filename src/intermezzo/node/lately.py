"""Which snapshots were found whole a short while ago, so that nobody waits while the same bytes are read again.

That holds only for as long as the file system says that no file was written to since: it keeps a time of change that
no program can set. It is a memory of this process alone; a new agent knows nothing and reads.
"""

import time
from pathlib import Path

from intermezzo.domain.snapshot import Manifest

LASTS_S = 600.0

Look = tuple[tuple[str, int, int, int, int], ...]
"""Of each file its name, inode, size, and times of its last change of content and of anything, in nanoseconds."""


def look(folder: Path, manifest: Manifest) -> Look:
    """How the files look to the file system now. Raises OSError."""
    found = []
    for name in manifest.files:
        status = (folder / name).stat()
        found.append((name, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return tuple(found)


class Lately:
    """Remembers for `LASTS_S` seconds what was found whole, by the folder it is in and the checksums it was held to."""

    def __init__(self) -> None:
        self._found: dict[tuple[Path, str], tuple[float, Look]] = {}

    def note(self, folder: Path, manifest: Manifest, before: Look) -> None:
        """It was found whole; `before` is how it looked when the reading began. Raises OSError."""
        now = time.monotonic()
        self._found = {key: known for key, known in self._found.items() if now - known[0] < LASTS_S}
        if look(folder, manifest) == before:
            self._found[_key(folder, manifest)] = now, before

    def holds(self, folder: Path, manifest: Manifest) -> bool:
        """Whether it was found whole lately and looks the same. Raises OSError."""
        known = self._found.get(_key(folder, manifest))
        return known is not None and time.monotonic() - known[0] < LASTS_S and look(folder, manifest) == known[1]


def _key(folder: Path, manifest: Manifest) -> tuple[Path, str]:
    return folder, repr(sorted(manifest.checksums.items()))
