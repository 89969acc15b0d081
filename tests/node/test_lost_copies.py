"""A copy that one of the two places has lost: seen before the other one goes, told, and made again."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from intermezzo.domain.keeping import Keeping, Local
from intermezzo.domain.snapshot import FROM_STORE, Place
from intermezzo.node import encrypted, tending
from intermezzo.node.snapshots import Damaged
from intermezzo.node.stores.store import StoreRefused
from node.keeping import CONTENT, URL, Machine, brought, contents_of, mend, tend

STORED = Keeping(URL)
RELEASED = Keeping(URL, Local.RELEASE)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_copy_here_stays_where_the_store_has_lost_its_own_since_it_was_read_back(machine: Machine) -> None:
    machine.saved()
    tend(machine.keeper(STORED))
    machine.snapshots.amend("ws", "one", store_checked_at=time.time_ns() // 1_000_000)
    machine.store.objects.clear()
    machine.store.faults.refuses_writes = True
    with pytest.raises(StoreRefused):
        tend(machine.keeper(RELEASED))
    assert machine.now().places == (Place.NODE,)
    assert machine.files() > set(CONTENT)
    machine.store.faults.refuses_writes = False
    tend(machine.keeper(RELEASED))
    assert machine.now().places == (Place.STORE,)
    assert contents_of(brought(machine, machine.keeper(RELEASED))) == CONTENT


def test_what_the_store_has_lost_is_seen_by_names_and_sent_again(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(STORED)
    tend(keeper)
    del machine.store.objects[next(name for name in machine.store.objects if "pages.img" in name)]
    tending.look_into_store(keeper, machine.now())
    assert machine.now().places == (Place.NODE,)
    tend(keeper)
    assert machine.now().places == (Place.NODE, Place.STORE)
    tending.look_into_store(keeper, machine.now())
    assert machine.now().places == (Place.NODE, Place.STORE)


@pytest.mark.parametrize("how", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x")])
def test_a_resume_that_finds_it_damaged_says_so_for_good_and_has_it_mended(
    machine: Machine, how: Callable[[Path], None]
) -> None:
    machine.saved()
    keeper = machine.keeper(Keeping(URL, encrypts=True))
    tend(keeper)
    how(machine.snapshots.path("ws", "one") / encrypted.NAME / "pages.img.000000.age")
    with pytest.raises(Damaged) as refused:
        brought(machine, keeper)
    assert refused.value.hint == FROM_STORE
    mend(machine, keeper)
    assert contents_of(brought(machine, keeper)) == CONTENT


def test_damage_is_news_once_so_that_looking_at_it_wakes_nobody_again(machine: Machine) -> None:
    machine.saved()
    found = [machine.snapshots.note_damage("ws", "one", damage) for damage in ("gone", "gone", "gone and more")]
    assert found == [True, False, True]
    assert not machine.snapshots.note_damage("ws", "none", "gone")
