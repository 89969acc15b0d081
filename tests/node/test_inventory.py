"""What lies on a node's disk, counted, and cleared away name first; on a real disk, without any engine."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from intermezzo.domain.errors import Conflict, InvalidInput
from intermezzo.domain.keeping import Keeping, Local
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.storage import StorageItem, What
from intermezzo.node import checksums
from intermezzo.node.inventory import Inventory
from intermezzo.node.keeper import Keeper
from intermezzo.node.keys import Keys
from intermezzo.node.snapshots import Snapshots
from intermezzo.node.space import Space
from intermezzo.node.stores.memory import MemoryStore
from intermezzo.node.tending import tend
from intermezzo.node.volumes import Volumes


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "snapshots")


URL = "s3://bucket/prefix"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(URL)


@pytest.fixture
def inventory(snapshots: Snapshots, store: MemoryStore, tmp_path: Path) -> Inventory:
    return Inventory("node-1", keeper(snapshots, store, tmp_path, Keeping()), Volumes(tmp_path / "volumes", 1000, 1000))


def keeper(snapshots: Snapshots, store: MemoryStore, folder: Path, keeping: Keeping) -> Keeper:
    return Keeper(snapshots, Space(lambda: snapshots.disk), Keys(folder / "keys"), keeping, lambda url: store)


def made(snapshots: Snapshots, name: str, content: bytes) -> Manifest:
    (snapshots.begin("ws", name) / "pages.img").write_bytes(content)
    return snapshots.commit(Manifest(name, "ws", "operation", 1, 0))


def found(inventory: Inventory) -> dict[tuple[What, str, str], StorageItem]:
    return {(item.what, item.id, item.file): item for item in inventory.items((), ())}


def test_every_sort_of_thing_is_told_by_its_bytes(snapshots: Snapshots, inventory: Inventory, tmp_path: Path) -> None:
    made(snapshots, "whole", b"12345")
    made(snapshots, "going", b"1234")
    snapshots.withdraw("ws", "going")
    (snapshots.begin("ws", "begun") / "pages.img").write_bytes(b"123")
    (snapshots.path("ws", "whole") / "core").write_bytes(b"12")
    (snapshots.disk / "lost+found").mkdir()
    (snapshots.disk / "ws" / "README").write_bytes(b"1")
    (tmp_path / "volumes" / "v1").mkdir(parents=True)
    (tmp_path / "volumes" / "v1" / "data").write_bytes(b"123456")
    there = found(inventory)
    assert there.pop((What.WITHDRAWN, "going", "")).bytes >= 4
    assert {key: (item.bytes, item.listed_bytes) for key, item in there.items()} == {
        (What.SNAPSHOT, "whole", ""): (5, 5),
        (What.EXTRA_FILE, "whole", "core"): (2, 0),
        (What.PARTIAL, "begun", ""): (3, 0),
        (What.FOREIGN, "lost+found", ""): (0, 0),
        (What.FOREIGN, "README", ""): (1, 0),
        (What.VOLUME, "v1", ""): (6, 0),
    }
    assert not [item for item in inventory.items({"v1"}, ()) if item.what is What.VOLUME]
    assert all(item.in_use for item in inventory.items((), {"ws"}) if item.workspace_uid == "ws")


def test_a_link_is_counted_as_a_link_and_never_followed(
    snapshots: Snapshots, inventory: Inventory, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_bytes(b"x" * 1000)
    made(snapshots, "whole", b"12345")
    (snapshots.path("ws", "whole") / "link").symlink_to(tmp_path / "secret")
    (snapshots.disk / "elsewhere").symlink_to(tmp_path)
    assert found(inventory)[What.EXTRA_FILE, "whole", "link"].bytes < 1000
    assert found(inventory)[What.FOREIGN, "elsewhere", ""].bytes < 1000
    inventory.clear(found(inventory)[What.EXTRA_FILE, "whole", "link"])
    assert (tmp_path / "secret").stat().st_size == 1000


@pytest.mark.parametrize("what", [What.SNAPSHOT, What.PARTIAL, What.WITHDRAWN])
def test_what_is_cleared_leaves_nothing_and_nothing_else_goes(
    snapshots: Snapshots, inventory: Inventory, what: What
) -> None:
    made(snapshots, "kept", b"12345")
    if what is What.PARTIAL:
        (snapshots.begin("ws", "doomed") / "pages.img").write_bytes(b"123")
    else:
        made(snapshots, "doomed", b"1234")
    if what is What.WITHDRAWN:
        snapshots.withdraw("ws", "doomed")
    item = found(inventory)[what, "doomed", ""]
    for _ in range(2):
        inventory.clear(item)
    assert [entry.name for entry in (snapshots.disk / "ws").iterdir()] == ["kept"]
    inventory.clear(replace(item, what=What.SNAPSHOT, id="kept"))
    assert list(snapshots.disk.iterdir()) == []


def test_a_file_that_belongs_to_a_snapshot_is_not_taken_for_an_extra_one(
    snapshots: Snapshots, inventory: Inventory
) -> None:
    made(snapshots, "whole", b"12345")
    inventory.clear(StorageItem("node-1", What.EXTRA_FILE, "ws", "whole", 1, file="absent"))
    for name in ("pages.img", "manifest.json"):
        with pytest.raises(Conflict):
            inventory.clear(StorageItem("node-1", What.EXTRA_FILE, "ws", "whole", 1, file=name))
    for what in (What.VOLUME, What.FOREIGN):
        with pytest.raises(InvalidInput):
            inventory.clear(StorageItem("node-1", what, "ws", "whole", 1))
    assert snapshots.usable("ws", "whole").bytes == 5


@pytest.mark.parametrize("keeping", [Keeping(URL), Keeping(URL, Local.RELEASE), Keeping(URL, encrypts=True)])
def test_both_places_are_counted_byte_for_byte_and_what_is_only_in_the_store_is_not_ours(
    snapshots: Snapshots, store: MemoryStore, tmp_path: Path, keeping: Keeping
) -> None:
    keeps = keeper(snapshots, store, tmp_path, keeping)
    inventory = Inventory("node-1", keeps, Volumes(tmp_path / "volumes", 1000, 1000))
    manifest = made(snapshots, "whole", b"12345" * 100)
    in_a_thread(lambda: checksums.reckon(snapshots, manifest, threading.Event()))
    in_a_thread(lambda: tend(keeps, "ws", "whole", threading.Event()))
    kept = snapshots.usable("ws", "whole")
    store.put("elsewhere/other/manifest.json", b"{}")
    store.put("elsewhere/other/data/pages.img/0", b"123")
    items = inventory.items((), ())
    assert {(item.place, item.what): (item.bytes, item.listed_bytes) for item in items} == {
        ("node-1", What.SNAPSHOT): (kept.kept_bytes if kept.here else 0,) * 2,
        (URL, What.SNAPSHOT): (kept.kept_bytes,) * 2,
        (URL, What.FOREIGN): (3, 0),
    }
    sent = {name: content for name, content in store.objects.items() if name.startswith("ws/")}
    store.delete(list(sent))
    lost = {item.place: (item.bytes, item.listed_bytes) for item in inventory.items((), ()) if item.id == "whole"}
    assert lost[URL] == (0, kept.kept_bytes)
    store.objects.update(sent)
    (here,) = [item for item in items if (item.place, item.what) == ("node-1", What.SNAPSHOT)]
    inventory.clear(here)
    assert {item.what for item in inventory.items((), ())} == {What.FOREIGN}
    assert set(store.objects) == {"elsewhere/other/manifest.json", "elsewhere/other/data/pages.img/0"}


def test_a_store_that_is_silent_is_unknown_and_not_empty(
    snapshots: Snapshots, store: MemoryStore, tmp_path: Path
) -> None:
    keeps = keeper(snapshots, store, tmp_path, Keeping(URL))
    store.faults.silent = True
    items = Inventory("node-1", keeps, Volumes(tmp_path / "volumes", 1000, 1000)).items((), ())
    assert [(item.place, item.what) for item in items] == [(URL, What.SILENT)]


def in_a_thread(work: Callable[[], None]) -> None:
    """A thread's priority falls for good, so it gets one of its own."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
