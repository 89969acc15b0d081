"""An archive that comes over the network: it gets its name only once it is whole, and is read by its owner alone."""

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from intermezzo.domain.errors import AlreadyExists, Unreachable

PIECE = 1 << 20
GZIP = 31
END = 1024  # the bytes of zeros that a tar ends with


@dataclass(frozen=True, slots=True)
class Received:
    """A whole archive: where it is, its size there, and that of the tar in it, in bytes."""

    path: Path
    bytes: int
    unpacked_bytes: int


class ArchiveFile:
    """Written beside its final name. What is not kept is gone when it is left. Raises `AlreadyExists` or OSError."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._aside = target.with_name(f".{target.name}.part")
        self._decompressor = zlib.decompressobj(GZIP)
        self._last = b""
        self.unpacked = 0

    def __enter__(self) -> Self:
        if self._target.exists():
            raise AlreadyExists(f"{self._target} exists already", "Name another file with -o, or move that one away.")
        self._aside.unlink(missing_ok=True)
        self._file = os.fdopen(os.open(self._aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        return self

    def add(self, piece: bytes) -> None:
        """The next of it. Raises `Unreachable` for what is no such archive."""
        self._file.write(piece)
        try:
            while piece or not self._decompressor.eof:
                if self._decompressor.eof:
                    self._decompressor = zlib.decompressobj(GZIP)
                unpacked = self._decompressor.decompress(piece, PIECE)
                self.unpacked += len(unpacked)
                self._last = (self._last + unpacked)[-END:]
                piece = self._decompressor.unconsumed_tail or self._decompressor.unused_data
                if not piece and len(unpacked) < PIECE:
                    return
        except zlib.error as error:
            raise Unreachable(f"what came is no archive: {error}", "Export again.") from None

    def keep(self) -> Received:
        """All of it is there: give it its name. Raises `Unreachable` if it is not."""
        if not self._decompressor.eof or self._last != bytes(END):
            raise Unreachable("the archive broke off before its end", "Export again.")
        self._file.flush()
        os.fsync(self._file.fileno())
        size = self._file.tell()
        self._aside.rename(self._target)
        return Received(self._target, size, self.unpacked)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._aside.unlink(missing_ok=True)
