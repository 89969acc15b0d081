"""Reads whole snapshots, to reckon their checksums and to compare them: slow, at low priority, and given up at once
when somebody needs the disk.

It changes nothing of a snapshot but what its manifest says of it.
"""

import hashlib
import os
import threading
from pathlib import Path

from intermezzo.domain.snapshot import Manifest
from intermezzo.node import files
from intermezzo.node.snapshots import Snapshots

LOWEST_PRIORITY = 19


def reckon(snapshots: Snapshots, manifest: Manifest, cancelled: threading.Event) -> None:
    """Store the sha256 of every file, unless cancelled. Raises OSError, or NotFound if it is gone meanwhile."""
    found = _read(snapshots.path(manifest.workspace_uid, manifest.id), manifest, cancelled)
    if found is not None:
        snapshots.amend(manifest.workspace_uid, manifest.id, checksums=found)


def verify(snapshots: Snapshots, manifest: Manifest, now: int, cancelled: threading.Event) -> None:
    """Compare every file with what is known of it and store the outcome, unless cancelled. `now`: epoch milliseconds.

    What was damaged and is right again is called whole again. Raises OSError or NotFound as `reckon` does.
    """
    damage, found = snapshots.misfit(manifest), dict(manifest.checksums)
    if not damage:
        try:
            read = _read(snapshots.path(manifest.workspace_uid, manifest.id), manifest, cancelled)
        except OSError as error:
            damage = f"its files cannot be read: {error.strerror or error}"
        else:
            if read is None:
                return
            damage = _changed(manifest.checksums, read)
            found = found or read
    # A clock that was set back must not leave the verification due for ever.
    done = max(now, manifest.verify_asked_at)
    snapshots.amend(manifest.workspace_uid, manifest.id, damage=damage, checksums=found, verified_at=done)


def _changed(expected: dict[str, str], found: dict[str, str]) -> str:
    names = [name for name, checksum in expected.items() if found.get(name) != checksum]
    return f"the content of {', '.join(names)} is not what was saved" if names else ""


def _read(folder: Path, manifest: Manifest, cancelled: threading.Event) -> dict[str, str] | None:
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
    found = {}
    for name in manifest.files:
        digest = _checksum(folder / name, cancelled)
        if digest is None:
            return None
        found[name] = digest
    return found


def _checksum(path: Path, cancelled: threading.Event) -> str | None:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        offset = 0
        while chunk := file.read(files.CHUNK):
            if cancelled.is_set():
                return None
            digest.update(chunk)
            # What is read here will not be needed soon: leave the page cache to the sandboxes.
            os.posix_fadvise(file.fileno(), offset, len(chunk), os.POSIX_FADV_DONTNEED)
            offset += len(chunk)
    return digest.hexdigest()
