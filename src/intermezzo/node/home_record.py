"""Reads what a home tells of its checkpoints and of its environment: a few small files, however large the home is.

The files belong to a user, who may put anything in their place. So each is opened one name at a time from an open
folder, no link is followed, nothing that is no plain file is read, and no more than a little of it. Checkpoints are
looked at, not read: that the sizes are right is what is claimed.
"""

import hashlib
import json
import os
import stat
from pathlib import Path, PurePosixPath
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, ValidationError

from intermezzo.domain.home_record import EnvironmentRecord, HomeRecord, SavedCheckpoint, newest_first
from intermezzo.node.export.descriptors import FILE, FOLDER, descended, names, opened

OWN = ".intermezzo"
MOST_SERIES = 64
LONGEST = 4 << 20
MOST_FILES = 2000
Milliseconds = Annotated[int, Field(ge=0, le=2**53)]
Text = Annotated[str, Field(max_length=400)]


class _Entry(BaseModel):
    path: Text
    label: Text = ""
    step: Annotated[int, Field(ge=-(2**53), le=2**53)] | None = None
    saved_at: Milliseconds
    bytes: Annotated[int, Field(ge=0)]
    manifest_sha256: Text


class _Index(BaseModel):
    version: int
    series: Text
    checkpoints: Annotated[list[_Entry], Field(max_length=32)]


class _Listed(BaseModel):
    files: dict[str, tuple[int, str]]


class _Manifest(BaseModel):
    checkpoint: _Listed


class _Packages(BaseModel):
    packages: list[object]


class _Record(BaseModel):
    made_at: Milliseconds
    complete: bool
    python: Text
    environments: Annotated[list[_Packages], Field(min_length=1)]
    notebooks: list[object]


Model = TypeVar("Model", bound=BaseModel)


def read(home: Path) -> HomeRecord:
    """What there is, newest first; what cannot be understood is not there. Raises OSError only where home is none."""
    folder = os.open(home, FOLDER)
    try:
        return HomeRecord(newest_first(_checkpoints(folder)), _environment(folder))
    finally:
        os.close(folder)


def _checkpoints(home: int) -> list[SavedCheckpoint]:
    try:
        with descended(home, OWN, "checkpoints") as folder:
            files = [name for name in names(folder) if name.endswith(".json")][:MOST_SERIES]
            found = [_parsed(_Index, _content(name, folder)) for name in files]
    except OSError:
        return []
    return [newest for index in found if index is not None and (newest := _newest(index, home)) is not None]


def _newest(index: _Index, home: int) -> SavedCheckpoint | None:
    """The first of a series that is there as the index says."""
    for place, entry in enumerate(index.checkpoints):
        if _is_there(entry, home):
            older = len(index.checkpoints) - place - 1
            return SavedCheckpoint(
                index.series, entry.path, entry.saved_at, entry.bytes, entry.label, entry.step, older
            )
    return None


def _is_there(entry: _Entry, home: int) -> bool:
    try:
        with descended(home, *_steps(entry.path)) as folder:
            content = _content("manifest.json", folder)
            if content is None or hashlib.sha256(content).hexdigest() != entry.manifest_sha256:
                return False
            manifest = _parsed(_Manifest, content)
            files = manifest.checkpoint.files if manifest else {}
            return 0 < len(files) <= MOST_FILES and all(_has(folder, name, size) for name, (size, _) in files.items())
    except (OSError, ValueError):
        return False


def _steps(path: str) -> tuple[str, ...]:
    """Raises ValueError for a path that leads out, such as one on a data volume: only homes are looked at."""
    steps = PurePosixPath(path).parts
    if not steps or not {"..", "/", "//"}.isdisjoint(steps):
        raise ValueError("the path leads out of its folder")
    return steps


def _has(folder: int, name: str, size: int) -> bool:
    *steps, last = _steps(name)
    with descended(folder, *steps) as below:
        found = os.stat(last, dir_fd=below, follow_symlinks=False)
    return stat.S_ISREG(found.st_mode) and found.st_size == size


def _environment(home: int) -> EnvironmentRecord | None:
    try:
        with descended(home, OWN, "record") as folder:
            record = _parsed(_Record, _content("record.json", folder))
    except OSError:
        return None
    if record is None:
        return None
    packages = len(record.environments[0].packages)
    return EnvironmentRecord(record.made_at, record.python, packages, len(record.notebooks), record.complete)


def _content(name: str, folder: int) -> bytes | None:
    """A plain file of at most 4 MiB."""
    try:
        with opened(name, FILE, folder) as descriptor:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > LONGEST:
                return None
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return file.read(LONGEST)
    except OSError:
        return None


def _parsed(model: type[Model], content: bytes | None) -> Model | None:
    if content is None:
        return None
    try:
        return model.model_validate_json(content)
    except (ValidationError, RecursionError, json.JSONDecodeError):
        return None
