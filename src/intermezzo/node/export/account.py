"""What is to be told of an export: what is in it, what was left out and why, and every file's checksum.

However many files there are, it keeps counts and a few examples; the checksums go to a file as they come.
"""

import hashlib
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import BinaryIO

from intermezzo.archives import inventory
from intermezzo.domain.export import sums_line

MOST_TOLD = 1000
PIECE = 1 << 20
NOTEBOOK = ".ipynb"
COPIES = ".ipynb_checkpoints/"


@dataclass(slots=True)
class Told:
    """Paths of one sort with what is said of each: all are counted, the first are named."""

    count: int = 0
    first: list[dict[str, str]] = field(default_factory=list)

    def add(self, path: str, what: str = "") -> None:
        """One more."""
        self.count += 1
        if len(self.first) < MOST_TOLD:
            self.first.append({"path": path, "why": what} if what else {"path": path})


class Account:
    """Filled while the archive is written. `sums` is an empty file that nobody else has."""

    def __init__(self, sums: BinaryIO) -> None:
        self._sums = sums
        self._counts: Counter[str] = Counter()
        self._skipped, self._uncertain, self._notebooks = Told(), Told(), Told()

    def member(self, sort: str, size: int = 0) -> None:
        """A member of that sort is in the archive."""
        self._counts[sort] += 1
        self._counts["bytes"] += size

    def file(self, path: str, name: bytes, digest: str) -> None:
        """A file is in it; `name` is where it lies in the archive's folder, `digest` empty where none was reckoned."""
        if path.endswith(NOTEBOOK) and COPIES not in path:
            self._notebooks.add(path)
        if digest:
            self.sum(name, digest)
        else:
            self._counts["without_checksum"] += 1

    def sum(self, name: bytes, digest: str) -> None:
        """The checksum of what lies there in the archive's folder."""
        self._sums.write(sums_line(digest, name))

    def skipped(self, path: str, why: str) -> None:
        """Something is not in it."""
        self._skipped.add(path, why)

    def uncertain(self, path: str, why: str) -> None:
        """A file is in it, but not as it was at one moment."""
        self._uncertain.add(path, why)

    def sums(self) -> tuple[BinaryIO, int]:
        """All checksums, to be read from the start, and their length in bytes."""
        size = self._sums.seek(0, os.SEEK_END)
        self._sums.seek(0)
        return self._sums, size

    def text(self, folder: str) -> str:
        """The manifest."""
        counted = {
            **{sort: self._counts[sort] for sort in ("files", "folders", "links", "hard_links", "sparse", "bytes")},
            "without_checksum": self._counts["without_checksum"],
            "notebooks": self._notebooks.count,
            "skipped": self._skipped.count,
            "uncertain": self._uncertain.count,
        }
        named = {
            "notebook_paths": [each["path"] for each in self._notebooks.first],
            "skipped_paths": self._skipped.first,
            "uncertain_paths": self._uncertain.first,
        }
        return inventory(folder, counted, named, self._digest())

    def _digest(self) -> str:
        digest = hashlib.sha256()
        source, _ = self.sums()
        while content := source.read(PIECE):
            digest.update(content)
        return digest.hexdigest()
