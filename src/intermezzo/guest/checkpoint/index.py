"""Where this workspace's checkpoints are, one small file a series in home, so that Intermezzo can show the newest
without looking through home. Only in a workspace: elsewhere nothing is written.
"""

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import durable, manifest
from .errors import Damaged

FOLDER = Path(".intermezzo") / "checkpoints"
VERSION = 1
MOST = 8
MOST_SERIES = 64


def newest(home: Path) -> list[dict[str, Any]]:
    """The newest of each series, as it was written down last."""
    found = []
    for file in sorted((home / FOLDER).glob("*.json"))[:MOST_SERIES]:
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            told = json.loads(file.read_bytes())
            found.append({"series": told["series"], **told["checkpoints"][0]})
    return found


def note(series: str, folders: Sequence[Path]) -> None:
    """Write down the newest of a series, newest first. It is only a hint: that it cannot be written fails nothing."""
    with contextlib.suppress(OSError, RuntimeError):
        place = Path.home() / FOLDER
        if folders and place.is_dir():
            entries = [_entry(folder) for folder in folders[:MOST]]
            told = {"version": VERSION, "series": series, "checkpoints": [entry for entry in entries if entry]}
            name = hashlib.sha256(str(folders[0].parent).encode()).hexdigest()[:16]
            durable.write(place / f"{name}.json", json.dumps(told).encode())


def _entry(folder: Path) -> dict[str, object] | None:
    try:
        told = manifest.read(folder)
        digest = durable.digest(folder / manifest.NAME)
    except (Damaged, OSError):
        return None
    return {
        "path": _below_home(folder),
        "label": told.label,
        "step": told.step,
        "saved_at": told.saved_at,
        "bytes": told.bytes,
        "has_random_state": told.has_random_state,
        "manifest_sha256": digest,
    }


def _below_home(folder: Path) -> str:
    """Without the way to home, which is another on the machine below; elsewhere as it is."""
    real, home = folder.resolve(), Path.home().resolve()
    return str(real.relative_to(home)) if real.is_relative_to(home) else str(real)
