"""A node that keeps snapshots, without an agent and an engine; what tests of that do again and again."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.keeping import Keeping
from intermezzo.domain.snapshot import Manifest
from intermezzo.node import checksums, encrypted, inspection, mending, tending
from intermezzo.node.bringing import Brought, bring
from intermezzo.node.keeper import Keeper
from intermezzo.node.keys import Keys
from intermezzo.node.seal import Seal
from intermezzo.node.snapshots import Snapshots
from intermezzo.node.space import Space
from intermezzo.node.stores.memory import MemoryStore

URL = "s3://bucket/prefix"
CONTENT = {"checkpoint.img": b"memory" * 1000, "pages.img": b"S3CRET" * 500}
PLENTY = 1 << 40


class Machine:
    """A node's snapshots, and a store whose contents outlive every keeper."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = MemoryStore(URL)
        self.free = PLENTY
        self.snapshots = Snapshots(folder / "snapshots", Seal(b"a key of this machine's"))
        self.keys = Keys(folder / "keys")

    def keeper(self, keeping: Keeping) -> Keeper:
        """One that knows nothing but what lies there, as after a restart."""
        space = Space(lambda: self.snapshots.disk, lambda _: self.free)
        return Keeper(self.snapshots, space, self.keys, keeping, lambda url: self.store)

    def saved(self, name: str = "one", at: int = 1) -> Manifest:
        """A complete snapshot with checksums."""
        folder = self.snapshots.begin("ws", name)
        for file, content in CONTENT.items():
            (folder / file).write_bytes(content)
        manifest = self.snapshots.commit(Manifest(name, "ws", "operation", at, 0))
        in_a_thread_of_its_own(lambda: checksums.reckon(self.snapshots, manifest, threading.Event()))
        return self.now(name)

    def now(self, name: str = "one") -> Manifest:
        found = self.snapshots.find("ws", name)
        assert found and not found.damage
        return found

    def files(self, name: str = "one") -> set[str]:
        folder = self.snapshots.path("ws", name)
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def tend(keeper: Keeper, name: str = "one", cancelled: threading.Event | None = None) -> None:
    in_a_thread_of_its_own(lambda: tending.tend(keeper, "ws", name, cancelled or threading.Event()))


def brought(machine: Machine, keeper: Keeper, told: list[str] | None = None) -> Brought:
    aside = machine.snapshots.partial("ws", "one")
    progress = (lambda step, done, total: told.append(step)) if told is not None else (lambda *_: None)
    return asyncio.run(bring(keeper, machine.snapshots.usable("ws", "one"), aside, progress))


async def restorable(machine: Machine, keeper: Keeper) -> None:
    """All that a resume looks at before it restores."""
    aside = machine.snapshots.partial("ws", "one")
    found = await bring(keeper, machine.snapshots.usable("ws", "one"), aside, lambda *_: None)
    await inspection.require_whole(machine.snapshots, found.manifest, lambda *_: None, found.folder)


def contents_of(found: Brought) -> dict[str, bytes]:
    return {name: (found.folder / name).read_bytes() for name in found.manifest.files}


def in_a_thread_of_its_own(work: Callable[[], None]) -> None:
    """A thread's priority falls for good, so it gets one of its own; what it raises is raised here."""
    errors: list[Exception] = []

    def run() -> None:
        try:
            work()
        except (IntermezzoError, OSError) as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def damaged(machine: Machine, *, encrypts: bool) -> Keeper:
    """A keeper that has sent a snapshot of which a byte here was changed since, as is known."""
    machine.saved()
    keeper = machine.keeper(Keeping(URL, encrypts=encrypts))
    tend(keeper)
    folder = machine.snapshots.path("ws", "one")
    file = folder / encrypted.NAME / "pages.img.000000.age" if encrypts else folder / "pages.img"
    content = file.read_bytes()
    file.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    machine.snapshots.amend("ws", "one", damage="the content of pages.img is not what was saved")
    return keeper


def mend(machine: Machine, keeper: Keeper) -> None:
    manifest = machine.snapshots.find("ws", "one")
    assert manifest and mending.is_due(keeper, manifest)
    in_a_thread_of_its_own(lambda: mending.mend(keeper, manifest, threading.Event()))
