"""Whether a snapshot may be restored here: its manifest, its files, this place, and the files that it holds open.

All of it before anything is made: no sandbox, network, group or bundle. What costs nothing is looked at first; the
contents are read last, and not again where they were found whole a short while ago. It changes nothing of a snapshot
but the damage that it finds.
"""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

from intermezzo.domain.compatibility import Site, mends, obstacles
from intermezzo.domain.errors import FilesChanged, IntermezzoError, NotFound
from intermezzo.domain.held import Acceptance, advice, refused, told
from intermezzo.domain.snapshot import Examined, Manifest
from intermezzo.node import contents, held
from intermezzo.node.contents import Pace
from intermezzo.node.lately import look
from intermezzo.node.snapshots import INSTEAD, Damaged, Snapshots, way_out
from intermezzo.node.tasks import finished, in_thread
from intermezzo.node.volumes import Volumes

WATCH_EVERY_S = 0.1

Progress = Callable[[str, int, int], None]
"""Is told what is being done, how many bytes are done and how many there are."""


class Incompatible(IntermezzoError):
    """The snapshot cannot be restored here; the message names what differs."""

    code = "snapshot_incompatible"


def examine(snapshots: Snapshots, volumes: Volumes, uid: str, snapshot_id: str) -> Examined:
    """What can be told of a snapshot without reading it. Raises NotFound, or OSError."""
    manifest = snapshots.find(uid, snapshot_id)
    if manifest is None:
        raise NotFound(f"there is no complete snapshot {snapshot_id}")
    damage = manifest.damage or contents.misfit(snapshots.path(uid, snapshot_id), manifest)
    return Examined(damage, held.changed(volumes, manifest))


def require_fit(manifest: Manifest, here: Site) -> None:
    """Raises Incompatible."""
    found = obstacles(manifest, here)
    if found:
        raise Incompatible("; ".join(difference.message for difference in found), mends([found]))


def require_files(volumes: Volumes, manifest: Manifest, accepted: Acceptance) -> None:
    """Raises FilesChanged where a file that the session holds open is another and that was not accepted, or is not
    there at all."""
    found = refused(held.changed(volumes, manifest), accepted)
    if found:
        raise FilesChanged(told(found), f"{advice(found)} {INSTEAD}")


async def require_whole(
    snapshots: Snapshots, manifest: Manifest, progress: Progress, folder: Path | None = None
) -> None:
    """Read everything that will be restored from, in the folder given or in the snapshot's own, and compare it with the
    checksums, as fast as this machine can. Where there are none yet, the sizes must do, which were compared before.
    Raises Damaged, and then that is on record, or OSError."""
    uid, snapshot_id, lately = manifest.workspace_uid, manifest.id, snapshots.lately
    folder = folder or snapshots.path(uid, snapshot_id)
    if not manifest.checksums or await in_thread(lately.holds, folder, manifest):
        return
    before = await in_thread(look, folder, manifest)
    damage = await _read(folder, manifest, progress)
    if damage:
        await in_thread(snapshots.note_damage, uid, snapshot_id, damage)
        raise Damaged(f"snapshot {snapshot_id} is damaged: {damage}", way_out(manifest))
    await in_thread(lately.note, folder, manifest, before)


async def _read(folder: Path, manifest: Manifest, progress: Progress) -> str:
    cancelled, done = threading.Event(), [0]

    def note(count: int) -> None:
        done[0] = count

    reading = asyncio.ensure_future(asyncio.to_thread(contents.damage, folder, manifest, cancelled, Pace.EAGER, note))
    try:
        while not (await asyncio.wait({reading}, timeout=WATCH_EVERY_S))[0]:
            progress("verifying", done[0], manifest.bytes)
        return reading.result() or ""
    finally:
        cancelled.set()
        await finished(asyncio.wait({reading}))
