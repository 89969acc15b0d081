"""Where snapshots are kept and in what form: sent, let go of, fetched, encrypted, deleted; cut short anywhere."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from intermezzo.domain.errors import NotEnoughSpace
from intermezzo.domain.keeping import Keeping, Local
from intermezzo.domain.snapshot import Manifest, Place
from intermezzo.domain.transfer import Transfer
from intermezzo.node import checksums, encrypted, mending, removal, tending, whole
from intermezzo.node.fetched import FETCHED
from intermezzo.node.keeper import Keeper
from intermezzo.node.keys import NoKey
from intermezzo.node.snapshots import Damaged
from intermezzo.node.space import MARGIN_BYTES, Space
from intermezzo.node.stores.memory import MemoryStore
from intermezzo.node.stores.store import StoreRefused, StoreSilent
from node.keeping import (
    CONTENT,
    URL,
    Machine,
    brought,
    contents_of,
    damaged,
    in_a_thread_of_its_own,
    mend,
    restorable,
    tend,
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


STORED = Keeping(URL)
RELEASED = Keeping(URL, Local.RELEASE)
ENCRYPTED = Keeping(encrypts=True)
EVERYTHING = Keeping(URL, Local.RELEASE, encrypts=True)


def test_without_a_store_nothing_is_due_and_it_stays_as_it_is(machine: Machine) -> None:
    before = machine.saved()
    keeper = machine.keeper(Keeping())
    assert not tending.is_due(keeper, before)
    tend(keeper)
    assert machine.now() == before
    assert before.places == (Place.NODE,)
    assert contents_of(brought(machine, keeper)) == CONTENT


def test_it_is_sent_and_is_then_in_both_places(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(STORED)
    assert tending.is_due(keeper, machine.now())
    tend(keeper)
    found = machine.now()
    assert (found.places, found.stored_in) == ((Place.NODE, Place.STORE), URL)
    assert keeper.depot(URL).complete("ws") == ["one"]
    deposit = keeper.depot(URL).find("ws", "one")
    assert deposit and deposit.manifest.files == found.files
    assert (deposit.manifest.checksums, deposit.manifest.held) == ({}, ())
    assert not tending.is_due(keeper, found)
    assert keeper.transfers("ws") == ()
    machine.store.sent.clear()
    tend(keeper)
    assert machine.store.sent == []


def test_one_without_checksums_yet_is_not_sent(machine: Machine) -> None:
    machine.saved()
    machine.snapshots.amend("ws", "one", checksums={})
    tend(machine.keeper(STORED))
    assert machine.store.objects == {}


def test_a_damaged_one_is_not_sent(machine: Machine) -> None:
    machine.saved()
    machine.snapshots.amend("ws", "one", damage="pages.img is missing")
    keeper = machine.keeper(STORED)
    tend(keeper)
    assert machine.store.objects == {}


def test_what_stands_still_says_why_and_goes_on_by_itself(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(STORED)
    machine.store.faults.puts_left = 1
    with pytest.raises(StoreSilent):
        tend(keeper)
    (stuck,) = keeper.transfers("ws")
    assert (stuck.snapshot_id, stuck.step, stuck.rate) == ("one", "sending", 0)
    assert "does not answer" in stuck.trouble
    assert machine.now().places == (Place.NODE,)
    machine.store.faults.puts_left = None
    sent = list(machine.store.sent)
    # The next agent knows nothing but what is there.
    tend(machine.keeper(STORED))
    assert machine.now().places == (Place.NODE, Place.STORE)
    assert not set(machine.store.sent[len(sent) :]) & set(sent)


def test_the_copy_here_goes_only_when_the_store_was_read_back(machine: Machine) -> None:
    machine.saved()
    tend(machine.keeper(STORED))
    name = next(name for name in machine.store.objects if "/data/pages.img" in name)
    machine.store.objects[name] = machine.store.objects[name][:-1] + b"!"
    keeper = machine.keeper(RELEASED)
    with pytest.raises(Damaged, match="is sent again"):
        tend(keeper)
    assert machine.now().places == (Place.NODE,)
    assert contents_of(brought(machine, keeper)) == CONTENT
    tend(keeper)
    found = machine.now()
    assert found.places == (Place.STORE,)
    assert machine.files() == {"manifest.json"}
    assert found.store_checked_at >= found.stored_at > 0


def test_one_that_only_the_store_has_is_fetched_compared_and_here_again(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(RELEASED)
    tend(keeper)
    told: list[str] = []
    found = brought(machine, machine.keeper(RELEASED), told)
    assert contents_of(found) == CONTENT
    assert machine.now().places == (Place.NODE, Place.STORE)
    assert machine.files() == {"manifest.json", *CONTENT}
    machine.store.sent.clear()
    tend(keeper)
    assert machine.now().places == (Place.STORE,), "it may go again, as the store has it still"
    assert machine.store.sent == []


def test_a_store_that_is_away_leaves_a_plain_reason_and_everything_as_it_was(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(RELEASED)
    tend(keeper)
    before = machine.now()
    machine.store.faults.silent = True
    with pytest.raises(StoreSilent, match="the snapshot store s3://bucket/prefix does not answer"):
        brought(machine, keeper)
    assert machine.now() == before
    machine.store.faults.silent = False
    assert contents_of(brought(machine, keeper)) == CONTENT


def test_a_fetch_needs_room_and_says_how_much(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(RELEASED)
    tend(keeper)
    machine.free = MARGIN_BYTES
    with pytest.raises(NotEnoughSpace) as refused:
        brought(machine, keeper)
    assert refused.value.needed_bytes == MARGIN_BYTES + machine.now().bytes
    assert machine.now().places == (Place.STORE,)


def test_a_store_cannot_put_a_file_of_its_own_choice_beside_a_snapshot(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(RELEASED)
    tend(keeper)
    document = machine.store.objects["ws/one/manifest.json"]
    machine.store.objects["ws/one/manifest.json"] = document.replace(b'"pages.img":[', b'"manifest.json":[')
    for name in list(machine.store.objects):
        if "/pages.img/" in name:
            machine.store.objects[name.replace("/pages.img/", "/manifest.json/")] = machine.store.objects.pop(name)
    with pytest.raises(Damaged, match="in the store is not what was sent"):
        brought(machine, keeper)
    found = machine.snapshots.find("ws", "one")
    assert found
    assert (found.places, found.damage) == ((Place.STORE,), "snapshot one in the store is not what was sent")
    assert machine.files() == {"manifest.json"}


@pytest.mark.parametrize("encrypts", [False, True])
def test_one_that_is_damaged_here_is_made_whole_again_from_the_store(machine: Machine, encrypts: bool) -> None:
    keeper = damaged(machine, encrypts=encrypts)
    mend(machine, keeper)
    found = machine.now()
    assert found.places == (Place.NODE, Place.STORE)
    assert whole.damage(keeper, found, threading.Event()) == ""
    assert contents_of(brought(machine, keeper)) == CONTENT
    assert not [name for name in machine.files() if name.startswith("fetched")]
    assert not mending.is_due(keeper, found)


@pytest.mark.parametrize("encrypts", [False, True])
def test_where_the_store_is_no_better_the_damage_stays_and_its_copy_goes(machine: Machine, encrypts: bool) -> None:
    keeper = damaged(machine, encrypts=encrypts)
    name = next(name for name in machine.store.objects if "/data/pages.img" in name)
    machine.store.objects[name] = b"x" * len(machine.store.objects[name])
    with pytest.raises(Damaged, match="not whole either"):
        mend(machine, keeper)
    found = machine.snapshots.find("ws", "one")
    assert found and found.damage == "the content of pages.img is not what was saved"
    assert not mending.is_due(keeper, found)
    assert machine.store.objects == {}
    with pytest.raises(Damaged):
        brought(machine, keeper)


def test_while_the_store_is_away_the_damage_stays_and_is_mended_later(machine: Machine) -> None:
    keeper = damaged(machine, encrypts=False)
    machine.store.faults.silent = True
    with pytest.raises(StoreSilent):
        mend(machine, keeper)
    (stuck,) = keeper.transfers("ws")
    assert stuck.trouble
    machine.store.faults.silent = False
    mend(machine, keeper)
    assert machine.now().damage == ""


def test_a_fetch_that_nobody_goes_on_with_is_cleared_away_after_a_day(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(RELEASED)
    tend(keeper)
    begun = machine.snapshots.path("ws", "one") / FETCHED
    begun.mkdir()
    (begun / "pages.img").write_bytes(b"half")
    assert not tending.is_due(keeper, machine.now())
    os.utime(begun, (0, 0))
    assert tending.is_due(keeper, machine.now())
    tend(keeper)
    assert machine.files() == {"manifest.json"}


def test_what_somebody_uses_stays_where_it_is(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(EVERYTHING)
    with keeper.using("ws", "one"):
        tend(keeper)
        assert {"manifest.json", *CONTENT} <= machine.files()
        assert (machine.now().here, machine.now().encrypted_bytes) == (True, 0)
    tend(keeper)
    assert machine.now().places == (Place.STORE,)


def test_encrypted_nothing_of_it_is_on_the_disk_in_the_clear_and_it_opens_again(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(ENCRYPTED)
    tend(keeper)
    found = machine.now()
    assert found.encrypted_bytes > found.bytes
    assert machine.snapshots.usable("ws", "one") == found
    folder = machine.snapshots.path("ws", "one")
    assert all(b"S3CRET" not in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert {path.stat().st_mode & 0o077 for path in folder.rglob("*")} == {0}
    opened = brought(machine, machine.keeper(ENCRYPTED))
    assert contents_of(opened) == CONTENT
    assert opened.folder == machine.snapshots.partial("ws", "one")
    machine.snapshots.discard_partials("ws")
    assert machine.now() == found


def test_keys_are_closed_to_others_and_go_with_their_workspace(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(EVERYTHING)
    tend(keeper)
    key = machine.folder / "keys" / "ws"
    assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    secret = key.read_text().strip().encode()
    assert secret.startswith(b"AGE-SECRET-KEY-")
    assert all(secret not in content and b"S3CRET" not in content for content in machine.store.objects.values())
    assert contents_of(brought(machine, keeper)) == CONTENT
    machine.keys.destroy("ws")
    machine.keys.destroy("ws")
    assert not key.exists()
    with pytest.raises(NoKey):
        brought(machine, keeper)


def test_an_encrypted_one_survives_death_at_every_step_of_its_encryption(machine: Machine) -> None:
    machine.saved()
    folder, key = machine.snapshots.path("ws", "one"), machine.keys.ensure("ws")
    part = folder / encrypted.ASIDE / "checkpoint.img.000000.age"
    part.parent.mkdir()
    part.with_name(".half.new").write_bytes(b"half")
    tend(machine.keeper(ENCRYPTED))
    assert contents_of(brought(machine, machine.keeper(ENCRYPTED))) == CONTENT
    # Died between the last part and the manifest: the parts lie under their name, and do not hold yet.
    machine.snapshots.discard_partials("ws")
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    machine.snapshots.amend("ws", "one", encrypted_bytes=0)
    assert contents_of(brought(machine, machine.keeper(ENCRYPTED))) == CONTENT
    tend(machine.keeper(ENCRYPTED))
    # Died between the manifest and the removal of the plain files.
    (folder / "pages.img").write_bytes(CONTENT["pages.img"])
    keeper = machine.keeper(ENCRYPTED)
    assert tending.is_due(keeper, machine.now())
    tend(keeper)
    assert "pages.img" not in machine.files()
    assert contents_of(brought(machine, keeper)) == CONTENT
    assert machine.keys.get("ws") is not None and str(machine.keys.get("ws")) == str(key)


@pytest.mark.parametrize("how", [lambda c: c[:-1], lambda c: c[:100] + bytes([c[100] ^ 1]) + c[101:], lambda c: b""])
def test_an_encrypted_part_that_was_touched_is_damage(machine: Machine, how: Callable[[bytes], bytes]) -> None:
    machine.saved()
    keeper = machine.keeper(ENCRYPTED)
    tend(keeper)
    assert whole.damage(keeper, machine.now(), threading.Event()) == ""
    part = machine.snapshots.path("ws", "one") / encrypted.NAME / "pages.img.000000.age"
    part.write_bytes(how(part.read_bytes()))
    assert whole.damage(keeper, machine.now(), threading.Event())
    with pytest.raises(Damaged):
        brought(machine, keeper)


def test_parts_of_another_snapshot_under_the_same_key_are_damage(machine: Machine) -> None:
    machine.saved()
    folder = machine.snapshots.begin("ws", "two")
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content[::-1])
    other = machine.snapshots.commit(Manifest("two", "ws", "operation", 2, 0))
    in_a_thread_of_its_own(lambda: checksums.reckon(machine.snapshots, other, threading.Event()))
    keeper = machine.keeper(ENCRYPTED)
    tend(keeper)
    tend(keeper, "two")
    here, there = (machine.snapshots.path("ws", name) / encrypted.NAME for name in ("one", "two"))
    (here / "pages.img.000000.age").write_bytes((there / "pages.img.000000.age").read_bytes())
    assert whole.damage(keeper, machine.now(), threading.Event())
    with pytest.raises(Damaged):
        asyncio.run(restorable(machine, keeper))


def test_without_room_to_encrypt_it_stays_as_it_is_and_says_so(machine: Machine) -> None:
    machine.saved()
    machine.free = MARGIN_BYTES
    keeper = machine.keeper(ENCRYPTED)
    with pytest.raises(NotEnoughSpace):
        tend(keeper)
    (stuck,) = keeper.transfers("ws")
    assert "encrypting a snapshot needs" in stuck.trouble
    assert contents_of(brought(machine, keeper)) == CONTENT


def test_what_was_sent_in_the_clear_is_replaced_once_it_is_encrypted(machine: Machine) -> None:
    machine.saved()
    tend(machine.keeper(STORED))
    tend(machine.keeper(Keeping(URL, encrypts=True)))
    assert machine.now().places == (Place.NODE, Place.STORE)
    assert all(b"S3CRET" not in content for content in machine.store.objects.values())
    (held,) = machine.keeper(STORED).depot(URL).held("ws")
    assert held.complete


def test_a_withdrawn_one_is_deleted_in_both_places_and_remembered_until_it_is(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(STORED)
    tend(keeper)
    machine.snapshots.withdraw("ws", "one")
    machine.store.faults.refuses_deletes = True
    with pytest.raises(StoreRefused):
        removal.sweep(keeper, "ws")
    assert machine.snapshots.complete("ws") == ()
    assert machine.snapshots.leaving("ws") == ("one",)
    assert {path.name for path in machine.snapshots.gone("ws", "one").iterdir()} == {"manifest.json"}
    machine.store.faults.refuses_deletes = False
    removal.sweep(machine.keeper(STORED), "ws")
    assert machine.store.objects == {}
    assert machine.snapshots.leaving("ws") == ()


def test_a_half_sent_one_is_deleted_in_the_store_too(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(STORED)
    machine.store.faults.puts_left = 1
    with pytest.raises(StoreSilent):
        tend(keeper)
    assert len(machine.store.objects) == 1
    machine.snapshots.withdraw("ws", "one")
    removal.sweep(keeper, "ws")
    assert machine.store.objects == {}
    assert keeper.transfers("ws") == ()


def test_a_workspace_that_is_removed_leaves_nothing_anywhere_and_its_key_goes_first(machine: Machine) -> None:
    machine.saved()
    machine.saved("two", 2)
    keeper = machine.keeper(EVERYTHING)
    tend(keeper)
    machine.store.faults.silent = True
    with pytest.raises(StoreSilent):
        removal.remove_all(keeper, "ws")
    assert machine.snapshots.complete("ws") == ()
    assert not (machine.folder / "keys" / "ws").exists(), "what the store still has is unreadable"
    machine.store.faults.silent = False
    removal.remove_all(machine.keeper(EVERYTHING), "ws")
    removal.remove_all(machine.keeper(EVERYTHING), "ws")
    assert machine.store.objects == {}
    assert not machine.snapshots.path("ws", "one").parent.exists()


def test_an_address_in_an_edited_manifest_is_asked_nothing(machine: Machine) -> None:
    machine.saved()
    keeper = machine.keeper(STORED)
    tend(keeper)
    asked: list[str] = []
    path = machine.snapshots.path("ws", "one") / "manifest.json"
    path.write_bytes(path.read_bytes().replace(URL.encode(), b"s3://elsewhere/x"))

    def opened(url: str) -> MemoryStore:
        asked.append(url)
        return machine.store

    space = Space(lambda: machine.snapshots.disk, lambda _: machine.free)
    suspicious = Keeper(machine.snapshots, space, machine.keys, STORED, opened)
    machine.snapshots.withdraw("ws", "one")
    removal.sweep(suspicious, "ws")
    assert asked == [URL]
    assert machine.store.objects == {}


def test_two_at_once_never_count_on_the_same_bytes(machine: Machine, tmp_path: Path) -> None:
    free = [MARGIN_BYTES + 1000]
    space = Space(lambda: tmp_path, lambda _: free[0])
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    with space.promised("the snapshot", 600, first):
        with (
            pytest.raises(NotEnoughSpace, match="has 33554832 bytes free beside what is promised"),
            space.promised("x", 600, second),
        ):
            raise AssertionError("it was promised twice")
        with space.promised("the snapshot", 400, second):
            pass
        # What the first has written is free no more, and promised no more.
        (first / "image").write_bytes(bytes(4096))
        free[0] = MARGIN_BYTES + 600
        with space.promised("the snapshot", 600, second):
            pass
    with space.promised("the snapshot", 600, second):
        pass


def test_a_transfer_says_how_long_it_will_take() -> None:
    assert Transfer("one", "sending", 250, 1000, 100).left_ms == 7500  # type: ignore[arg-type]
    assert Transfer("one", "sending", 250, 1000).left_ms == 0  # type: ignore[arg-type]
