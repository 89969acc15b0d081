"""Snapshots on the disk: written aside, complete from the moment of one rename, and only then believed.

The rename is the commit point of a pause, and another one the end of a snapshot. This module never decides which
snapshot may go.
"""

import os
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from intermezzo.domain.errors import Conflict, EngineFailure, NotFound
from intermezzo.domain.snapshot import FROM_STORE, Manifest, newest_first
from intermezzo.node import contents, files, manifests
from intermezzo.node.identifiers import IDENTIFIER
from intermezzo.node.lately import Lately
from intermezzo.node.seal import Seal

PARTIAL = ".partial"
GONE = ".deleting"
INSTEAD = "Choose an older snapshot, or start fresh from the files."


class Damaged(EngineFailure):
    """A snapshot is not what it was when it was saved; it is never restored."""

    code = "snapshot_damaged"


class Missing(NotFound):
    """There is no complete snapshot of that id, so that none can be restored."""

    code = "snapshot_missing"


def way_out(manifest: Manifest) -> str:
    """What is to be done about a damaged one."""
    return FROM_STORE if manifest.mends_itself else INSTEAD


class Snapshots:
    """All snapshots of this node, a directory for each workspace and in it one for each snapshot."""

    def __init__(self, folder: Path, seal: Seal | None = None) -> None:
        self._folder = folder
        self._seal = seal or Seal()
        self.lately = Lately()
        # Whoever pins must not find that the snapshot was withdrawn while the pin was written.
        self._changing = threading.Lock()

    @property
    def disk(self) -> Path:
        """A path on the disk that holds the snapshots."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder

    @property
    def seal(self) -> Seal:
        """What this node tells its own manifests by."""
        return self._seal

    def path(self, uid: str, snapshot_id: str) -> Path:
        """Where a complete snapshot lies."""
        return self._folder / uid / snapshot_id

    def partial(self, uid: str, snapshot_id: str) -> Path:
        """Where a snapshot is written before it is complete."""
        return self._folder / uid / (snapshot_id + PARTIAL)

    def begin(self, uid: str, snapshot_id: str) -> Path:
        """An empty directory to save into. Raises OSError."""
        partial = self.partial(uid, snapshot_id)
        files.remove_tree(partial)
        for folder in (self.disk / uid, partial):
            folder.mkdir(mode=0o700, exist_ok=True)
        return partial

    def commit(self, manifest: Manifest) -> Manifest:
        """Make what was saved durable and name it; returns the manifest with sizes. Raises OSError."""
        partial = self.partial(manifest.workspace_uid, manifest.id)
        sizes = {}
        for file in sorted(partial.iterdir()):
            file.chmod(0o600)
            files.sync(file)
            sizes[file.name] = file.stat().st_size
        whole = replace(manifest, files=sizes, bytes=sum(sizes.values()))
        manifests.write(partial, whole, self._seal)
        partial.rename(self.path(manifest.workspace_uid, manifest.id))
        files.sync(self._folder / manifest.workspace_uid)
        return whole

    def traced(self, uid: str, snapshot_id: str) -> bool:
        """Whether anything here says that it is, or was until it is deleted to the end."""
        return self.path(uid, snapshot_id).exists() or self.gone(uid, snapshot_id).exists()

    def take_up(self, manifest: Manifest) -> bool:
        """Name a snapshot of which another place has the bytes. False, and nothing is done, where one of that id is
        here, or is leaving. Raises OSError."""
        uid, snapshot_id = manifest.workspace_uid, manifest.id
        with self._changing:
            if self.traced(uid, snapshot_id):
                return False
            partial = self.begin(uid, snapshot_id)
            manifests.write(partial, manifest, self._seal)
            partial.rename(self.path(uid, snapshot_id))
            files.sync(self._folder / uid)
        return True

    def discard_partials(self, uid: str) -> None:
        """Remove what a pause, or a change of a manifest, left unfinished. Raises OSError if some stays."""
        self._remove_all_named(uid, PARTIAL)
        with self._changing:
            for snapshot_id in _ours(self._folder / uid):
                files.discard_halves(self.path(uid, snapshot_id))

    def find(self, uid: str, snapshot_id: str) -> Manifest | None:
        """The manifest of a complete snapshot; of one that cannot be believed, its `damage` says so. Raises OSError."""
        return manifests.read(self.path(uid, snapshot_id), uid, snapshot_id, self._seal)

    def complete(self, uid: str) -> tuple[Manifest, ...]:
        """Every complete snapshot of a workspace, newest first."""
        names = _ours(self._folder / uid)
        return tuple(newest_first(manifest for name in names if (manifest := self.find(uid, name))))

    def workspaces(self) -> list[str]:
        """Uids of which there are snapshots."""
        return _ours(self._folder)

    def volume_ids(self) -> set[str]:
        """The ids of all volumes that saved sessions have files on."""
        return {each for uid in self.workspaces() for manifest in self.complete(uid) for each in manifest.volumes}

    def amend(self, uid: str, snapshot_id: str, **changes: Any) -> Manifest:
        """Write down what became of a snapshot since it was saved. Raises NotFound, Conflict for one whose manifest is
        not what was written, or OSError and then nothing."""
        with self._changing:
            manifest = self.find(uid, snapshot_id)
            if manifest is None:
                raise NotFound(f"there is no complete snapshot {snapshot_id}")
            if not self.believed(uid, snapshot_id):
                raise Conflict(f"snapshot {snapshot_id} is damaged: {manifest.damage}", "It can only be deleted.")
            amended = replace(manifest, **changes)
            if amended != manifest:
                manifests.write(self.path(uid, snapshot_id), amended, self._seal)
            return amended

    def believed(self, uid: str, snapshot_id: str) -> bool:
        """Whether its manifest is what was written: only then does anything count that stands in it."""
        return manifests.believed(self.path(uid, snapshot_id), self._seal)

    def adopt(self, seal: Seal) -> None:
        """Seal every manifest there is, whoever wrote it: those of a version that knew no seals. Raises OSError."""
        for uid in self.workspaces():
            for snapshot_id in _ours(self._folder / uid):
                manifests.adopt(self.path(uid, snapshot_id), seal)

    def usable(self, uid: str, snapshot_id: str) -> Manifest:
        """The manifest, if no damage is known and every file has its size; contents are not read.

        Raises Missing, or Damaged and then the damage is on record.
        """
        manifest = self.find(uid, snapshot_id)
        if manifest is None:
            raise Missing(f"there is no complete snapshot {snapshot_id}")
        damage = manifest.damage or contents.misfit(self.path(uid, snapshot_id), manifest)
        if damage:
            self.note_damage(uid, snapshot_id, damage)
            raise Damaged(f"snapshot {snapshot_id} is damaged: {damage}", way_out(manifest))
        return manifest

    def note_damage(self, uid: str, snapshot_id: str, damage: str) -> bool:
        """Put on record what was found of one; whether that is news. It is none if the snapshot is gone, or damaged
        beyond its manifest. Raises OSError."""
        before = self.find(uid, snapshot_id)
        with suppress(NotFound, Conflict):
            return self.amend(uid, snapshot_id, damage=damage) != before
        return False

    def withdraw(self, uid: str, snapshot_id: str) -> None:
        """Take its name away for good; its bytes go with `sweep`. Nothing happens if it is not there. Raises OSError.

        The name goes first, so that half a snapshot is never found under a good one.
        """
        with self._changing:
            self._withdraw(uid, [snapshot_id])

    def sweep(self, uid: str) -> None:
        """Delete the bytes of what was withdrawn, which can be gigabytes. Raises OSError if some stay."""
        self._remove_all_named(uid, GONE)

    def gone(self, uid: str, snapshot_id: str) -> Path:
        """Where a withdrawn one lies until all of it is deleted."""
        return self._folder / uid / (snapshot_id + GONE)

    def withdrawn(self, uid: str, snapshot_id: str) -> Manifest | None:
        """The manifest of a withdrawn one; with `damage` if it cannot be believed. Raises OSError."""
        return manifests.read(self.gone(uid, snapshot_id), uid, snapshot_id, self._seal)

    def leaving(self, uid: str) -> tuple[str, ...]:
        """Ids of the withdrawn ones of which bytes are still there."""
        folder = self._folder / uid
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        return tuple(sorted(name.removesuffix(GONE) for name in names if name.endswith(GONE)))

    def remove_all(self, uid: str) -> None:
        """Delete every snapshot of a workspace. Raises OSError if some stays."""
        folder = self._folder / uid
        if folder.is_dir():
            with self._changing:
                self._withdraw(uid, [manifest.id for manifest in self.complete(uid)])
            files.remove_tree(folder)
            files.sync(self._folder)

    def _withdraw(self, uid: str, snapshot_ids: list[str]) -> None:
        there = [path for each in snapshot_ids if (path := self.path(uid, each)).is_dir()]
        for path in there:
            path.rename(path.with_name(path.name + GONE))
        if there:
            files.sync(self._folder / uid)

    def _remove_all_named(self, uid: str, suffix: str) -> None:
        folder = self._folder / uid
        if folder.is_dir():
            for entry in list(folder.iterdir()):
                if entry.name.endswith(suffix):
                    files.remove_tree(entry)


def _ours(folder: Path) -> list[str]:
    """The folders in it that are named as we name them; something else may lie there, such as `lost+found`."""
    if not folder.is_dir():
        return []
    names = [entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    return [name for name in names if IDENTIFIER.fullmatch(name)]
