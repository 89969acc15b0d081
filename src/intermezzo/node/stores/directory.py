"""A store in a directory, such as another disk or a mounted share (`file:///…`), readable by its owner alone.

An object is written aside, flushed and renamed, so that it is whole or not there. The directory itself is never made:
where it is missing, its disk is not mounted, and the store counts as one that does not answer.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from intermezzo.node import files
from intermezzo.node.stores.store import Absent, Stored, StoreRefused, refused, silent


class DirectoryStore:
    """Objects as files below a folder. All methods raise StoreSilent while it is not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.url = folder.as_uri()

    def put(self, name: str, content: bytes) -> None:
        """Keep an object durably. Raises StoreRefused."""
        self._require_there()
        path = self._folder / name
        try:
            self._make_folder(path.parent)
            files.write(path, content)
        except OSError as error:
            raise self._refusal("to keep an object", error) from error

    def get(self, name: str) -> bytes:
        """Its content. Raises Absent or StoreRefused."""
        self._require_there()
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            raise Absent(f"{self.url} has no object {name}") from None
        except OSError as error:
            raise self._refusal("to read an object", error) from error

    def list(self, folder: str) -> list[Stored]:
        """All below a folder, what a crash left half-written included: it takes room too. Raises StoreRefused."""
        self._require_there()
        found: list[Stored] = []
        try:
            for above, _, names in os.walk(self._folder / folder, onerror=_raise):
                found += [self._stored(Path(above) / name) for name in names]
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            raise self._refusal("to list its objects", error) from error
        return found

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects, and the folders that are empty then. Raises StoreRefused."""
        self._require_there()
        try:
            for name in names:
                (self._folder / name).unlink(missing_ok=True)
            for folder in sorted({above for name in names for above in Path(name).parents}, key=_depth, reverse=True):
                self._remove_if_empty(self._folder / folder)
        except OSError as error:
            raise self._refusal("to delete objects", error) from error

    def _require_there(self) -> None:
        if not self._folder.is_dir():
            raise silent(self.url, "the directory is not there")

    def _stored(self, path: Path) -> Stored:
        return Stored(path.relative_to(self._folder).as_posix(), path.stat().st_size)

    def _make_folder(self, folder: Path) -> None:
        """Missing ones above too, each closed to others and with its name durable."""
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        files.sync(folder.parent)

    def _remove_if_empty(self, folder: Path) -> None:
        if folder != self._folder and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            files.sync(folder.parent)

    def _refusal(self, doing: str, error: OSError) -> StoreRefused:
        return refused(self.url, f"{doing}: {error.strerror or error}", str(error))


def _depth(path: Path) -> int:
    return len(path.parts)


def _raise(error: OSError) -> None:
    raise error
