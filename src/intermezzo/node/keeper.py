"""Keeps complete snapshots where they are to be kept: encrypts them, sends them to the store, and lets go of the copy
here once the store is known to have all of it.

What is due is read from the manifest each time. Every step may be cut short at any moment and is gone on with later;
no copy is removed before another one is known to be whole. Nothing here decides which snapshot may go.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.keeping import Keeping, Local
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import Transfer, TransferStep
from intermezzo.node import contents, encrypted, files
from intermezzo.node.keys import Keys
from intermezzo.node.snapshots import Damaged, Snapshots
from intermezzo.node.space import Space
from intermezzo.node.stores.depot import Depot
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.opening import Opener
from intermezzo.node.stores.parallel import Cancelled
from intermezzo.node.turns import Turns

FETCHED = "fetched.new"
FORGOTTEN_S = 86_400.0  # after which nobody goes on with a fetch
SENDING_AT_ONCE = 2


class Keeper:
    """Brings the snapshots of this node into the form and the places that they are to have.

    Its methods block; the thread that calls `tend` keeps the lowest priority for good.
    """

    def __init__(self, snapshots: Snapshots, space: Space, keys: Keys, keeping: Keeping, opened: Opener) -> None:
        self.snapshots = snapshots
        self.space = space
        self.keys = keys
        self.keeping = keeping
        self._opened = opened
        self._depots: dict[str, Depot] = {}
        self._turns = Turns(SENDING_AT_ONCE)
        self._locks: dict[str, threading.Lock] = {}
        self._using: Counter[tuple[str, str]] = Counter()
        self._committing = threading.Lock()
        self._transfers: dict[tuple[str, str], tuple[Meter, str]] = {}

    def depot(self, url: str) -> Depot:
        """The store at an address. Raises InvalidInput for one that is none."""
        if url not in self._depots:
            self._depots[url] = Depot(self._opened(url))
        return self._depots[url]

    def transfers(self, uid: str) -> tuple[Transfer, ...]:
        """What is being done with a workspace's snapshots, and what stands still and why."""
        found = dict(self._transfers)
        return tuple(meter.reading(trouble) for (whose, _), (meter, trouble) in sorted(found.items()) if whose == uid)

    @contextmanager
    def using(self, uid: str, snapshot_id: str) -> Iterator[None]:
        """Its files stay as and where they are meanwhile; who is changing them has ended, or gives up."""
        with self._committing:
            self._using[uid, snapshot_id] += 1
        try:
            yield
        finally:
            with self._committing:
                self._using[uid, snapshot_id] -= 1

    def used(self, uid: str, snapshot_id: str = "") -> bool:
        """Whether somebody is reading the files of that snapshot of a workspace, or of any where none is named."""
        using = dict(self._using)
        return any(count and whose == uid and snapshot_id in {"", each} for (whose, each), count in using.items())

    @contextmanager
    def at_rest(self, uid: str) -> Iterator[None]:
        """Nothing of a workspace's is on its way to a store meanwhile; waits for what is to end or give up."""
        with self._lock(uid):
            yield

    @contextmanager
    def fetching(self, uid: str, snapshot_id: str) -> Iterator[None]:
        """Nobody else fetches it meanwhile."""
        with self._lock(f"{uid}/{snapshot_id}"):
            yield

    def forget(self, uid: str, snapshot_id: str) -> None:
        """It is gone: nothing is told of it any more."""
        self._transfers.pop((uid, snapshot_id), None)

    def is_due(self, manifest: Manifest) -> bool:
        """Whether there is anything to do for a snapshot, once its checksums are there."""
        return not manifest.damage and (bool(self._leftovers(manifest)) or self._step(manifest) is not None)

    def tend(self, uid: str, snapshot_id: str, cancelled: threading.Event) -> None:
        """Do all that is due for one snapshot, unless cancelled. Raises OSError or IntermezzoError, and then what is
        wrong is told in `transfers` until it goes on."""
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), contents.LOWEST_PRIORITY)
        try:
            with self._lock(uid), self._turns.one(cancelled):
                while (manifest := self.snapshots.find(uid, snapshot_id)) and self._go_on(manifest, cancelled):
                    pass
        except Cancelled:
            return

    def _go_on(self, manifest: Manifest, cancelled: threading.Event) -> bool:
        """One step; whether there may be another."""
        if (
            manifest.damage
            or not manifest.checksums
            or not self.snapshots.believed(manifest.workspace_uid, manifest.id)
        ):
            return False
        if self._leftovers(manifest):
            self.commit(manifest, cancelled, lambda: self._remove(manifest, self._leftovers(manifest)))
        step = self._step(manifest)
        if step is not None:
            step(manifest, cancelled)
        return step is not None

    def _step(self, manifest: Manifest) -> "Callable[[Manifest, threading.Event], None] | None":
        store = self.keeping.store
        if self.keeping.encrypts and manifest.here and not manifest.encrypted_bytes and manifest.bytes:
            return self._encrypt
        if store and manifest.here and not manifest.stored_at:
            return self._send
        if store and manifest.here and manifest.stored_at and self.keeping.local is Local.RELEASE:
            return self._release
        return None

    def _encrypt(self, manifest: Manifest, cancelled: threading.Event) -> None:
        uid, folder = manifest.workspace_uid, self._folder(manifest)
        with self.metered(manifest, TransferStep.ENCRYPTING, manifest.bytes) as meter:
            aside = folder / encrypted.ASIDE
            hint = "Free some space: it stays as it is until then."
            with self.space.promised("encrypting a snapshot", manifest.bytes, aside, hint):
                size = encrypted.encrypt(folder, manifest.files, self.keys.ensure(uid), meter, cancelled)

            def settle() -> None:
                # What a store has of it in the clear does not count any more, and is replaced.
                held = self.snapshots.amend(uid, manifest.id, encrypted_bytes=size, stored_at=0, store_checked_at=0)
                self._remove(held, self._leftovers(held))

            self.commit(manifest, cancelled, settle)

    def _send(self, manifest: Manifest, cancelled: threading.Event) -> None:
        uid, url = manifest.workspace_uid, self.keeping.store
        with self.metered(manifest, TransferStep.SENDING, manifest.kept_bytes) as meter:
            if manifest.stored_in not in {"", url}:
                self.depot(manifest.stored_in).sweep(uid, manifest.id)
            # Whoever deletes it must know where to look, from before the first byte has gone.
            manifest = self.snapshots.amend(uid, manifest.id, stored_in=url)
            folder, sizes = self.form(manifest)
            # Names of a user's files, and what would show that a content is a certain one, are for this node alone.
            sent = replace(manifest, stored_at=_now(), held=(), checksums={})
            self.depot(url).send(sent, folder, sizes, meter, cancelled)
            self.snapshots.amend(uid, manifest.id, stored_at=sent.stored_at)

    def _release(self, manifest: Manifest, cancelled: threading.Event) -> None:
        if not manifest.store_checked_at:
            self._check(manifest, cancelled)

        def let_go() -> None:
            held = self.snapshots.amend(manifest.workspace_uid, manifest.id, here=False)
            self._remove(held, self._leftovers(held))

        self.commit(manifest, cancelled, let_go)

    def _check(self, manifest: Manifest, cancelled: threading.Event) -> None:
        """Read back all that the store has. Raises Damaged if that is not what was sent, and then it is sent anew."""
        uid, depot = manifest.workspace_uid, self.depot(manifest.stored_in)
        with self.metered(manifest, TransferStep.CHECKING, manifest.kept_bytes) as meter:
            if wrong := depot.damage(uid, manifest.id, meter, cancelled):
                self.snapshots.amend(uid, manifest.id, stored_at=0)
                depot.sweep(uid, manifest.id)
                raise Damaged(f"the store's copy is not what was sent, and is sent again: {wrong}")
            self.snapshots.amend(uid, manifest.id, store_checked_at=_now())

    def commit(self, manifest: Manifest, cancelled: threading.Event, change: Callable[[], None]) -> None:
        """Change which files hold, unless somebody has begun to use them."""
        with self._committing:
            if cancelled.is_set() or self._using[manifest.workspace_uid, manifest.id]:
                raise Cancelled
            change()

    def form(self, manifest: Manifest) -> tuple[Path, dict[str, int]]:
        """Where the files lie that hold now, with their sizes."""
        folder = self._folder(manifest)
        if not manifest.encrypted_bytes:
            return folder, manifest.files
        below = folder / encrypted.NAME
        return below, {path.name: path.stat().st_size for path in below.iterdir()}

    def _leftovers(self, manifest: Manifest) -> list[Path]:
        """Files of a form or a copy that does not hold any more."""
        folder = self._folder(manifest)
        plain = [folder / name for name in manifest.files] if manifest.encrypted_bytes or not manifest.here else []
        sealed = [folder / encrypted.NAME, folder / encrypted.ASIDE] if not manifest.here else []
        fetched = [folder / FETCHED] if manifest.here or _is_older(folder / FETCHED, FORGOTTEN_S) else []
        return [path for path in (*plain, *sealed, *fetched) if path.exists()]

    def _remove(self, manifest: Manifest, leftovers: list[Path]) -> None:
        for path in leftovers:
            files.remove_tree(path) if path.is_dir() else path.unlink(missing_ok=True)
        files.sync(self._folder(manifest))

    def _lock(self, name: str) -> threading.Lock:
        with self._committing:
            return self._locks.setdefault(name, threading.Lock())

    def _folder(self, manifest: Manifest) -> Path:
        return self.snapshots.path(manifest.workspace_uid, manifest.id)

    @contextmanager
    def metered(self, manifest: Manifest, step: TransferStep, total: int) -> Iterator[Meter]:
        """Told of in `transfers` while it goes on, and afterwards if it failed."""
        key, meter = (manifest.workspace_uid, manifest.id), Meter(manifest.id, step, total)
        self._transfers[key] = meter, ""
        try:
            yield meter
        except (IntermezzoError, OSError) as error:
            trouble = error.message if isinstance(error, IntermezzoError) else f"{error.strerror or error}"
            self._transfers[key] = meter, trouble
            raise
        except Cancelled:
            del self._transfers[key]
            raise
        del self._transfers[key]


def _now() -> int:
    return time.time_ns() // 1_000_000


def _is_older(path: Path, seconds: float) -> bool:
    try:
        return time.time() - path.stat().st_mtime > seconds
    except FileNotFoundError:
        return False
