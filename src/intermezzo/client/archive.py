"""An archive that comes over the network: it gets its name only once it is whole, and is read by its owner alone."""

import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from intermezzo.domain.errors import AlreadyExists, Unreachable

PIECE = 1 << 20
GZIP = 31
LONGEST_MANIFEST = 4 << 20
MANIFEST_BEGINS = b'{\n "format": '  # in no text within it, for there a line break is written as an escape
END = 1024  # the bytes of zeros that a tar ends with


@dataclass(frozen=True, slots=True)
class Received:
    """A whole archive: where it is, its size there, and that of the tar in it, in bytes. By its manifest: how many
    files are in it, how many things were left out, and how many files are not as they were at one moment."""

    path: Path
    bytes: int
    unpacked_bytes: int
    files: int
    skipped: int
    uncertain: int


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
                self._last = (self._last + unpacked)[-LONGEST_MANIFEST:]
                piece = self._decompressor.unconsumed_tail or self._decompressor.unused_data
                if not piece and len(unpacked) < PIECE:
                    return
        except zlib.error as error:
            raise Unreachable(f"what came is no archive: {error}", "Export again.") from None

    def keep(self) -> Received:
        """All of it is there: give it its name. Raises `Unreachable` if it is not."""
        counted = self._manifest()
        if not self._decompressor.eof or not self._last.endswith(bytes(END)) or counted is None:
            raise Unreachable("the archive broke off before its end", "Export again.")
        self._file.flush()
        os.fsync(self._file.fileno())
        size = self._file.tell()
        self._aside.rename(self._target)
        counts = (int(counted.get(name, 0)) for name in ("files", "skipped", "uncertain"))
        return Received(self._target, size, self.unpacked, *counts)

    def _manifest(self) -> dict[str, Any] | None:
        """The text that stands last; None where the end is missing."""
        text = self._last.rstrip(b"\0")
        try:
            manifest: dict[str, Any] = json.loads(text[text.rindex(MANIFEST_BEGINS) :])
        except ValueError:
            return None
        return manifest

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._aside.unlink(missing_ok=True)
