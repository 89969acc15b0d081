"""Snapshots on the disk: written aside, complete from the moment of one rename, and only then believed.

The rename is the commit point of a pause, and another one the end of a snapshot. This module never decides which
snapshot may go; it keeps as many as it is told, the newest always, and those that are pinned.
"""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from intermezzo.domain.errors import EngineFailure, NotFound
from intermezzo.domain.snapshot import Manifest, newest_first, surplus
from intermezzo.node import files

MANIFEST = TypeAdapter(Manifest)
NAME = "manifest.json"
PARTIAL = ".partial"
GONE = ".deleting"


class Damaged(EngineFailure):
    """A snapshot is not what it was when it was saved; it is never restored."""

    code = "snapshot_damaged"


class Missing(NotFound):
    """There is no complete snapshot of that id, so that none can be restored."""

    code = "snapshot_missing"


class Snapshots:
    """All snapshots of this node, a directory for each workspace and in it one for each snapshot."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Whoever pins must not find that the snapshot was withdrawn while the pin was written.
        self._changing = threading.Lock()

    @property
    def disk(self) -> Path:
        """A path on the disk that holds the snapshots."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder

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
        partial.mkdir(mode=0o700, parents=True)
        return partial

    def commit(self, manifest: Manifest) -> Manifest:
        """Make what was saved durable and name it; returns the manifest with sizes. Raises OSError."""
        partial = self.partial(manifest.workspace_uid, manifest.id)
        sizes = {}
        for file in sorted(partial.iterdir()):
            files.sync(file)
            sizes[file.name] = file.stat().st_size
        whole = replace(manifest, files=sizes, bytes=sum(sizes.values()))
        files.write(partial / NAME, MANIFEST.dump_json(whole))
        partial.rename(self.path(manifest.workspace_uid, manifest.id))
        files.sync(self._folder / manifest.workspace_uid)
        return whole

    def discard_partials(self, uid: str) -> None:
        """Remove what a pause left unfinished. Raises OSError if some stays."""
        self._remove_all_named(uid, PARTIAL)

    def find(self, uid: str, snapshot_id: str) -> Manifest | None:
        """The manifest of a complete snapshot."""
        try:
            return MANIFEST.validate_json((self.path(uid, snapshot_id) / NAME).read_bytes())
        except (FileNotFoundError, ValueError):
            return None

    def complete(self, uid: str) -> tuple[Manifest, ...]:
        """Every complete snapshot of a workspace, newest first."""
        folder = self._folder / uid
        if not folder.is_dir():
            return ()
        names = [entry.name for entry in folder.iterdir() if not entry.name.endswith((PARTIAL, GONE))]
        return tuple(newest_first(manifest for name in names if (manifest := self.find(uid, name))))

    def workspaces(self) -> list[str]:
        """Uids of which there are snapshots."""
        return [entry.name for entry in self._folder.iterdir()] if self._folder.is_dir() else []

    def volume_ids(self) -> set[str]:
        """The ids of all volumes that saved sessions have files on."""
        return {each for uid in self.workspaces() for manifest in self.complete(uid) for each in manifest.volumes}

    def amend(self, uid: str, snapshot_id: str, **changes: Any) -> Manifest:
        """Write down what became of a snapshot since it was saved. Raises NotFound, or OSError and then nothing."""
        with self._changing:
            manifest = self.find(uid, snapshot_id)
            if manifest is None:
                raise NotFound(f"there is no complete snapshot {snapshot_id}")
            amended = replace(manifest, **changes)
            if amended != manifest:
                files.write(self.path(uid, snapshot_id) / NAME, MANIFEST.dump_json(amended))
            return amended

    def misfit(self, manifest: Manifest) -> str:
        """The first file that has another size than the manifest tells, as a sentence; empty if all fit."""
        for name, expected in manifest.files.items():
            try:
                actual = (self.path(manifest.workspace_uid, manifest.id) / name).stat().st_size
            except FileNotFoundError:
                return f"{name} is missing, it should have {expected} bytes"
            if actual != expected:
                return f"{name} has {actual} bytes, it should have {expected} bytes"
        return ""

    def usable(self, uid: str, snapshot_id: str) -> Manifest:
        """The manifest, if no damage is known and every file has its size; contents are not read.

        Raises Missing, or Damaged and then the damage is on record.
        """
        manifest = self.find(uid, snapshot_id)
        if manifest is None:
            raise Missing(f"there is no complete snapshot {snapshot_id}")
        damage = manifest.damage or self.misfit(manifest)
        if damage:
            self.amend(uid, snapshot_id, damage=damage)
            hint = "Choose an older snapshot, or start fresh from the files."
            raise Damaged(f"snapshot {snapshot_id} is damaged: {damage}", hint)
        return manifest

    def retain(self, uid: str, keep: int) -> None:
        """Withdraw all but the newest `keep` (at least one) and the pinned ones. Raises OSError."""
        with self._changing:
            self._withdraw(uid, [manifest.id for manifest in surplus(self.complete(uid), keep)])

    def withdraw(self, uid: str, snapshot_id: str) -> None:
        """Take its name away for good; its bytes go with `sweep`. Nothing happens if it is not there. Raises OSError.

        The name goes first, so that half a snapshot is never found under a good one.
        """
        with self._changing:
            self._withdraw(uid, [snapshot_id])

    def sweep(self, uid: str) -> None:
        """Delete the bytes of what was withdrawn, which can be gigabytes. Raises OSError if some stay."""
        self._remove_all_named(uid, GONE)

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
