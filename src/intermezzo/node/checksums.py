"""Reckons the checksums of whole snapshots, and compares them: slow, at low priority, and given up at once when
somebody needs the disk.

It changes nothing of a snapshot but what its manifest says of it.
"""

import threading

from intermezzo.domain.snapshot import Manifest
from intermezzo.node import contents
from intermezzo.node.contents import ALGORITHM
from intermezzo.node.snapshots import Snapshots


def reckon(snapshots: Snapshots, manifest: Manifest, cancelled: threading.Event) -> None:
    """Store the checksum of every file, unless cancelled. Raises OSError, or NotFound if it is gone meanwhile."""
    folder = snapshots.path(manifest.workspace_uid, manifest.id)
    found = contents.checksums(folder, manifest, ALGORITHM, cancelled)
    if found is not None:
        snapshots.amend(manifest.workspace_uid, manifest.id, checksums=found, algorithm=ALGORITHM)


def verify(snapshots: Snapshots, manifest: Manifest, now: int, cancelled: threading.Event) -> None:
    """Compare every file with what is known of it and store the outcome, unless cancelled. `now`: epoch milliseconds.

    What was damaged and is right again is called whole again. Raises OSError or NotFound as `reckon` does.
    """
    uid, snapshot_id = manifest.workspace_uid, manifest.id
    damage = contents.damage(snapshots.path(uid, snapshot_id), manifest, cancelled)
    if damage is None:
        return
    if not damage and not manifest.checksums:
        reckon(snapshots, manifest, cancelled)
        if cancelled.is_set():
            return
    # A clock that was set back must not leave the verification due for ever.
    snapshots.amend(uid, snapshot_id, damage=damage, verified_at=max(now, manifest.verify_asked_at))
