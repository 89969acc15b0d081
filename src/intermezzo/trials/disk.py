"""What really lies on the disk of a trial's own installation: looked at file by file, never asked of anybody."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

DESCRIPTION = "manifest.json"
"""What a snapshot says about itself; its size counts as nobody's."""


def snapshots(folder: Path) -> Mapping[str, int]:
    """Bytes by the name of each folder in it, half-written and half-deleted ones included; empty if it is not there."""
    if not folder.is_dir():
        return {}
    return {each.name: sum(_sizes(each)) for each in sorted(folder.iterdir())}


def files(folder: Path) -> tuple[str, ...]:
    """Every file below it, by its path from there."""
    found = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
    return tuple(sorted(str(file.relative_to(folder)) for file in found))


def _sizes(folder: Path) -> Iterator[int]:
    for parent, _, names in os.walk(folder):
        for name in names:
            if name != DESCRIPTION:
                yield Path(parent, name).lstat().st_size
