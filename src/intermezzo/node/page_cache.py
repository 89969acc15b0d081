"""Whether files lie in this machine's memory already, so that reading them through it is quicker than from the disk.

Looks without reading anything in: what is not there is left where it is.
"""

import os
from pathlib import Path

SAMPLES = 32


def holds(folder: Path) -> bool:
    """Whether the files directly in a folder are in the page cache, by samples over their length. Raises OSError."""
    return all(_held(path) for path in folder.iterdir() if path.is_file())


def _held(path: Path) -> bool:
    byte = [bytearray(1)]
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        places = [size * n // SAMPLES for n in range(SAMPLES)] if size else []
        try:
            return all(os.preadv(file.fileno(), byte, at, os.RWF_NOWAIT) == 1 for at in places)
        except OSError:  # not there, or a file system that cannot tell
            return False
