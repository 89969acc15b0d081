"""Brings snapshots into the form and the places that they are to have: encrypts them, sends them to the store, and lets
go of the copy here once the store is known to have all of it.

What is due is read from the manifest each time. Every step may be cut short at any moment and is gone on with later;
no copy is removed before another one is known to be whole. Nothing here decides which snapshot may go.
"""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from intermezzo.domain.keeping import Local
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import TransferStep
from intermezzo.node import contents, encrypted, files
from intermezzo.node.fetched import FETCHED, as_sent
from intermezzo.node.keeper import Keeper
from intermezzo.node.snapshots import Damaged
from intermezzo.node.stores.parallel import Cancelled

FORGOTTEN_S = 86_400.0  # after which nobody goes on with a fetch
CHECKED_ENOUGH_MS = 86_400_000  # for so long what was read in the store is held to be what is there


def is_due(keeper: Keeper, manifest: Manifest) -> bool:
    """Whether there is anything to do for a snapshot, once its checksums are there or a store has it."""
    return not manifest.damage and (bool(_leftovers(keeper, manifest)) or _step(keeper, manifest) is not None)


def tend(keeper: Keeper, uid: str, snapshot_id: str, cancelled: threading.Event) -> None:
    """Do all that is due for one snapshot, unless cancelled. Raises OSError or IntermezzoError, and then what is
    wrong is told in `transfers` until it goes on."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), contents.LOWEST_PRIORITY)
    try:
        with keeper.turn(uid, cancelled):
            while (manifest := keeper.snapshots.find(uid, snapshot_id)) and _go_on(keeper, manifest, cancelled):
                pass
    except Cancelled:
        return


def look_into_store(keeper: Keeper, manifest: Manifest) -> bool:
    """Of a snapshot that lies here too, whether the store still has all that it was sent of it, by names and sizes; if
    not, it is to be sent again. Raises StoreTrouble, OSError or NotFound."""
    uid, snapshot_id = manifest.workspace_uid, manifest.id
    if not manifest.mends_itself or keeper.depot(manifest.stored_in).has_all(uid, snapshot_id):
        return True
    keeper.snapshots.amend(uid, snapshot_id, stored_at=0, store_checked_at=0)
    return False


def _go_on(keeper: Keeper, manifest: Manifest, cancelled: threading.Event) -> bool:
    """One step; whether there may be another."""
    known = manifest.checksums or manifest.stored_at
    if manifest.damage or not known or not keeper.snapshots.believed(manifest.workspace_uid, manifest.id):
        return False
    _clear(keeper, manifest)
    step = _step(keeper, manifest)
    if step is not None:
        step(keeper, manifest, cancelled)
    return step is not None


def _step(keeper: Keeper, manifest: Manifest) -> "Callable[[Keeper, Manifest, threading.Event], None] | None":
    store = keeper.keeping.store
    if keeper.keeping.encrypts and manifest.here and not manifest.encrypted_bytes and manifest.bytes:
        return _encrypt
    if store and manifest.here and not manifest.stored_at:
        return _send
    if store and manifest.here and manifest.stored_at and keeper.keeping.local is Local.RELEASE:
        return _release
    return None


def _encrypt(keeper: Keeper, manifest: Manifest, cancelled: threading.Event) -> None:
    uid, folder = manifest.workspace_uid, _folder(keeper, manifest)
    with keeper.metered(manifest, TransferStep.ENCRYPTING, manifest.bytes) as meter:
        aside = folder / encrypted.ASIDE
        hint = "Free some space: it stays as it is until then."
        with keeper.space.promised("encrypting a snapshot", manifest.bytes, aside, hint):
            size = encrypted.encrypt(folder, manifest.files, keeper.keys.ensure(uid), meter, cancelled)

        # What a store has of it in the clear does not count any more, and is replaced.
        keeper.commit(manifest, cancelled, encrypted_bytes=size, stored_at=0, store_checked_at=0)
    _clear(keeper, manifest)


def _send(keeper: Keeper, manifest: Manifest, cancelled: threading.Event) -> None:
    uid, url = manifest.workspace_uid, keeper.keeping.store
    with keeper.metered(manifest, TransferStep.SENDING, manifest.kept_bytes) as meter:
        if manifest.stored_in not in {"", url}:
            keeper.depot(manifest.stored_in).sweep(uid, manifest.id)
        # Whoever deletes it must know where to look, from before the first byte has gone.
        manifest = keeper.snapshots.amend(uid, manifest.id, stored_in=url)
        folder, sizes = _form(keeper, manifest)
        # Names of a user's files, and what would show that a content is a certain one, are for this node alone.
        left_out = manifest.held_left_out + len(manifest.held)
        sent = replace(manifest, stored_at=_now(), held=(), held_left_out=left_out, checksums={})
        keeper.depot(url).send(sent, folder, sizes, meter, cancelled)
        keeper.snapshots.amend(uid, manifest.id, stored_at=sent.stored_at)


def _release(keeper: Keeper, manifest: Manifest, cancelled: threading.Event) -> None:
    # A moment in the future says that the clock was set back, and nothing of when that was.
    if not 0 <= _now() - manifest.store_checked_at < CHECKED_ENOUGH_MS:
        _check(keeper, manifest, cancelled)
    # Whatever was read there once: nothing goes here that is not there now.
    if not look_into_store(keeper, manifest):
        return
    with keeper.fetching(manifest.workspace_uid, manifest.id):
        keeper.commit(manifest, cancelled, here=False)
    _clear(keeper, manifest)


def _check(keeper: Keeper, manifest: Manifest, cancelled: threading.Event) -> None:
    """Read back all that the store has. Raises Damaged if that is not what was sent, and then it is sent anew."""
    uid, depot = manifest.workspace_uid, keeper.depot(manifest.stored_in)
    with keeper.metered(manifest, TransferStep.CHECKING, manifest.kept_bytes) as meter:
        if wrong := depot.damage(uid, manifest.id, meter, cancelled, as_sent(manifest)):
            keeper.snapshots.amend(uid, manifest.id, stored_at=0)
            depot.sweep(uid, manifest.id)
            raise Damaged(f"the store's copy is not what was sent, and is sent again: {wrong}")
        keeper.snapshots.amend(uid, manifest.id, store_checked_at=_now())


def _form(keeper: Keeper, manifest: Manifest) -> tuple[Path, dict[str, int]]:
    """Where the files lie that hold now, with their sizes."""
    folder = _folder(keeper, manifest)
    if not manifest.encrypted_bytes:
        return folder, manifest.files
    below = folder / encrypted.NAME
    return below, {path.name: path.stat().st_size for path in below.iterdir()}


def _leftovers(keeper: Keeper, manifest: Manifest) -> list[Path]:
    """Files of a form or a copy that does not hold any more."""
    folder = _folder(keeper, manifest)
    plain = [folder / name for name in manifest.files] if manifest.encrypted_bytes or not manifest.here else []
    sealed = [folder / encrypted.NAME, folder / encrypted.ASIDE] if not manifest.here else []
    fetched = [folder / FETCHED] if manifest.here or _is_older(folder / FETCHED, FORGOTTEN_S) else []
    return [path for path in (*plain, *sealed, *fetched) if path.exists()]


def _clear(keeper: Keeper, manifest: Manifest) -> None:
    """Remove what does not hold any more, by what the manifest says now. Whoever fetches it waits, so that what comes
    anew is not taken for what was left."""
    with keeper.fetching(manifest.workspace_uid, manifest.id):
        now = keeper.snapshots.find(manifest.workspace_uid, manifest.id)
        if now is None or now.damage:
            return
        leftovers = _leftovers(keeper, now)
        for path in leftovers:
            files.remove_tree(path) if path.is_dir() else path.unlink(missing_ok=True)
        if leftovers:
            files.sync(_folder(keeper, now))


def _now() -> int:
    return time.time_ns() // 1_000_000


def _is_older(path: Path, seconds: float) -> bool:
    try:
        return time.time() - path.stat().st_mtime > seconds
    except FileNotFoundError:
        return False


def _folder(keeper: Keeper, manifest: Manifest) -> Path:
    return keeper.snapshots.path(manifest.workspace_uid, manifest.id)
