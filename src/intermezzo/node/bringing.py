"""Brings a snapshot into the folder that a restore reads from: fetched from the store and decrypted, where it must be.

What is fetched is compared while it comes, lies aside until it is whole, and what came is not fetched again. The
snapshot itself stays as it is, in every place that it is in.
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import TransferStep
from intermezzo.node import encrypted, files
from intermezzo.node.inspection import WATCH_EVERY_S, Progress
from intermezzo.node.keeper import Keeper
from intermezzo.node.snapshots import Damaged
from intermezzo.node.stores.deposit import Deposit
from intermezzo.node.stores.meter import Meter
from intermezzo.node.tasks import finished

ASIDE = "fetched.new"
HINT = "Free some space, choose a snapshot that is on the node, or start fresh from the files."


@dataclass(frozen=True, slots=True)
class Brought:
    """A folder with the files as they were saved, and a manifest that is true of it."""

    folder: Path
    manifest: Manifest


async def bring(keeper: Keeper, manifest: Manifest, aside: Path, progress: Progress) -> Brought:
    """The files of a snapshot, in `aside` if they must be decrypted. Raises StoreTrouble, Damaged, NoKey, OSError or
    NotEnoughSpace; then the snapshot is as it was."""
    if not manifest.here:
        meter = Meter(manifest.id, TransferStep.FETCHING, manifest.kept_bytes)
        manifest = await _watched(meter, progress, lambda cancelled: _fetch(keeper, manifest, meter, cancelled))
    folder = keeper.snapshots.path(manifest.workspace_uid, manifest.id)
    if not manifest.encrypted_bytes:
        return Brought(folder, manifest)
    meter = Meter(manifest.id, TransferStep.DECRYPTING, manifest.bytes)
    await _watched(meter, progress, lambda cancelled: _decrypt(keeper, manifest, aside, meter, cancelled))
    return Brought(aside, replace(manifest, encrypted_bytes=0))


def _fetch(keeper: Keeper, manifest: Manifest, meter: Meter, cancelled: threading.Event) -> Manifest:
    uid, snapshot_id = manifest.workspace_uid, manifest.id
    with keeper.fetching(uid, snapshot_id):
        now = keeper.snapshots.find(uid, snapshot_id)
        if now is None or now.here:
            return now or manifest
        folder = keeper.snapshots.path(uid, snapshot_id)
        aside = folder / ASIDE
        with keeper.space.promised("fetching the snapshot", manifest.kept_bytes, aside, HINT):
            deposit = keeper.depot(manifest.stored_in).fetch(uid, snapshot_id, aside, meter, cancelled)
        _require_of(manifest, deposit)
        return _take_in(keeper, manifest, aside, folder)


def _require_of(manifest: Manifest, deposit: Deposit) -> None:
    """No other file, nor another size, than this node has sent: a store is not to choose names in its folders."""
    expected = encrypted.names(manifest) if manifest.encrypted_bytes else set(manifest.files)
    if set(deposit.files) != expected or deposit.bytes != manifest.kept_bytes:
        raise Damaged(f"snapshot {manifest.id} in the store is not what was sent", encrypted.HINT)


def _take_in(keeper: Keeper, manifest: Manifest, aside: Path, folder: Path) -> Manifest:
    target = folder / encrypted.NAME if manifest.encrypted_bytes else folder
    target.mkdir(mode=0o700, exist_ok=True)
    for path in sorted(aside.iterdir()):
        path.rename(target / path.name)
    files.sync(target)
    held = keeper.snapshots.amend(manifest.workspace_uid, manifest.id, here=True)
    files.remove_tree(aside)
    return held


def _decrypt(keeper: Keeper, manifest: Manifest, aside: Path, meter: Meter, cancelled: threading.Event) -> Manifest:
    key, folder = keeper.keys.get(manifest.workspace_uid), keeper.snapshots.path(manifest.workspace_uid, manifest.id)
    files.remove_tree(aside)
    with keeper.space.promised("decrypting the snapshot", manifest.bytes, aside, HINT):
        encrypted.decrypt(folder, manifest, key, aside, meter, cancelled)
    return manifest


async def _watched(meter: Meter, progress: Progress, work: Callable[[threading.Event], Manifest]) -> Manifest:
    """Work in a thread while showing how far it is; it is ended before a cancellation goes on."""
    cancelled = threading.Event()
    working = asyncio.ensure_future(asyncio.to_thread(work, cancelled))
    try:
        while not (await asyncio.wait({working}, timeout=WATCH_EVERY_S))[0]:
            reading = meter.reading()
            progress(reading.step.value, reading.done, reading.total)
        return working.result()
    finally:
        cancelled.set()
        await finished(asyncio.wait({working}))
