"""Snapshots on the disk: there as a whole, or not at all."""

import stat
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from intermezzo.domain.errors import NotFound
from intermezzo.domain.snapshot import Manifest
from intermezzo.node import checksums
from intermezzo.node.snapshots import Damaged, Snapshots


def made(snapshots: Snapshots, name: str, at: int = 0, content: bytes = b"image") -> Manifest:
    (snapshots.begin("ws", name) / "pages.img").write_bytes(content)
    return snapshots.commit(Manifest(name, "ws", "operation", at, 0))


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "snapshots")


def test_a_snapshot_is_there_from_its_commit_on(snapshots: Snapshots) -> None:
    folder = snapshots.begin("ws", "one")
    (folder / "pages.img").write_bytes(b"12345")
    assert snapshots.complete("ws") == ()
    whole = snapshots.commit(Manifest("one", "ws", "operation", 1, 0))
    assert (whole.bytes, whole.files) == (5, {"pages.img": 5})
    assert snapshots.complete("ws") == (whole,)
    assert snapshots.usable("ws", "one") == whole


def test_only_root_can_read_a_snapshot(snapshots: Snapshots) -> None:
    writing = snapshots.begin("ws", "one")
    assert stat.S_IMODE(writing.stat().st_mode) == 0o700
    (writing / "pages.img").write_bytes(b"12345")
    snapshots.commit(Manifest("one", "ws", "operation", 1, 0))
    assert stat.S_IMODE(snapshots.path("ws", "one").stat().st_mode) == 0o700
    assert stat.S_IMODE(snapshots.disk.stat().st_mode) == 0o700


def test_what_was_left_unfinished_is_discarded_and_nothing_else(snapshots: Snapshots) -> None:
    whole = made(snapshots, "one")
    snapshots.begin("ws", "two")
    snapshots.discard_partials("ws")
    assert not snapshots.partial("ws", "two").exists()
    assert snapshots.complete("ws") == (whole,)


def test_half_of_a_manifest_that_an_agent_left_as_it_died_goes_and_the_snapshot_stays(snapshots: Snapshots) -> None:
    whole = made(snapshots, "one")
    half = snapshots.path("ws", "one") / ".manifest.json.new"
    half.write_text("{")
    snapshots.discard_partials("ws")
    assert not half.exists()
    assert snapshots.usable("ws", "one") == whole


def test_settling_removes_partials_only_and_a_sweep_only_what_was_withdrawn(snapshots: Snapshots) -> None:
    made(snapshots, "one", 1)
    made(snapshots, "two", 2)
    partial = snapshots.begin("ws", "three")
    snapshots.withdraw("ws", "one")
    assert snapshots.leaving("ws") == ("one",)
    withdrawn = snapshots.path("ws", "one.deleting")
    snapshots.discard_partials("ws")
    assert (withdrawn.exists(), partial.exists()) == (True, False)
    snapshots.begin("ws", "three")
    snapshots.sweep("ws")
    assert (withdrawn.exists(), partial.exists()) == (False, True)
    assert snapshots.leaving("ws") == ()


def test_a_file_that_is_missing_or_of_another_size_is_damage_and_stays_on_record(snapshots: Snapshots) -> None:
    made(snapshots, "one")
    file = snapshots.path("ws", "one") / "pages.img"
    file.write_bytes(b"imag")
    with pytest.raises(Damaged, match=r"pages\.img has 4 bytes, it should have 5"):
        snapshots.usable("ws", "one")
    file.write_bytes(b"image")
    with pytest.raises(Damaged, match=r"pages\.img"):
        snapshots.usable("ws", "one")
    file.unlink()
    made(snapshots, "two")
    (snapshots.path("ws", "two") / "pages.img").unlink()
    with pytest.raises(Damaged, match=r"pages\.img is missing"):
        snapshots.usable("ws", "two")
    with pytest.raises(NotFound):
        snapshots.usable("ws", "three")


