"""Brings a snapshot into the folder that a restore reads from: fetched from the store and decrypted, where it must be.

What is fetched is compared while it comes, lies aside until it is whole, and what came is not fetched again. The
snapshot itself stays as it is, in every place that it is in; what is found to be wrong with it is put on record.
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import TransferStep
from intermezzo.node import encrypted, files
from intermezzo.node.fetched import ROOM, fetch, take_in
from intermezzo.node.inspection import WATCH_EVERY_S, Progress
from intermezzo.node.keeper import Keeper
from intermezzo.node.snapshots import Damaged, way_out
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.store import Absent
from intermezzo.node.tasks import finished, in_thread


@dataclass(frozen=True, slots=True)
class Brought:
    """A folder with the files as they were saved, and a manifest that is true of it."""

    folder: Path
    manifest: Manifest


async def bring(keeper: Keeper, manifest: Manifest, aside: Path, progress: Progress) -> Brought:
    """The files of a snapshot, in `aside` if they must be decrypted. Raises StoreTrouble, Damaged, NoKey, OSError or
    NotEnoughSpace; then the snapshot is as it was, but for the damage that was found."""
    try:
        return await _brought(keeper, manifest, aside, progress)
    except (Absent, Damaged) as error:
        note = partial(keeper.snapshots.note_damage, manifest.workspace_uid, manifest.id, error.message)
        await in_thread(note)
        raise Damaged(error.message, way_out(manifest)) from error


async def _brought(keeper: Keeper, manifest: Manifest, aside: Path, progress: Progress) -> Brought:
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
        fetch(keeper, manifest, meter, cancelled)
        take_in(keeper, manifest)
        return keeper.snapshots.amend(uid, snapshot_id, here=True)


def _decrypt(keeper: Keeper, manifest: Manifest, aside: Path, meter: Meter, cancelled: threading.Event) -> Manifest:
    key, folder = keeper.keys.get(manifest.workspace_uid), keeper.snapshots.path(manifest.workspace_uid, manifest.id)
    files.remove_tree(aside)
    with keeper.space.promised("decrypting the snapshot", manifest.bytes, aside, ROOM):
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
