"""A node that has lost its disk for snapshots, and a store that has them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from intermezzo.domain.held import HeldFile, Standing
from intermezzo.domain.keeping import Keeping, Local
from intermezzo.domain.snapshot import FROM_STORE, Place
from intermezzo.node import contents, files
from intermezzo.node.seal import Seal
from intermezzo.node.snapshots import Damaged, Snapshots
from intermezzo.node.stores.deposit import part
from intermezzo.node.stores.memory import MemoryStore
from intermezzo.node.stores.store import StoreSilent
from intermezzo.node.taking_up import take_up
from node.keeping import CONTENT, URL, Machine, brought, contents_of, mend, restorable, tend

STORED = Keeping(URL)
OPEN = HeldFile("volume", "/home/jovyan/", "a.txt", Standing(1, 1, 1))
FORMS = [Keeping(URL), Keeping(URL, encrypts=True), Keeping(URL, Local.RELEASE)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def sent(machine: Machine, keeping: Keeping = STORED, *names: str) -> None:
    keeper = machine.keeper(keeping)
    for at, name in enumerate(names or ("one",)):
        machine.saved(name, at + 1)
        tend(keeper, name)


def lose_the_disk(machine: Machine) -> None:
    shutil.rmtree(machine.snapshots.disk)


def taken_up(machine: Machine, keeping: Keeping = STORED) -> list[str]:
    return [manifest.id for manifest in take_up(machine.keeper(keeping))]


@pytest.mark.parametrize("keeping", FORMS, ids=["plain", "encrypted", "released"])
async def test_what_the_store_has_comes_back_after_the_disk_was_lost(machine: Machine, keeping: Keeping) -> None:
    sent(machine, keeping)
    lose_the_disk(machine)
    assert taken_up(machine, keeping) == ["one"]
    assert machine.now().places == (Place.STORE,)
    assert taken_up(machine, keeping) == []
    tend(machine.keeper(keeping))
    await restorable(machine, machine.keeper(keeping))


def test_what_comes_is_what_was_saved_and_is_then_kept_like_any_other(machine: Machine) -> None:
    released = Keeping(URL, Local.RELEASE)
    sent(machine, released)
    lose_the_disk(machine)
    taken_up(machine, released)
    keeper = machine.keeper(released)
    assert contents_of(brought(machine, keeper)) == CONTENT
    assert machine.now().places == (Place.NODE, Place.STORE)
    tend(keeper)
    assert machine.now().places == (Place.STORE,)


def test_what_came_and_is_damaged_here_is_mended_from_the_store_like_any_other(machine: Machine) -> None:
    encrypting = Keeping(URL, encrypts=True)
    sent(machine, encrypting)
    lose_the_disk(machine)
    taken_up(machine, encrypting)
    keeper = machine.keeper(encrypting)
    brought(machine, keeper)
    (machine.snapshots.path("ws", "one") / contents.ENCRYPTED / "pages.img.000000.age").write_bytes(b"x")
    with pytest.raises(Damaged) as refused:
        brought(machine, keeper)
    assert refused.value.hint == FROM_STORE
    mend(machine, keeper)
    assert contents_of(brought(machine, keeper)) == CONTENT


def test_how_many_open_files_nobody_can_compare_any_more_is_told(machine: Machine) -> None:
    machine.saved()
    machine.snapshots.amend("ws", "one", held=(OPEN,), held_left_out=2)
    tend(machine.keeper(STORED))
    lose_the_disk(machine)
    taken_up(machine)
    assert (machine.now().held, machine.now().held_left_out) == ((), 3)


def test_what_another_installation_has_put_there_is_left_alone(machine: Machine) -> None:
    sent(machine)
    before = dict(machine.store.objects)
    machine.snapshots = Snapshots(machine.folder / "other", Seal(b"another key"))
    assert taken_up(machine) == []
    assert machine.snapshots.workspaces() == []
    assert machine.store.objects == before


def test_one_that_is_here_or_leaving_stays_as_it_is(machine: Machine) -> None:
    sent(machine, STORED, "one", "two")
    pinned = machine.snapshots.amend("ws", "one", pinned=True)
    machine.snapshots.withdraw("ws", "two")
    assert taken_up(machine) == []
    assert machine.now() == pinned
    assert machine.snapshots.leaving("ws") == ("two",)


def test_what_was_begun_is_ended_although_the_disk_is_not_empty_any_more(machine: Machine) -> None:
    sent(machine, STORED, "one", "two")
    lose_the_disk(machine)
    machine.store.faults.silent = True
    with pytest.raises(StoreSilent):
        taken_up(machine)
    machine.store.faults.silent = False
    machine.saved("three", 3)
    assert taken_up(machine) == ["one", "two"]
    assert [manifest.id for manifest in machine.snapshots.complete("ws")] == ["three", "two", "one"]


class Emptied(MemoryStore):
    """Gives a document once more, and then has nothing."""

    def get(self, name: str) -> bytes:
        found = super().get(name)
        self.objects.clear()
        return found


def test_one_whose_deletion_ends_just_then_does_not_come_back(machine: Machine) -> None:
    sent(machine)
    lose_the_disk(machine)
    emptied = Emptied(URL)
    emptied.objects.update(machine.store.objects)
    machine.store = emptied
    assert taken_up(machine) == []
    assert machine.snapshots.complete("ws") == ()


def no_document(machine: Machine) -> None:
    machine.store.objects["ws/one/manifest.json"] = b"{"


def forged(machine: Machine) -> None:
    """Whoever may write to the store makes everything fit, but for the seal."""
    name = next(each for each in machine.store.objects if "pages.img" in each)
    old, new = machine.store.objects.pop(name), b"x" * len(CONTENT["pages.img"])
    machine.store.objects[name.replace(part(old).sha256, part(new).sha256)] = new
    document = machine.store.objects["ws/one/manifest.json"]
    machine.store.objects["ws/one/manifest.json"] = document.replace(
        part(old).sha256.encode(), part(new).sha256.encode()
    )


@pytest.mark.parametrize("how", [no_document, forged])
def test_what_is_not_what_was_sent_is_never_taken_up(machine: Machine, how: Callable[[Machine], None]) -> None:
    sent(machine)
    how(machine)
    lose_the_disk(machine)
    assert taken_up(machine) == []


def test_what_is_forged_after_it_was_taken_up_is_not_fetched(machine: Machine) -> None:
    sent(machine)
    lose_the_disk(machine)
    taken_up(machine)
    forged(machine)
    with pytest.raises(Damaged, match="in the store is not what was sent"):
        brought(machine, machine.keeper(STORED))
    assert files.size(machine.snapshots.path("ws", "one") / contents.ENCRYPTED) == 0
    assert machine.files() == {"manifest.json"}
