"""What a checkpoint says about itself, and whether it is what was saved: every file with its size and sha256, and a
sha256 over all that."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from . import durable
from .errors import Damaged

NAME = "manifest.json"
VERSION = 1
LONGEST = 16 << 20


@dataclass(frozen=True)
class Manifest:
    """`files` maps each file's path in the checkpoint to its size in bytes and its sha256. `saved_at` is in epoch
    milliseconds. `arrays`, `tensors` and `pickles` tell how many of each there are."""

    series: str
    saved_at: int
    label: str = ""
    step: int | None = None
    arrays: int = 0
    tensors: int = 0
    pickles: int = 0
    has_random_state: bool = False
    files: dict[str, tuple[int, str]] = field(default_factory=dict)
    version: int = VERSION

    @property
    def bytes(self) -> int:
        """All files together."""
        return sum(size for size, _ in self.files.values())


def listed(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file below a directory. Raises OSError."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): (path.stat().st_size, durable.digest(path)) for path in paths}


def write(manifest: Manifest, folder: Path) -> None:
    """Into the checkpoint; it counts from then on. Raises OSError."""
    content = asdict(manifest)
    told = {"checkpoint": content, "sha256": _digest(content)}
    (folder / NAME).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def read(folder: Path) -> Manifest:
    """What a checkpoint says, with every file looked at but not read. Raises Damaged."""
    manifest = _parsed(folder)
    for name, (size, _) in manifest.files.items():
        try:
            actual = (folder / name).stat().st_size
        except OSError as error:
            raise Damaged(f"{name} is missing or cannot be read") from error
        if actual != size:
            raise Damaged(f"{name} has {actual} bytes, it should have {size}")
    return manifest


def verify(manifest: Manifest, folder: Path) -> None:
    """Read every file and compare it with what was saved. Raises Damaged."""
    for name, (_, expected) in manifest.files.items():
        try:
            actual = durable.digest(folder / name)
        except OSError as error:
            raise Damaged(f"{name} cannot be read: {error}") from error
        if actual != expected:
            raise Damaged(f"the content of {name} is not what was saved")


def _parsed(folder: Path) -> Manifest:
    try:
        with (folder / NAME).open("rb") as file:
            told = json.loads(file.read(LONGEST))
        content = told["checkpoint"]
        if told["sha256"] != _digest(content):
            raise Damaged("its manifest is not what was saved")
        if content["version"] != VERSION:
            raise Damaged(f"it is of version {content['version']}, which this version does not know")
        files = {name: (int(size), str(digest)) for name, (size, digest) in content["files"].items()}
        return Manifest(**{**content, "files": files})
    except OSError as error:
        raise Damaged("it has no manifest: it was never complete") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged("its manifest cannot be understood") from error


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
