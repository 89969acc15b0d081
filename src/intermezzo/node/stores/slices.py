"""The parts that the files of a snapshot are cut into, read and written in place. Knows no store."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from intermezzo.node.stores.deposit import PART_BYTES


@dataclass(frozen=True, slots=True)
class Slice:
    """The `number`th part of a file in a snapshot's folder."""

    file: str
    number: int
    offset: int
    bytes: int


def cut(files: Mapping[str, int], part_bytes: int = PART_BYTES) -> list[Slice]:
    """Every part of files of these sizes; an empty file has none."""
    return [each for name in sorted(files) for each in _cut(name, files[name], part_bytes)]


def _cut(name: str, size: int, part_bytes: int) -> Iterator[Slice]:
    for number, offset in enumerate(range(0, size, part_bytes)):
        yield Slice(name, number, offset, min(part_bytes, size - offset))


def read(folder: Path, part: Slice) -> bytes:
    """Its bytes, fewer where the file is shorter. Raises OSError."""
    with (folder / part.file).open("rb", buffering=0) as file:
        content = _all(file.fileno(), part)
        # What is read here will not be needed soon: leave the page cache to the sandboxes.
        os.posix_fadvise(file.fileno(), part.offset, part.bytes, os.POSIX_FADV_DONTNEED)
    return content


def write(folder: Path, part: Slice, content: bytes) -> None:
    """Put its bytes in place in a file that is there. Raises OSError."""
    with (folder / part.file).open("r+b", buffering=0) as file:
        written = 0
        while written < len(content):
            written += os.pwrite(file.fileno(), content[written:], part.offset + written)


def _all(descriptor: int, part: Slice) -> bytes:
    pieces, done = [], 0
    while done < part.bytes and (piece := os.pread(descriptor, part.bytes - done, part.offset + done)):
        pieces.append(piece)
        done += len(piece)
    return b"".join(pieces)
