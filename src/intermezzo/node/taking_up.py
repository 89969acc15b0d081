"""Takes up the snapshots that this node once sent to a store and of which it has lost every trace, as with its disk.

Only what bears this node's seal counts: another installation may have been given the same address. Nothing is fetched
here, and nothing is ever deleted.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace

from intermezzo.domain.snapshot import Manifest
from intermezzo.node.identifiers import IDENTIFIER
from intermezzo.node.keeper import Keeper
from intermezzo.node.snapshots import Damaged
from intermezzo.node.stores.depot import Depot

logger = logging.getLogger(__name__)


def take_up(keeper: Keeper) -> list[Manifest]:
    """Take up all that the store has and of which there is no trace here; what was. Raises StoreTrouble or OSError, and
    is done again then."""
    return [manifest for manifest in _sent(keeper) if _taken_up(keeper, manifest)]


def _taken_up(keeper: Keeper, manifest: Manifest) -> bool:
    uid, snapshot_id = manifest.workspace_uid, manifest.id
    if not keeper.snapshots.take_up(manifest):
        return False
    if keeper.depot(manifest.stored_in).find(uid, snapshot_id) is None:
        # Its deletion, of which there still was a trace when the store was asked, has come to its end since.
        keeper.snapshots.withdraw(uid, snapshot_id)
        return False
    return True


def _sent(keeper: Keeper) -> Iterator[Manifest]:
    """What this node knows of every snapshot in the store that it sent itself."""
    depot = keeper.depot(keeper.keeping.store)
    for held in depot.held():
        uid, snapshot_id = held.workspace_uid, held.snapshot_id
        named = IDENTIFIER.fullmatch(uid) and IDENTIFIER.fullmatch(snapshot_id)
        unknown = held.complete and named and not keeper.snapshots.traced(uid, snapshot_id)
        manifest = _genuine(depot, uid, snapshot_id) if unknown else None
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
