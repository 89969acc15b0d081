"""Where a file has data and where it has holes, and how a tar archive says so (GNU's sparse format 1.0).

Neither the holes of a huge file are read, nor do they take room in the archive.
"""

import errno
import os
import tarfile
from dataclasses import dataclass

BLOCK = tarfile.BLOCKSIZE
MOST_PIECES = 10_000


@dataclass(frozen=True, slots=True)
class Piece:
    """Data at an offset, both in bytes."""

    offset: int
    size: int


def pieces(descriptor: int, size: int) -> list[Piece] | None:
    """Where the data lies; None for a file without holes, and for one so torn that its map would be unwieldy."""
    if os.fstat(descriptor).st_blocks * 512 >= size:
        return None
    found: list[Piece] = []
    at = 0
    while at < size and len(found) <= MOST_PIECES:
        try:
            start = os.lseek(descriptor, at, os.SEEK_DATA)
            at = min(os.lseek(descriptor, start, os.SEEK_HOLE), size)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole from here on
                break
            return None
        if start < size:
            found.append(Piece(start, at - start))
    os.lseek(descriptor, 0, os.SEEK_SET)
    if found == [Piece(0, size)] or len(found) > MOST_PIECES or not all(_aligned(piece, size) for piece in found):
        return None
    # GNU tar makes a file as long as its last piece reaches, so that an empty one stands at the end.
    return found if found and found[-1].offset + found[-1].size == size else [*found, Piece(size, 0)]


def _aligned(piece: Piece, size: int) -> bool:
    """Whether readers agree on where it begins: some put every piece at a whole block, and others do not."""
    return piece.offset % BLOCK == 0 and (piece.size % BLOCK == 0 or piece.offset + piece.size == size)


def table(found: list[Piece]) -> bytes:
    """The map that stands before the data: how many pieces, then offset and size of each; filled to whole blocks."""
    lines = [len(found), *(number for piece in found for number in (piece.offset, piece.size))]
    content = "".join(f"{number}\n" for number in lines).encode()
    return content + b"\0" * (-len(content) % BLOCK)


def headers(name: str, size: int) -> dict[str, str]:
    """What tells a reader that such a map follows, and the file's real name and size."""
    return {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": name,
        "GNU.sparse.realsize": str(size),
    }
