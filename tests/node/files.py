"""What lies below a folder, also while another removes it: `Path.rglob` fails when a folder goes meanwhile."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def files_below(folder: Path) -> Iterator[Path]:
    """Whatever is not a folder; what goes during the look may be among it or not."""
    for parent, _, names in os.walk(folder):
        yield from (Path(parent) / name for name in names)


def bytes_below(folder: Path, *, aside: str = "") -> int:
    """Of all files but those of the name `aside`."""
    total = 0
    for path in files_below(folder):
        with suppress(FileNotFoundError):
            total += path.stat().st_size if path.name != aside else 0
    return total
