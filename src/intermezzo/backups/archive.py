"""A backup as a file: a ZIP archive with a manifest that is written last, so that half a backup is never taken for one.

Every table is a text file with one JSON object a line, readable by anything. A backup holds secrets: the file is for
its owner alone. This module knows no database.
"""

import hashlib
import json
import os
import zipfile
from collections.abc import AsyncIterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from intermezzo.domain.errors import Conflict, IntermezzoError, InvalidInput, NotFound

FORMAT = "intermezzo-backup/1"
MANIFEST = "manifest.json"
TABLES = "tables/"
FILES = "control/"
CHUNK = 2**20
FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # when it was made stands in the manifest, in UTC


@dataclass(frozen=True, slots=True)
class Contents:
    """What a backup says about itself. `made_at`: epoch milliseconds; `rows` by table, in the order in which they are
    put back; `sha256` of each file in it by its name."""

    version: str
    revision: str
    made_at: int
    rows: dict[str, int] = field(default_factory=dict)
    sha256: dict[str, str] = field(default_factory=dict)
    format: str = FORMAT


class Writer:
    """A backup that is being written."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._rows: dict[str, int] = {}
        self._sha256: dict[str, str] = {}

    async def table(self, name: str, rows: AsyncIterable[Mapping[str, Any]]) -> None:
        """All rows of a table."""
        digest, count = hashlib.sha256(), 0
        with _writable():
            file = self._archive.open(_entry(TABLES + name), "w", force_zip64=True)
        try:
            async for row in rows:
                line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                with _writable():
                    file.write(line)
                digest.update(line)
                count += 1
        finally:
            with _writable():
                file.close()
        self._rows[name], self._sha256[TABLES + name] = count, digest.hexdigest()

    def file(self, name: str, content: bytes) -> None:
        """A file of the control plane's own."""
        with _writable():
            self._archive.writestr(_entry(FILES + name), content)
        self._sha256[FILES + name] = hashlib.sha256(content).hexdigest()

    def end(self, version: str, revision: str, made_at: int) -> Contents:
        """Say what is in it; nothing may follow."""
        contents = Contents(version, revision, made_at, self._rows, self._sha256)
        self._archive.writestr(_entry(MANIFEST), json.dumps(asdict(contents), indent=2))
        return contents


class Reader:
    """A whole backup, every byte of which was compared with its manifest."""

    def __init__(self, archive: zipfile.ZipFile, contents: Contents) -> None:
        self._archive = archive
        self.contents = contents

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """The rows of a table, one after the other."""
        with self._archive.open(TABLES + table) as file:
            for line in file:
                yield json.loads(line)

    def files(self) -> dict[str, bytes]:
        """The control plane's own files, by name."""
        names = [name.removeprefix(FILES) for name in self.contents.sha256 if name.startswith(FILES)]
        return {name: self._archive.read(FILES + name) for name in names}


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """Write a backup beside its name; it has its name once it is whole and on the disk. Raises `Conflict` for a file
    that is there already, and `IntermezzoError` where it cannot be written; then there is none."""
    if path.exists():
        raise Conflict(f"{path} is there already", "Name another file; a backup is never overwritten.")
    aside = path.with_name(f".{path.name}.partial")
    try:
        aside.unlink(missing_ok=True)
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
                yield Writer(archive)
            raw.flush()
            os.fsync(raw.fileno())
        os.link(aside, path)  # unlike a rename, never over a file that came in between
        _sync(path.parent)
    except FileExistsError:
        raise Conflict(f"{path} is there already", "Name another file; a backup is never overwritten.") from None
    except OSError as error:
        raise _unwritable(error) from None
    finally:
        with suppress(FileNotFoundError):
            aside.unlink()


@contextmanager
def reading(path: Path) -> Iterator[Reader]:
    """Open a backup. Raises `NotFound`, or `InvalidInput` for what is no backup, not whole, or was changed."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield Reader(archive, _checked(archive, path))
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, IsADirectoryError, EOFError) as error:
        raise InvalidInput(f"{path} is no backup, or not a whole one: {error}", "Take another backup.") from None
    except PermissionError:
        raise InvalidInput(f"{path} cannot be read", "A backup belongs to the account that made it.") from None


def _checked(archive: zipfile.ZipFile, path: Path) -> Contents:
    try:
        contents = Contents(**json.loads(archive.read(MANIFEST)))
    except (KeyError, ValueError, TypeError):
        raise InvalidInput(f"{path} is no backup of Intermezzo: it does not say what is in it") from None
    if contents.format != FORMAT:
        raise InvalidInput(f"{path} is a backup of another form: {contents.format}", "Use the version that made it.")
    there = {info.filename for info in archive.infolist()} - {MANIFEST}
    if there != set(contents.sha256):
        raise InvalidInput(f"{path} does not hold what it says that it holds", "Take another backup.")
    for name, expected in contents.sha256.items():
        if _sha256(archive, name) != expected:
            raise InvalidInput(f"{path} was changed or damaged: {name} is not what was saved", "Take another backup.")
    return contents


def _sha256(archive: zipfile.ZipFile, name: str) -> str:
    digest = hashlib.sha256()
    with archive.open(name) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _writable() -> Iterator[None]:
    """Tells a disk that refuses from a database that is silent: both complain with OSError."""
    try:
        yield
    except OSError as error:
        raise _unwritable(error) from None


def _unwritable(error: OSError) -> IntermezzoError:
    reason = error.strerror or str(error)
    return IntermezzoError(f"the backup cannot be written: {reason}", "Nothing was left behind; name another place.")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, FIXED_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
