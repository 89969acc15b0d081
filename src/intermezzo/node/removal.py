"""Deletes snapshots where they are kept: the name went first, then the bytes here, then those in the store, and the
last trace only once the store has been seen to have nothing left.

Whatever fails leaves that trace, and so is known and done again. It never takes a name away by itself.
"""

from pathlib import Path

from intermezzo.node import files, manifests
from intermezzo.node.keeper import Keeper


def sweep(keeper: Keeper, uid: str) -> None:
    """Delete the bytes of what was withdrawn, in both places. Raises StoreTrouble, or OSError if some stay."""
    trouble: Exception | None = None
    for snapshot_id in keeper.snapshots.leaving(uid):
        try:
            _sweep_one(keeper, uid, snapshot_id)
        except Exception as error:  # noqa: BLE001 - the others are deleted all the same, and this one told of
            trouble = trouble or error
    if trouble:
        raise trouble


def remove_all(keeper: Keeper, uid: str) -> None:
    """Delete every snapshot of a workspace and the key that they are encrypted with. Raises as `sweep` does, and then
    what the store still has is unreadable if it was encrypted."""
    with keeper.at_rest(uid):
        keeper.keys.destroy(uid)
        for manifest in keeper.snapshots.complete(uid):
            keeper.snapshots.withdraw(uid, manifest.id)
        sweep(keeper, uid)
        keeper.snapshots.remove_all(uid)


def _sweep_one(keeper: Keeper, uid: str, snapshot_id: str) -> None:
    folder = keeper.snapshots.gone(uid, snapshot_id)
    manifest = keeper.snapshots.withdrawn(uid, snapshot_id)
    believed = manifest is not None and not manifest.damage
    # An address in a manifest that somebody has edited is asked nothing.
    store = manifest.stored_in if manifest and believed else keeper.keeping.store
    if store:
        _remove_all_but_manifest(folder)
        keeper.depot(store).sweep(uid, snapshot_id)
    files.remove_tree(folder)
    keeper.forget(uid, snapshot_id)


def _remove_all_but_manifest(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            files.remove_tree(path)
        elif path.name != manifests.NAME:
            path.unlink()
    files.sync(folder)
