"""Snapshots that are not what was saved: each is refused with its own reason, and nothing that was right is."""

import json
import os
import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from intermezzo.domain.errors import Conflict
from intermezzo.domain.snapshot import Manifest
from intermezzo.node import contents, manifests
from intermezzo.node.contents import Pace
from intermezzo.node.seal import Seal, held
from intermezzo.node.snapshots import Damaged, Snapshots

KEY = Seal(b"k" * 32)
PLACES = 50
PAGES = random.Random(44).randbytes((1 << 20) + 12345)
STATE = random.Random(46).randbytes(70_001)


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "snapshots", KEY)


@pytest.fixture
def saved(snapshots: Snapshots) -> Manifest:
    return made(snapshots, "one")


def made(snapshots: Snapshots, name: str, at: int = 1) -> Manifest:
    """A complete snapshot with checksums."""
    partial = snapshots.begin("ws", name)
    (partial / "pages.img").write_bytes(PAGES)
    (partial / "checkpoint.img").write_bytes(STATE)
    whole = snapshots.commit(Manifest(name, "ws", "operation", at, 0, cpu_features=("avx512f",)))
    found = contents.checksums(snapshots.path("ws", name), whole, "blake3", threading.Event(), Pace.EAGER)
    return snapshots.amend("ws", name, checksums=found, algorithm="blake3")


def damage(snapshots: Snapshots, manifest: Manifest) -> str | None:
    return contents.damage(snapshots.path("ws", manifest.id), manifest, threading.Event(), Pace.EAGER)


def test_what_was_saved_is_whole(snapshots: Snapshots, saved: Manifest) -> None:
    assert damage(snapshots, saved) == ""
    assert snapshots.usable("ws", "one") == saved


def test_cut_at_50_random_places_it_is_refused_by_its_size(snapshots: Snapshots, saved: Manifest) -> None:
    places = random.Random(1)
    for _ in range(PLACES):
        name = places.choice(sorted(saved.files))
        file = snapshots.path("ws", "one") / name
        before = file.read_bytes()
        cut = places.randrange(len(before))
        os.truncate(file, cut)
        assert damage(snapshots, saved) == f"{name} has {cut} bytes, it should have {len(before)} bytes"
        with pytest.raises(Damaged, match=rf"{name} has {cut} bytes"):
            snapshots.usable("ws", "one")
        file.write_bytes(before)
        snapshots.amend("ws", "one", damage="")
    assert damage(snapshots, saved) == ""


def test_with_a_bit_flipped_at_50_random_places_its_content_is_refused(snapshots: Snapshots, saved: Manifest) -> None:
    places = random.Random(2)
    for _ in range(PLACES):
        name = places.choice(sorted(saved.files))
        at, bit = places.randrange(saved.files[name]), places.randrange(8)
        flip(snapshots.path("ws", "one") / name, at, bit)
        assert damage(snapshots, saved) == f"the content of {name} is not what was saved", (at, bit)
        flip(snapshots.path("ws", "one") / name, at, bit)
    assert damage(snapshots, saved) == ""


def test_every_file_that_is_missing_is_named(snapshots: Snapshots, saved: Manifest) -> None:
    for name, size in saved.files.items():
        file = snapshots.path("ws", "one") / name
        file.rename(file.with_suffix(".away"))
        assert damage(snapshots, saved) == f"{name} is missing, it should have {size} bytes"
        file.with_suffix(".away").rename(file)


def edited(**changes: object) -> Callable[[bytes], bytes]:
    """The manifest with other values, and the seal that it had."""
    return lambda content: json.dumps({**json.loads(content), **changes}).encode()


def without_seal(content: bytes) -> bytes:
    return json.dumps({name: value for name, value in json.loads(content).items() if name != "seal"}).encode()


