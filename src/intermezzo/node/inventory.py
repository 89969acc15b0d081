"""Counts what lies where this node keeps snapshots and volumes, and clears away what it is told is nobody's.

It reads sizes and no contents, follows no link, and judges nobody: whose a thing is, only the records can tell. It
deletes nothing that it is working with, no volume, and nothing that it did not make.
"""

import contextlib
import os
import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from intermezzo.domain.errors import Conflict, EngineFailure, InvalidInput
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.storage import StorageItem, What
from intermezzo.node import files, manifests, removal
from intermezzo.node.identifiers import IDENTIFIER
from intermezzo.node.keeper import Keeper
from intermezzo.node.snapshots import GONE, PARTIAL
from intermezzo.node.stores.depot import Held
from intermezzo.node.stores.store import StoreTrouble
from intermezzo.node.volumes import Volumes

SETTLED_S = 60.0  # a file that changed less long ago may be one that is just being replaced


class Inventory:
    """What there is on the disks of one node."""

    def __init__(self, node: str, keeper: Keeper, volumes: Volumes) -> None:
        self._node = node
        self._keeper = keeper
        self._snapshots = keeper.snapshots
        self._volumes = volumes

    def items(self, known_volumes: Collection[str], working: Collection[str]) -> list[StorageItem]:
        """Everything, of volumes only those that are not known; `working` are uids of the workspaces that the node is
        doing something for. Raises OSError."""
        found = [*self._of_snapshots(), *self._of_stores(), *self._of_volumes(known_volumes)]
        return [replace(item, in_use=item.in_use or item.workspace_uid in working) for item in found]

    def clear(self, item: StorageItem) -> None:
        """Delete one, its name first. Nothing happens if it is not there. Raises InvalidInput for what is never
        cleared, Conflict for what is not what it was taken for, EngineFailure or OSError if some of it stays."""
        uid, id_ = item.workspace_uid, item.id
        folder = self._snapshots.disk / uid
        match item.what:
            case What.SNAPSHOT:
                self._snapshots.withdraw(uid, id_)
                removal.sweep(self._keeper, uid)
            case What.WITHDRAWN:
                removal.sweep(self._keeper, uid)
            case What.PARTIAL:
                files.remove_tree(self._snapshots.partial(uid, id_))
            case What.EXTRA_FILE:
                self._remove_extra(uid, id_, item.file)
            case What.VOLUME | What.FOREIGN | What.SILENT:
                raise InvalidInput("this is never cleared away", "Look at it, and delete it by hand.")
        if any(left.key == item.key for left in self._of_snapshots()):
            raise EngineFailure(f"{id_} could not be deleted", "See the node's log.")
        with contextlib.suppress(OSError):  # others of the workspace may lie beside it
            folder.rmdir()

    def _of_snapshots(self) -> Iterator[StorageItem]:
        for folder in _folders(self._snapshots.disk):
            if not IDENTIFIER.fullmatch(folder.name) or not folder.is_dir(follow_symlinks=False):
                yield self._item(What.FOREIGN, "", folder.name, _size(Path(folder)))
                continue
            for entry in _folders(Path(folder)):
                yield from self._of_one(folder.name, entry)

    def _of_one(self, uid: str, entry: os.DirEntry[str]) -> Iterator[StorageItem]:
        path = Path(entry)
        id_, suffix = _parted(entry.name)
        if not IDENTIFIER.fullmatch(id_) or not entry.is_dir(follow_symlinks=False):
            yield self._item(What.FOREIGN, uid, entry.name, _size(path))
        elif suffix == PARTIAL:
            yield self._item(What.PARTIAL, uid, id_, _size(path))
        elif suffix == GONE:
            yield self._item(What.WITHDRAWN, uid, id_, _size(path))
        elif (manifest := self._snapshots.find(uid, id_)) is not None:
            yield from self._of_manifest(path, manifest)

    def _of_manifest(self, path: Path, manifest: Manifest) -> Iterator[StorageItem]:
        uid, id_ = manifest.workspace_uid, manifest.id
        entries = [entry for entry in _folders(path) if entry.name != manifests.NAME]
        own = sum(_size(Path(entry)) for entry in entries if _holds(entry, manifest))
        listed = manifest.kept_bytes if manifest.here else 0
        yield replace(self._item(What.SNAPSHOT, uid, id_, own), listed_bytes=listed)
        for entry in entries:
            if not _holds(entry, manifest):
                item = self._item(What.EXTRA_FILE, uid, id_, _size(Path(entry)))
                # What has another form of the same contents comes and goes with the work on that.
                form = entry.is_dir(follow_symlinks=False) or entry.name in manifest.files
                yield replace(item, file=entry.name, in_use=form or _is_fresh(Path(entry)))

    def _of_stores(self) -> Iterator[StorageItem]:
        """What stores have. A snapshot is ours there only if this node has a trace of it: another installation may have
        been given the same address."""
        here = {
            (m.workspace_uid, m.id): m for uid in self._snapshots.workspaces() for m in self._snapshots.complete(uid)
        }
        for url in sorted({self._keeper.keeping.store, *(manifest.stored_in for manifest in here.values())} - {""}):
            try:
                held = self._keeper.depot(url).held()
            except StoreTrouble:
                yield StorageItem(url, What.SILENT, "", "", 0)
                continue
            for each in held:
                yield self._of_store(url, each, here.get((each.workspace_uid, each.snapshot_id)))
            there = {(each.workspace_uid, each.snapshot_id) for each in held}
            for uid, id_ in here.keys() - there:
                manifest = self._snapshots.find(uid, id_)  # it may have been deleted since
                if manifest is not None and manifest.stored_at and manifest.stored_in == url:
                    yield StorageItem(url, What.SNAPSHOT, uid, id_, 0, manifest.kept_bytes)

    def _of_store(self, url: str, held: Held, manifest: Manifest | None) -> StorageItem:
        uid, id_, size = held.workspace_uid, held.snapshot_id, held.bytes - held.manifest_bytes
        if manifest is not None and manifest.stored_at and manifest.stored_in == url:
            return StorageItem(url, What.SNAPSHOT, uid, id_, size, manifest.kept_bytes)
        if manifest is not None:  # it is being sent, or a store that was in use before is being left
            return StorageItem(url, What.PARTIAL, uid, id_, size, in_use=True)
        going = id_ in self._snapshots.leaving(uid)
        return StorageItem(url, What.WITHDRAWN if going else What.FOREIGN, uid, id_, size)

    def _of_volumes(self, known: Collection[str]) -> Iterator[StorageItem]:
        for volume_id in self._volumes.ids():
            if volume_id not in known:
                yield self._item(What.VOLUME, "", volume_id, _size(self._volumes.path(volume_id)))

    def _remove_extra(self, uid: str, id_: str, name: str) -> None:
        """Raises Conflict if the snapshot needs a file of that name."""
        manifest = self._snapshots.find(uid, id_)
        for entry in _folders(self._snapshots.path(uid, id_)):
            if entry.name == name:
                if manifest is None or not _is_extra(entry, manifest):
                    raise Conflict(f"{name!r} is not an extra file of snapshot {id_}")
                Path(entry).unlink(missing_ok=True)

    def _item(self, what: What, uid: str, id_: str, size: int) -> StorageItem:
        return StorageItem(self._node, what, uid, id_, size)