def test_checksums_are_added_unless_a_resume_wants_the_disk(snapshots: Snapshots) -> None:
    made(snapshots, "one", content=b"")
    two = made(snapshots, "two", content=b"abc")
    cancelled = threading.Event()
    cancelled.set()
    _in_a_thread(partial(checksums.reckon, snapshots, two, cancelled))
    assert snapshots.usable("ws", "two").checksums == {}
    cancelled.clear()
    _in_a_thread(partial(checksums.reckon, snapshots, two, cancelled))
    found = snapshots.usable("ws", "two")
    # The published test vector for these three bytes.
    assert found.checksums == {"pages.img": "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"}
    assert found.algorithm == "blake3"


def test_a_pin_that_is_set_while_checksums_are_reckoned_stays(snapshots: Snapshots) -> None:
    before = made(snapshots, "one")
    snapshots.amend("ws", "one", pinned=True)
    _in_a_thread(partial(checksums.reckon, snapshots, before, threading.Event()))
    found = snapshots.usable("ws", "one")
    assert found.pinned
    assert found.checksums


def verified(snapshots: Snapshots, name: str, at: int = 7) -> Manifest:
    """The manifest after a verification that was asked for."""
    asked = snapshots.amend("ws", name, verify_asked_at=at)
    _in_a_thread(partial(checksums.verify, snapshots, asked, at, threading.Event()))
    found = snapshots.find("ws", name)
    assert found and not found.verification_due
    return found


def test_a_verification_finds_a_changed_byte_and_takes_it_back_once_it_is_right_again(snapshots: Snapshots) -> None:
    made(snapshots, "one", content=b"image")
    file = snapshots.path("ws", "one") / "pages.img"
    first = verified(snapshots, "one")
    assert (first.damage, first.verified_at, len(first.checksums)) == ("", 7, 1)
    file.write_bytes(b"imagf")
    assert verified(snapshots, "one", 8).damage == "the content of pages.img is not what was saved"
    with pytest.raises(Damaged):
        snapshots.usable("ws", "one")
    file.write_bytes(b"image")
    assert verified(snapshots, "one", 9).damage == ""
    assert snapshots.usable("ws", "one").checksums == first.checksums


def test_a_verification_that_makes_way_is_still_due(snapshots: Snapshots) -> None:
    made(snapshots, "one")
    asked = snapshots.amend("ws", "one", verify_asked_at=5)
    cancelled = threading.Event()
    cancelled.set()
    _in_a_thread(partial(checksums.verify, snapshots, asked, 6, cancelled))
    found = snapshots.find("ws", "one")
    assert found and found.verification_due


def test_a_clock_that_was_set_back_does_not_leave_a_verification_due(snapshots: Snapshots) -> None:
    made(snapshots, "one")
    asked = snapshots.amend("ws", "one", verify_asked_at=100)
    _in_a_thread(partial(checksums.verify, snapshots, asked, 1, threading.Event()))
    found = snapshots.find("ws", "one")
    assert found and not found.verification_due


def test_what_is_not_ours_in_the_folder_is_passed_over(snapshots: Snapshots) -> None:
    whole = made(snapshots, "one")
    (snapshots.disk / "lost+found").mkdir()
    (snapshots.disk / "ws" / "README").write_text("by hand")
    (snapshots.disk / "elsewhere").symlink_to(snapshots.disk / "ws")
    assert (snapshots.workspaces(), snapshots.complete("ws")) == (["ws"], (whole,))


def test_what_is_withdrawn_is_gone_at_once_and_its_bytes_later(snapshots: Snapshots) -> None:
    made(snapshots, "one")
    made(snapshots, "two")
    snapshots.withdraw("ws", "one")
    snapshots.withdraw("ws", "one")
    assert [m.id for m in snapshots.complete("ws")] == ["two"]
    with pytest.raises(NotFound):
        snapshots.amend("ws", "one", pinned=True)
    assert snapshots.path("ws", "one.deleting").is_dir()
    snapshots.sweep("ws")
    assert not snapshots.path("ws", "one.deleting").exists()


def _in_a_thread(work: Callable[[], None]) -> None:
    """A thread's priority falls for good, so it gets one of its own."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
