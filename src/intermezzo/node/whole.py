"""Whether a snapshot is what was saved, wherever and in whatever form it is kept: all of it is read."""

import threading

from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import TransferStep
from intermezzo.node import contents, encrypted
from intermezzo.node.fetched import as_sent
from intermezzo.node.keeper import Keeper
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.parallel import Cancelled


def damage(keeper: Keeper, manifest: Manifest, cancelled: threading.Event, meter: Meter | None = None) -> str | None:
    """What is wrong with it as a sentence, empty if nothing is, None if it was cancelled.

    The copy on this node is read, and only without one that in the store. Raises StoreTrouble, NoKey or OSError where
    it cannot be said. `meter` is told of all that is read.
    """
    uid, snapshot_id = manifest.workspace_uid, manifest.id
    folder = keeper.snapshots.path(uid, snapshot_id)
    meter = meter or Meter(snapshot_id, TransferStep.CHECKING, manifest.kept_bytes)
    try:
        if not manifest.here:
            depot = keeper.depot(manifest.stored_in)
            return depot.damage(uid, snapshot_id, meter, cancelled, as_sent(manifest))
        if not manifest.encrypted_bytes:
            return contents.damage(folder, manifest, cancelled, told=_growing(meter))
        wrong = contents.misfit(folder, manifest)
        return wrong or encrypted.damage(folder, manifest, keeper.keys.get(uid), meter, cancelled)
    except Cancelled:
        return None


def _growing(meter: Meter) -> contents.Told:
    """Tells a meter what came since it was told last, from how much there is in all."""
    before = 0

    def told(so_far: int) -> None:
        nonlocal before
        meter.moved(so_far - before)
        before = so_far

    return told
