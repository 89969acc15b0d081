"""Reckons the checksums of whole snapshots, and compares them: slow, at low priority, and given up at once when
somebody needs the disk.

It changes nothing of a snapshot but what its manifest says of it.
"""

import threading
from collections.abc import Callable

from intermezzo.domain.snapshot import Manifest
from intermezzo.node import contents
from intermezzo.node.contents import ALGORITHM
from intermezzo.node.lately import look
from intermezzo.node.snapshots import Snapshots

Look = Callable[[Manifest, threading.Event], str | None]
"""What is wrong with a snapshot as a sentence, empty if nothing is, None if it was cancelled."""


def can_be_reckoned(manifest: Manifest) -> bool:
    """Whether the files lie here as they were saved, and nobody has reckoned yet."""
    return manifest.here and not (manifest.encrypted_bytes or manifest.checksums or manifest.damage)


def reckon(snapshots: Snapshots, manifest: Manifest, cancelled: threading.Event) -> None:
    """Store the checksum of every file, unless cancelled. Raises OSError, or NotFound if it is gone meanwhile.

    Whoever resumes soon after need not wait until the same bytes are read again.
    """
    folder = snapshots.path(manifest.workspace_uid, manifest.id)
    before = look(folder, manifest)
    found = contents.checksums(folder, manifest, ALGORITHM, cancelled)
    if found is not None:
        reckoned = snapshots.amend(manifest.workspace_uid, manifest.id, checksums=found, algorithm=ALGORITHM)
        snapshots.lately.note(folder, reckoned, before)


def verify(
    snapshots: Snapshots, manifest: Manifest, now: int, cancelled: threading.Event, look: Look | None = None
) -> None:
    """Compare every file with what is known of it and store the outcome, unless cancelled. `now`: epoch milliseconds.
    `look` says what is wrong with it, where that is not to be seen by its files alone.

    What was damaged and is right again is called whole again. Raises OSError or NotFound as `reckon` does.
    """
    uid, snapshot_id = manifest.workspace_uid, manifest.id
    damage = (look or _looked(snapshots))(manifest, cancelled)
    if damage is None:
        return
    if not damage and can_be_reckoned(manifest):
        reckon(snapshots, manifest, cancelled)
        if cancelled.is_set():
            return
    # A clock that was set back must not leave the verification due for ever.
    snapshots.amend(uid, snapshot_id, damage=damage, verified_at=max(now, manifest.verify_asked_at))


def _looked(snapshots: Snapshots) -> Look:
    def looked(manifest: Manifest, cancelled: threading.Event) -> str | None:
        return contents.damage(snapshots.path(manifest.workspace_uid, manifest.id), manifest, cancelled)

    return looked
