"""The agent dies after every single step of keeping, fetching and deleting a snapshot: nothing is lost, nothing stays.

A step is a call that the keeper makes to the snapshots of the node or to the store, as a crash test sees them.
"""

import asyncio
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from intermezzo.domain.keeping import Keeping, Local
from intermezzo.domain.snapshot import Place
from intermezzo.node import mending, removal, tending
from intermezzo.node.bringing import bring
from intermezzo.node.keeper import Keeper
from intermezzo.node.snapshots import Snapshots
from intermezzo.node.space import Space
from intermezzo.node.stores.memory import MemoryStore
from intermezzo.steps import Stepwise
from node.keeping import CONTENT, URL, Machine, brought, contents_of, damaged, tend

WAYS = [Keeping(URL, Local.RELEASE), Keeping(URL, Local.RELEASE, encrypts=True), Keeping(URL, encrypts=True)]
MOST = 200


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is such a place: the process dies here, not the machine."""
    place = Path("/dev/shm")
    if not place.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)


def saved(machine: Machine) -> None:
    machine.saved()


class Died(BaseException):
    """The process is gone."""


class Doomed:
    """An agent on that machine that dies when so many steps are done."""

    def __init__(self, machine: Machine, keeping: Keeping, last: int) -> None:
        self._left, self._stepping = last, threading.Lock()
        snapshots = cast(Snapshots, Stepwise(machine.snapshots, "snapshots", self._passed))
        store = cast(MemoryStore, Stepwise(machine.store, "store", self._passed))
        space = Space(lambda: machine.snapshots.disk, lambda _: machine.free)
        self.keeper = Keeper(snapshots, space, machine.keys, keeping, lambda url: store)

    def _passed(self, step: str) -> None:
        with self._stepping:
            self._left -= 1
            if self._left < 0:
                raise Died

    def does(self, work: Callable[[Keeper], None]) -> bool:
        """Whether it came to the end of its work."""
        ended: list[bool] = []

        def run() -> None:
            try:
                work(self.keeper)
            except Died:
                return
            ended.append(True)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return bool(ended)


def every_death(
    tmp_path: Path, prepare: Callable[[Machine], object], keeping: Keeping, work: Callable[[Keeper], None]
) -> list[Machine]:
    """A machine for each step after which the agent died, and one on which it came to the end."""
    left = []
    for last in range(MOST):
        folder = tmp_path / str(last)
        folder.mkdir()
        machine = Machine(folder)
        prepare(machine)
        over = Doomed(machine, keeping, last).does(work)
        left.append(machine)
        if over:
            return left
    raise AssertionError("it never came to the end")


def in_the_end_only(machine: Machine, keeping: Keeping) -> None:
    """Go on as the next agent does, and look at all there is."""
    tend(machine.keeper(keeping))
    found = machine.now()
    released = keeping.local is Local.RELEASE
    assert found.places == ((Place.STORE,) if released else (Place.NODE, Place.STORE))
    (held,) = machine.keeper(keeping).depot(URL).held()
    assert (held.snapshot_id, held.complete) == ("one", True)
    assert held.bytes - held.manifest_bytes == found.kept_bytes
    folder = machine.snapshots.path("ws", "one")
    lying = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json")
    assert lying == (0 if released else found.kept_bytes)


@pytest.mark.parametrize("keeping", WAYS)
def test_whenever_it_dies_while_it_keeps_one_the_session_can_be_had_back(memory: Path, keeping: Keeping) -> None:
    def keep(keeper: Keeper) -> None:
        tending.tend(keeper, "ws", "one", threading.Event())

    machines = every_death(memory, saved, keeping, keep)
    assert len(machines) > 5
    for machine in machines:
        assert contents_of(brought(machine, machine.keeper(keeping))) == CONTENT
        machine.snapshots.discard_partials("ws")
        in_the_end_only(machine, keeping)


@pytest.mark.parametrize("keeping", WAYS[:2])
def test_whenever_it_dies_while_it_fetches_one_it_is_fetched_again(memory: Path, keeping: Keeping) -> None:
    def keep(machine: Machine) -> None:
        machine.saved()
        tend(machine.keeper(keeping))

    def fetch(keeper: Keeper) -> None:
        aside = keeper.snapshots.partial("ws", "one")
        asyncio.run(bring(keeper, keeper.snapshots.usable("ws", "one"), aside, lambda *_: None))

    for machine in every_death(memory, keep, keeping, fetch):
        assert contents_of(brought(machine, machine.keeper(keeping))) == CONTENT
        machine.snapshots.discard_partials("ws")
        in_the_end_only(machine, keeping)


@pytest.mark.parametrize("keeping", WAYS)
def test_whenever_it_dies_while_it_deletes_them_nothing_stays_anywhere(memory: Path, keeping: Keeping) -> None:
    def keep(machine: Machine) -> None:
        machine.saved()
        machine.saved("two", 2)
        tend(machine.keeper(keeping))

    def remove(keeper: Keeper) -> None:
        removal.remove_all(keeper, "ws")

    for machine in every_death(memory, keep, keeping, remove):
        remove(machine.keeper(keeping))
        assert machine.store.objects == {}
        assert not machine.snapshots.path("ws", "one").parent.exists()
        assert not (machine.folder / "keys" / "ws").exists()


def test_whenever_it_dies_while_it_mends_one_it_is_mended_by_the_next(memory: Path) -> None:
    keeping = Keeping(URL, encrypts=True)

    def mend(keeper: Keeper) -> None:
        found = keeper.snapshots.find("ws", "one")
        if found and mending.is_due(keeper, found):
            mending.mend(keeper, found, threading.Event())

    for machine in every_death(memory, lambda machine: damaged(machine, encrypts=True), keeping, mend):
        mend(machine.keeper(keeping))
        assert contents_of(brought(machine, machine.keeper(keeping))) == CONTENT
        machine.snapshots.discard_partials("ws")
        in_the_end_only(machine, keeping)
