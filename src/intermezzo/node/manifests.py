"""Manifests as files: written whole and sealed, believed only if they are what was written.

A manifest that cannot be believed is still told of, as that of a damaged snapshot: it takes space, its owner must see
it, and nothing may be restored by it.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from intermezzo.domain.snapshot import Manifest
from intermezzo.node import files
from intermezzo.node.seal import Seal

MANIFEST = TypeAdapter(Manifest)
NAME = "manifest.json"


class Unbelievable(ValueError):
    """A manifest is not what was written. The text is one clause that says in what way."""


def dump(manifest: Manifest, seal: Seal) -> bytes:
    """A manifest as it is stored."""
    return json.dumps(seal.put(MANIFEST.dump_python(manifest, mode="json"))).encode()


def load(content: bytes, seal: Seal) -> Manifest:
    """A stored manifest. Raises Unbelievable."""
    found, manifest = _parsed(content)
    if not seal.fits(found):
        raise Unbelievable("its manifest was changed since it was written")
    return manifest


def write(folder: Path, manifest: Manifest, seal: Seal) -> None:
    """Put it into the folder of its snapshot, durably. Raises OSError."""
    files.write(folder / NAME, dump(manifest, seal))


def read(folder: Path, uid: str, snapshot_id: str, seal: Seal) -> Manifest | None:
    """The manifest of the snapshot in a folder, as believed or with what is wrong in its `damage`; None without a
    folder. Raises OSError."""
    try:
        manifest = load((folder / NAME).read_bytes(), seal)
    except FileNotFoundError:
        return _told_of(folder, uid, snapshot_id, "its manifest is missing") if folder.is_dir() else None
    except Unbelievable as error:
        return _told_of(folder, uid, snapshot_id, str(error))
    if (manifest.workspace_uid, manifest.id) != (uid, snapshot_id):
        return _told_of(folder, uid, snapshot_id, "its manifest is that of another snapshot")
    return manifest


def believed(folder: Path, seal: Seal) -> bool:
    """Whether the manifest in a folder is what was written."""
    try:
        load((folder / NAME).read_bytes(), seal)
    except (OSError, Unbelievable):
        return False
    return True


def adopt(folder: Path, seal: Seal) -> None:
    """Seal the manifest of a version that knew no seals; what is no manifest stays as it is. Raises OSError."""
    try:
        found, _ = _parsed((folder / NAME).read_bytes())
    except (FileNotFoundError, Unbelievable):
        return
    files.write(folder / NAME, json.dumps(seal.put(found)).encode())


def _parsed(content: bytes) -> tuple[dict[str, Any], Manifest]:
    try:
        found = json.loads(content)
        return found, MANIFEST.validate_python(found)
    except ValueError as error:
        raise Unbelievable("its manifest cannot be read") from error


def _told_of(folder: Path, uid: str, snapshot_id: str, damage: str) -> Manifest | None:
    """What can be said of a snapshot whose manifest says nothing: its size and age are those of the folder."""
    try:
        at = folder.stat().st_mtime_ns // 1_000_000
        own = (folder / NAME).stat().st_size if (folder / NAME).exists() else 0
    except FileNotFoundError:  # it is being withdrawn
        return None
    return Manifest(snapshot_id, uid, "", at, files.size(folder) - own, damage=damage)
