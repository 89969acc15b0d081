"""Bytes of a snapshot that came from the store: compared, aside until all of them are there, and then in place.

Who calls decides what counts afterwards; nothing here changes a manifest. What came is kept, so that it need not come
again.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from intermezzo.domain.snapshot import Manifest
from intermezzo.node import encrypted, files
from intermezzo.node.keeper import Keeper
from intermezzo.node.snapshots import INSTEAD, Damaged
from intermezzo.node.stores.deposit import Deposit
from intermezzo.node.stores.meter import Meter

FETCHED = "fetched.new"
ROOM = "Free some space, choose a snapshot that is on the node, or start fresh from the files."


def aside(keeper: Keeper, manifest: Manifest) -> Path:
    """Where they lie before they are in place: a folder that is made like the snapshot's own."""
    return keeper.snapshots.path(manifest.workspace_uid, manifest.id) / FETCHED


def as_sent(manifest: Manifest) -> Callable[[Deposit], None]:
    """What raises Damaged for a deposit that is not the one that this node sent of a snapshot."""

    def require(deposit: Deposit) -> None:
        # A store is not to choose names in this node's folders, nor how much of its disk is taken. Where the node has
        # no checksums of its own any more, the deposit's must be those that it sent.
        expected = encrypted.names(manifest) if manifest.encrypted_bytes else set(manifest.files)
        known = manifest.checksums or deposit.genuine
        if set(deposit.files) != expected or deposit.bytes != manifest.kept_bytes or not known:
            raise Damaged(f"snapshot {manifest.id} in the store is not what was sent", INSTEAD)

    return require


def fetch(keeper: Keeper, manifest: Manifest, meter: Meter, cancelled: threading.Event) -> None:
    """Have all of them aside. Raises Absent, Cancelled, Damaged, NotEnoughSpace, OSError, StoreTrouble."""
    uid, snapshot_id = manifest.workspace_uid, manifest.id
    folder = _form(aside(keeper, manifest), manifest)
    with keeper.space.promised("fetching the snapshot", manifest.kept_bytes, folder, ROOM):
        depot = keeper.depot(manifest.stored_in)
        depot.fetch(uid, snapshot_id, folder, meter, cancelled, as_sent(manifest))


def take_in(keeper: Keeper, manifest: Manifest) -> None:
    """Put them in place. May be cut short at any file, and is then done again. Raises OSError."""
    fetched = aside(keeper, manifest)
    target = _form(keeper.snapshots.path(manifest.workspace_uid, manifest.id), manifest)
    target.mkdir(mode=0o700, exist_ok=True)
    for path in sorted(_form(fetched, manifest).iterdir()):
        path.rename(target / path.name)
    files.sync(target)
    files.remove_tree(fetched)


def _form(folder: Path, manifest: Manifest) -> Path:
    return folder / encrypted.NAME if manifest.encrypted_bytes else folder
