"""Takes up the snapshots that this node once sent to a store and of which it has lost every trace, as with its disk.

Only what bears this node's seal counts: another installation may have been given the same address. Nothing is fetched
here, and nothing is ever deleted.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from intermezzo.domain.snapshot import Manifest
from intermezzo.node import files
from intermezzo.node.identifiers import IDENTIFIER
from intermezzo.node.keeper import Keeper
from intermezzo.node.snapshots import Damaged
from intermezzo.node.stores.depot import Depot

logger = logging.getLogger(__name__)
MARK = "taking-up"


def is_due(keeper: Keeper, folder: Path) -> bool:
    """Whether there is a store to be asked: the disk for snapshots is empty, or was when this was begun."""
    return bool(keeper.keeping.store) and ((folder / MARK).exists() or not keeper.snapshots.workspaces())


def take_up(keeper: Keeper, folder: Path) -> list[Manifest]:
    """Take up all that the store has and that is not here; what was. `folder`, not on the disk for snapshots, remembers
    that this was begun. Raises StoreTrouble or OSError, and then it is done again."""
    files.write(folder / MARK, b"")
    found = [manifest for manifest in _sent(keeper) if keeper.snapshots.take_up(manifest)]
    (folder / MARK).unlink()
    return found


def _sent(keeper: Keeper) -> Iterator[Manifest]:
    """What this node knows of every snapshot in the store that it sent itself."""
    depot = keeper.depot(keeper.keeping.store)
    for held in depot.held():
        named = IDENTIFIER.fullmatch(held.workspace_uid) and IDENTIFIER.fullmatch(held.snapshot_id)
        manifest = _genuine(depot, held.workspace_uid, held.snapshot_id) if named and held.complete else None
        if manifest is not None:
            yield replace(manifest, here=False, stored_in=keeper.keeping.store, store_checked_at=0)


def _genuine(depot: Depot, uid: str, snapshot_id: str) -> Manifest | None:
    try:
        deposit = depot.find(uid, snapshot_id)
    except Damaged as error:
        logger.warning("not taken up: %s", error.message)
        return None
    if deposit is None or not deposit.genuine:
        return None
    manifest = deposit.manifest
    return manifest if (manifest.workspace_uid, manifest.id) == (uid, snapshot_id) else None
