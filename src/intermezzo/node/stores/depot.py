"""Snapshots in a store: listed only when complete, sent part by part so that a broken upload goes on where it was, and
deleted name first.

It never decides what is to be sent or deleted, and believes nothing that a store gives before it has compared it.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from intermezzo.domain.snapshot import Manifest
from intermezzo.node import files as durable
from intermezzo.node.seal import Seal
from intermezzo.node.snapshots import Damaged
from intermezzo.node.stores import deposit as documents
from intermezzo.node.stores import slices
from intermezzo.node.stores.deposit import PART_BYTES, Deposit, Part, part_name
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.parallel import each
from intermezzo.node.stores.slices import Slice
from intermezzo.node.stores.store import Absent, ObjectStore, refused

HINT = "Choose another snapshot, or start fresh from the files."


@dataclass(frozen=True, slots=True)
class Held:
    """What a store has of one snapshot: all bytes below its name, whether or not it is complete. `manifest_bytes` are
    those of them that are its manifest."""

    workspace_uid: str
    snapshot_id: str
    bytes: int
    objects: int
    complete: bool
    manifest_bytes: int = 0


class Depot:
    """The snapshots in one store. Every method raises StoreSilent or StoreRefused."""

    def __init__(self, store: ObjectStore, part_bytes: int = PART_BYTES, seal: Seal | None = None) -> None:
        self._store = store
        self._part_bytes = part_bytes
        self._seal = seal or Seal()

    @property
    def url(self) -> str:
        """The store's address; it holds no credential."""
        return self._store.url

    def find(self, uid: str, snapshot_id: str) -> Deposit | None:
        """A complete snapshot. Raises Damaged if what it says of itself makes no sense."""
        try:
            return documents.read(self._store.get(f"{uid}/{snapshot_id}/{documents.NAME}"), self._seal)
        except Absent:
            return None
        except ValueError as error:
            raise Damaged(f"snapshot {snapshot_id} in {self.url} is damaged: its manifest is none", HINT) from error

    def complete(self, uid: str) -> list[str]:
        """The ids of a workspace's complete snapshots."""
        return [held.snapshot_id for held in self.held(uid) if held.complete]

    def held(self, uid: str = "") -> list[Held]:
        """What there is of every snapshot of a workspace, or of all workspaces, counted from a listing."""
        found: dict[tuple[str, str], Held] = {}
        for stored in self._store.list(uid):
            above, snapshot_id, rest = (*stored.name.split("/", 2), "", "")[:3]
            before = found.get((above, snapshot_id), Held(above, snapshot_id, 0, 0, False))
            found[above, snapshot_id] = replace(
                before,
                bytes=before.bytes + stored.bytes,
                objects=before.objects + 1,
                complete=before.complete or rest == documents.NAME,
                manifest_bytes=stored.bytes if rest == documents.NAME else before.manifest_bytes,
            )
        return sorted(found.values(), key=lambda held: (held.workspace_uid, held.snapshot_id))

    def send(
        self, manifest: Manifest, folder: Path, sizes: Mapping[str, int], meter: Meter, cancelled: threading.Event
    ) -> Deposit:
        """Send the files of a snapshot, each of the size given, but for the parts that are there already.

        The manifest is sent when all of them are there in their sizes. Raises Cancelled, Damaged, OSError.
        """
        base = f"{manifest.workspace_uid}/{manifest.id}"
        there = self._sizes(base)

        def send_one(part: Slice) -> Part:
            content = slices.read(folder, part)
            if len(content) != part.bytes:
                raise Damaged(f"{part.file} of snapshot {manifest.id} is shorter than it should be", HINT)
            said = documents.part(content)
            name = part_name(part.file, part.number, said)
            if there.get(name) == part.bytes:
                meter.found(part.bytes)
            else:
                self._store.put(f"{base}/{name}", content)
                meter.moved(part.bytes)
            return said

        cuts = slices.cut(sizes, self._part_bytes)
        parts: dict[str, list[Part]] = {name: [] for name in sizes}
        for cut, said in zip(cuts, each(send_one, cuts, cancelled), strict=True):
            parts[cut.file].append(said)
        deposit = Deposit(manifest, {name: tuple(said) for name, said in parts.items()})
        there = self._sizes(base)
        if short := [name for name, size in deposit.objects().items() if there.get(name) != size]:
            raise refused(
                self.url,
                f"to keep all of snapshot {manifest.id}, of which {len(short)} parts are not as they were sent",
            )
        self._store.put(f"{base}/{documents.NAME}", documents.dump(deposit, self._seal))
        if stale := there.keys() - deposit.objects().keys() - {documents.NAME}:
            self._store.delete([f"{base}/{name}" for name in sorted(stale)])
        return deposit

    def fetch(
        self,
        uid: str,
        snapshot_id: str,
        aside: Path,
        meter: Meter,
        cancelled: threading.Event,
        accept: Callable[[Deposit], None] = lambda _: None,
    ) -> Deposit:
        """Bring the files of a snapshot into a folder, durably, but for the parts that lie there already. `accept`
        looks at what the store says of it before anything is made, and raises where that is not to be fetched.

        Raises Absent, Cancelled, Damaged for anything that is not what was sent, OSError.
        """
        deposit = self._require(uid, snapshot_id)
        accept(deposit)
        aside.mkdir(mode=0o700, parents=True, exist_ok=True)
        sizes = {name: sum(part.bytes for part in parts) for name, parts in deposit.files.items()}
        begun = {name: _prepare(aside / name, size) for name, size in sizes.items()}

        def fetch_one(part: Slice) -> None:
            said = deposit.files[part.file][part.number]
            if begun[part.file] and documents.part(slices.read(aside, part)) == said:
                meter.found(part.bytes)
                return
            slices.write(aside, part, self._part(deposit, part))
            meter.moved(part.bytes)

        each(fetch_one, _cuts(deposit), cancelled)
        for name in sizes:
            durable.sync(aside / name)
        durable.sync(aside)
        return deposit

    def damage(
        self,
        uid: str,
        snapshot_id: str,
        meter: Meter,
        cancelled: threading.Event,
        accept: Callable[[Deposit], None] = lambda _: None,
    ) -> str:
        """Read every byte of a snapshot back: what is wrong with it as a sentence, empty if it is whole. `accept` as in
        `fetch`.

        Raises Cancelled.
        """
        try:
            deposit = self._require(uid, snapshot_id)
            accept(deposit)

            def look_at(part: Slice) -> None:
                self._part(deposit, part)
                meter.moved(part.bytes)

            each(look_at, _cuts(deposit), cancelled)
        except (Absent, Damaged) as error:
            return error.message
        return ""

    def has_all(self, uid: str, snapshot_id: str) -> bool:
        """Whether all of a snapshot is there, by names and sizes alone."""
        try:
            deposit = self._require(uid, snapshot_id)
        except (Absent, Damaged):
            return False
        there = self._sizes(f"{uid}/{snapshot_id}")
        return all(there.get(name) == size for name, size in deposit.objects().items())

    def withdraw(self, uid: str, snapshot_id: str) -> None:
        """Take its name away: from now on it is not listed. Nothing happens if it is not there."""
        self._store.delete([f"{uid}/{snapshot_id}/{documents.NAME}"])

    def sweep(self, uid: str, snapshot_id: str) -> None:
        """Delete all there is of a snapshot, its name first, and see that nothing is left."""
        self.withdraw(uid, snapshot_id)
        base = f"{uid}/{snapshot_id}"
        if found := self._store.list(base):
            self._store.delete([stored.name for stored in found])
            if left := self._store.list(base):
                raise refused(self.url, f"to delete {len(left)} objects of snapshot {snapshot_id}")

    def _sizes(self, base: str) -> dict[str, int]:
        return {stored.name.removeprefix(f"{base}/"): stored.bytes for stored in self._store.list(base)}

    def _require(self, uid: str, snapshot_id: str) -> Deposit:
        found = self.find(uid, snapshot_id)
        if found is None:
            raise Absent(f"there is no complete snapshot {snapshot_id} in {self.url}", HINT)
        return found

    def _part(self, deposit: Deposit, part: Slice) -> bytes:
        """The content of a part, and only if it is what was sent."""
        manifest, said = deposit.manifest, deposit.files[part.file][part.number]
        name = part_name(part.file, part.number, said)
        try:
            content = self._store.get(f"{manifest.workspace_uid}/{manifest.id}/{name}")
        except Absent:
            raise Damaged(f"a part of {part.file} of snapshot {manifest.id} is missing in {self.url}", HINT) from None
        if documents.part(content) != said:
            wrong = f"a part of {part.file} of snapshot {manifest.id} in {self.url} is not what was sent"
            raise Damaged(wrong, HINT)
        return content


def _cuts(deposit: Deposit) -> list[Slice]:
    """As they were sent, whatever size of parts is sent now."""
    found = []
    for name, parts in sorted(deposit.files.items()):
        offset = 0
        for number, part in enumerate(parts):
            found.append(Slice(name, number, offset, part.bytes))
            offset += part.bytes
    return found


def _prepare(path: Path, size: int) -> bool:
    """A file of that size to write parts into; whether something of it was there already."""
    begun = path.exists()
    path.touch(mode=0o600)
    if path.stat().st_size != size:
        with path.open("r+b") as file:
            file.truncate(size)
    return begun