CHANGED = "its manifest was changed since it was written"
UNREADABLE = "its manifest cannot be read"
EDITS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "engine": (edited(engine_version="20990101.0"), CHANGED),
    "features": (edited(cpu_features=[]), CHANGED),
    "checksums": (edited(checksums={}), CHANGED),
    "nothing": (edited(damage=""), ""),
    "size": (edited(bytes=1), CHANGED),
    "new field": (edited(newer="field"), CHANGED),
    "no seal": (without_seal, CHANGED),
    "sealed by another": (lambda c: json.dumps(Seal(b"other").put(json.loads(c))).encode(), CHANGED),
    "empty": (lambda c: b"", UNREADABLE),
    "half": (lambda c: c[: len(c) // 2], UNREADABLE),
    "no manifest": (lambda c: b"[]", UNREADABLE),
    "other types": (edited(files="none"), UNREADABLE),
    "no text": (lambda c: b"\xff\xfe" + c, UNREADABLE),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_manifest_is_told_of_and_nothing_is_restored_by_it(
    snapshots: Snapshots, saved: Manifest, edit: str
) -> None:
    change, reason = EDITS[edit]
    file = snapshots.path("ws", "one") / manifests.NAME
    file.write_bytes(change(file.read_bytes()))
    (found,) = snapshots.complete("ws")
    assert (found.id, found.damage) == ("one", reason)
    if not reason:
        return
    assert found.bytes == saved.bytes, "its bytes are counted, or nobody would know who has them"
    with pytest.raises(Damaged, match=reason):
        snapshots.usable("ws", "one")
    with pytest.raises(Conflict, match=reason):
        snapshots.amend("ws", "one", damage="")
    snapshots.withdraw("ws", "one")
    assert snapshots.complete("ws") == ()


def test_a_bit_flipped_anywhere_in_a_manifest_is_found(snapshots: Snapshots, saved: Manifest) -> None:
    file = snapshots.path("ws", "one") / manifests.NAME
    for at in range(0, file.stat().st_size, 7):
        flip(file, at, at % 7)
        (found,) = snapshots.complete("ws")
        assert found.damage.startswith("its manifest"), at
        flip(file, at, at % 7)
    assert snapshots.complete("ws") == (saved,)


def test_a_manifest_that_is_missing_or_anothers_is_told_of(snapshots: Snapshots, saved: Manifest) -> None:
    made(snapshots, "two", 2)
    other, file = snapshots.path("ws", "two") / manifests.NAME, snapshots.path("ws", "one") / manifests.NAME
    file.write_bytes(other.read_bytes())
    other.unlink()
    found = {manifest.id: manifest.damage for manifest in snapshots.complete("ws")}
    assert found == {"one": "its manifest is that of another snapshot", "two": "its manifest is missing"}


def test_manifests_from_before_there_were_seals_are_taken_over_once_and_sha256_is_still_compared(
    snapshots: Snapshots, saved: Manifest, tmp_path: Path
) -> None:
    folder = snapshots.path("ws", "one")
    old = contents.checksums(folder, saved, "sha256", threading.Event(), Pace.EAGER)
    content = json.loads(manifests.MANIFEST.dump_json(replace(saved, checksums=old or {})))
    del content["algorithm"]
    (folder / manifests.NAME).write_text(json.dumps(content))
    key = tmp_path / "manifest.key"
    seal = held(key, snapshots.adopt)
    after = Snapshots(tmp_path / "snapshots", seal)
    (found,) = after.complete("ws")
    assert (found.algorithm, found.damage, damage(after, found)) == ("sha256", "", "")
    flip(folder / "pages.img", 77, 3)
    assert damage(after, found) == "the content of pages.img is not what was saved"
    flip(folder / "pages.img", 77, 3)
    (folder / manifests.NAME).write_text(json.dumps(content))
    again = Snapshots(tmp_path / "snapshots", held(key, after.adopt))
    assert again.complete("ws")[0].damage == CHANGED, "once there is a key, nothing is taken over any more"
    assert key.stat().st_mode & 0o777 == 0o600


def test_an_algorithm_of_a_later_version_is_said_to_be_unknown(snapshots: Snapshots, saved: Manifest) -> None:
    later = replace(saved, algorithm="blake9")
    assert damage(snapshots, later) == "its checksums are blake9, which this version of Intermezzo does not know"


def test_both_paces_find_the_same_and_tell_how_far_they_are(snapshots: Snapshots, saved: Manifest) -> None:
    told: list[int] = []
    folder, never = snapshots.path("ws", "one"), threading.Event()
    assert contents.damage(folder, saved, never, Pace.EAGER, told.append) == ""
    assert told == sorted(told) and told[-1] == saved.bytes
    gentle: list[str | None] = []
    thread = threading.Thread(target=lambda: gentle.append(contents.damage(folder, saved, never)))
    thread.start()
    thread.join()
    assert gentle == [""]
    cancelled = threading.Event()
    cancelled.set()
    assert contents.damage(folder, saved, cancelled, Pace.EAGER) is None


def flip(path: Path, at: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ (1 << bit)]))