def _holds(entry: os.DirEntry[str], manifest: Manifest) -> bool:
    """Whether it is of the form that the snapshot has now: its files as they were saved, or a folder of encrypted ones.
    Where the manifest cannot be believed, nobody can say."""
    if not manifest.files:
        return True
    encrypted = manifest.kept_bytes != manifest.bytes
    if entry.is_dir(follow_symlinks=False):
        return manifest.here and encrypted and "." not in entry.name
    return manifest.here and not encrypted and entry.name in manifest.files


def _is_extra(entry: os.DirEntry[str], manifest: Manifest) -> bool:
    known = {*manifest.files, manifests.NAME}
    return bool(manifest.files) and entry.name not in known and not entry.is_dir(follow_symlinks=False)


def _parted(name: str) -> tuple[str, str]:
    suffix = next((each for each in (PARTIAL, GONE) if name.endswith(each)), "")
    return name.removesuffix(suffix), suffix


def _is_fresh(path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return time.time() - path.lstat().st_mtime < SETTLED_S
    return True


def _folders(path: Path) -> list[os.DirEntry[str]]:
    """What is directly in a directory, by name; nothing if it is gone."""
    with contextlib.suppress(FileNotFoundError), os.scandir(path) as entries:
        return sorted(entries, key=lambda entry: entry.name)
    return []


def _size(path: Path) -> int:
    """Bytes of all files there, without following a link. Files may vanish meanwhile."""
    total = 0
    with contextlib.suppress(FileNotFoundError):
        if not path.is_dir() or path.is_symlink():
            return path.lstat().st_size
        for folder, _, names in os.walk(path):
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    total += (Path(folder) / name).lstat().st_size
    return total
