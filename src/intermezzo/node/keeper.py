"""What all work on complete snapshots has in common: where they are kept, whose turn it is, who is using what, and how
far it is. It does none of that work itself, and knows nothing that the disk and the store do not know better.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.keeping import Keeping
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import Transfer, TransferStep
from intermezzo.node.keys import Keys
from intermezzo.node.snapshots import Snapshots
from intermezzo.node.space import Space
from intermezzo.node.stores.depot import Depot
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.opening import Opener
from intermezzo.node.stores.parallel import Cancelled
from intermezzo.node.turns import Turns

SENDING_AT_ONCE = 2


class Keeper:
    """The snapshots of this node, and the stores that they are kept in. Used from many threads; its methods block."""

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
            self._depots[url] = Depot(self._opened(url), seal=self.snapshots.seal)
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
    def turn(self, uid: str, cancelled: threading.Event) -> Iterator[None]:
        """The work on one workspace at a time, and on a few of all of them. Raises Cancelled."""
        with self._lock(uid), self._turns.one(cancelled):
            yield

    @contextmanager
    def fetching(self, uid: str, snapshot_id: str) -> Iterator[None]:
        """Nobody else fetches it meanwhile."""
        with self._lock(f"{uid}/{snapshot_id}"):
            yield

    def forget(self, uid: str, snapshot_id: str) -> None:
        """It is gone: nothing is told of it any more."""
        self._transfers.pop((uid, snapshot_id), None)

    def commit(self, manifest: Manifest, cancelled: threading.Event, **changes: Any) -> None:
        """Write down which files of it hold from now on. Raises Cancelled where somebody has begun to use them."""
        with self._committing:
            if cancelled.is_set() or self._using[manifest.workspace_uid, manifest.id]:
                raise Cancelled
            self.snapshots.amend(manifest.workspace_uid, manifest.id, **changes)

    def _lock(self, name: str) -> threading.Lock:
        with self._committing:
            return self._locks.setdefault(name, threading.Lock())

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
