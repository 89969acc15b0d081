"""What keeping costs: a snapshot encrypted, sent to a store, fetched and decrypted, each beside the one reading of all
of it that every resume does anyway. No session and no engine: only the node agent's own code on real files.

All of it but the decryption and the fetch happens once the capacity is free.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from intermezzo.domain.keeping import Keeping, Local
from intermezzo.domain.snapshot import Manifest
from intermezzo.node import checksums, contents
from intermezzo.node.bringing import bring
from intermezzo.node.contents import Pace
from intermezzo.node.keeper import Keeper
from intermezzo.node.keys import Keys
from intermezzo.node.snapshots import Snapshots
from intermezzo.node.space import Space
from intermezzo.node.stores.opening import opened
from intermezzo.node.tending import tend

CHUNK = 4 << 20


def measure(scratch: Path, megabytes: int) -> dict[str, Any]:
    """Seconds for each step, with a snapshot of random bytes of that size."""
    snapshots = Snapshots(scratch / "snapshots")
    (scratch / "store").mkdir(parents=True)
    url = (scratch / "store").as_uri()
    manifest = _saved(snapshots, megabytes)
    folder = snapshots.path("ws", "one")
    compared = _timed(lambda: _in_a_thread(lambda: contents.damage(folder, manifest, threading.Event(), Pace.EAGER)))
    encrypting = _keeper(snapshots, scratch, Keeping(encrypts=True))
    encrypted = _timed(lambda: _tend(encrypting))
    decrypted = _timed(lambda: _brought(encrypting, scratch))
    sent = _timed(lambda: _tend(_keeper(snapshots, scratch, Keeping(url))))
    releasing = _keeper(snapshots, scratch, Keeping(url, Local.RELEASE))
    read_back = _timed(lambda: _tend(releasing))
    fetched = _timed(lambda: _brought(releasing, scratch))
    return {
        "megabytes": megabytes,
        "compared_s": compared,
        "encrypted_s": encrypted,
        "decrypted_s": decrypted,
        "sent_s": sent,
        "read_back_s": read_back,
        "fetched_and_decrypted_s": fetched,
        "decrypting_by_comparing": round(decrypted / compared, 2),
        "processors": len(os.sched_getaffinity(0)),
    }


def row(found: dict[str, Any]) -> str:
    """One line for people."""
    size = found["megabytes"]
    rates = ", ".join(
        f"{name.removesuffix('_s').replace('_', ' ')} {found[name]:.2f} s ({size / found[name]:.0f} MB/s)"
        for name in found
        if name.endswith("_s")
    )
    return f"{size} MB: {rates}. Decrypting takes {found['decrypting_by_comparing']} times as long as comparing."


def _saved(snapshots: Snapshots, megabytes: int) -> Manifest:
    with (snapshots.begin("ws", "one") / "pages.img").open("wb") as file:
        for _ in range(megabytes * 10**6 // CHUNK):
            file.write(os.urandom(CHUNK))
    manifest = snapshots.commit(Manifest("one", "ws", "operation", 1, 0))
    _in_a_thread(lambda: checksums.reckon(snapshots, manifest, threading.Event()))
    found = snapshots.find("ws", "one")
    assert found is not None
    assert found.checksums
    return found


def _keeper(snapshots: Snapshots, scratch: Path, keeping: Keeping) -> Keeper:
    space = Space(lambda: snapshots.disk)
    return Keeper(snapshots, space, Keys(scratch / "keys"), keeping, lambda url: opened(url, 60))


def _tend(keeper: Keeper) -> None:
    _in_a_thread(lambda: tend(keeper, "ws", "one", threading.Event()))


def _brought(keeper: Keeper, scratch: Path) -> None:
    manifest = keeper.snapshots.usable("ws", "one")
    asyncio.run(bring(keeper, manifest, scratch / "aside", lambda *_: None))


def _timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return round(time.monotonic() - began, 3)


def _in_a_thread(work: Callable[[], object]) -> None:
    """Such work lowers the priority of its thread for good."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
