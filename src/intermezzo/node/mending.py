"""A snapshot that is damaged on the node, and whole in the store, is made whole again from there.

What comes is compared with what the node itself knows of it before it takes the place of anything. If the store's copy
is no better, the store's copy goes, and the damage stays on record.
"""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import TransferStep
from intermezzo.node import contents, encrypted, fetched, files
from intermezzo.node.keeper import Keeper
from intermezzo.node.snapshots import INSTEAD, Damaged
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.parallel import Cancelled
from intermezzo.node.stores.store import Absent


def is_due(keeper: Keeper, manifest: Manifest) -> bool:
    """Whether it is damaged here, and the store is said to have all of it."""
    damaged = bool(manifest.damage) and manifest.mends_itself
    return damaged and keeper.snapshots.believed(manifest.workspace_uid, manifest.id)


def mend(keeper: Keeper, manifest: Manifest, cancelled: threading.Event) -> None:
    """Fetch it, compare it and put it in place, unless cancelled. Raises OSError or IntermezzoError, and then what is
    wrong is told in `transfers` until it is tried again."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), contents.LOWEST_PRIORITY)
    uid, snapshot_id = manifest.workspace_uid, manifest.id
    try:
        with (
            keeper.at_rest(uid),
            keeper.fetching(uid, snapshot_id),
            keeper.metered(manifest, TransferStep.FETCHING, manifest.kept_bytes) as meter,
        ):
            if wrong := _wrong_with_what_came(keeper, manifest, meter, cancelled):
                files.remove_tree(fetched.aside(keeper, manifest))
                keeper.snapshots.amend(uid, snapshot_id, stored_at=0, store_checked_at=0)
                keeper.depot(manifest.stored_in).sweep(uid, snapshot_id)
                raise Damaged(f"the store's copy is not whole either: {wrong}", INSTEAD)

            # Nobody restores from one that is damaged, so that nobody is in the way of its files.
            fetched.take_in(keeper, manifest)
            now = time.time_ns() // 1_000_000
            keeper.commit(manifest, cancelled, damage="", verified_at=now, store_checked_at=now)
    except Cancelled:
        return


def _wrong_with_what_came(keeper: Keeper, manifest: Manifest, meter: Meter, cancelled: threading.Event) -> str:
    try:
        fetched.fetch(keeper, manifest, meter, cancelled)
    except (Absent, Damaged) as error:
        return error.message
    folder: Path = fetched.aside(keeper, manifest)
    if manifest.encrypted_bytes:
        key = keeper.keys.get(manifest.workspace_uid)
        return encrypted.damage(folder, manifest, key, meter, cancelled)
    wrong = contents.damage(folder, replace(manifest, damage=""), cancelled)
    if wrong is None:
        raise Cancelled
    return wrong
