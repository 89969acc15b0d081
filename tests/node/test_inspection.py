"""What is looked at before a restore, on a disk of the tests' own and without an engine: one reason for each fault."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from intermezzo.domain.compatibility import Site
from intermezzo.domain.errors import FilesChanged
from intermezzo.domain.held import MOST, Acceptance, Fate
from intermezzo.domain.mounts import Mount
from intermezzo.domain.snapshot import Manifest
from intermezzo.node import held, inspection, page_cache
from intermezzo.node.inspection import Incompatible
from intermezzo.node.snapshots import Damaged, Snapshots
from intermezzo.node.volumes import Volumes
from node.test_bad_snapshots import KEY, flip, made
from node.world import specification

SPEC = replace(specification(), mounts=(Mount("data", "/data/shared"),))
OPEN = "/home/jovyan/notes.txt"
SHARED = "/data/shared/deep/table.bin"
SAVED = Manifest(
    "one",
    "ws",
    "operation",
    1,
    1,
    engine="runsc",
    engine_version="1",
    cpu_features=("avx2", "avx512f"),
    spec_digest="then",
    specification={"mounts": ("/usr:bind", "/data:bind"), "user": ("uid=1000", "gid=1000")},
    accelerator="L4 570",
    accelerators=2,
)
HERE = Site(
    "node-1",
    "runsc",
    "1",
    cpu_features=("avx2", "avx512f"),
    spec_digest="then",
    specification=SAVED.specification,
    accelerator="L4 570",
    accelerators=2,
)


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "snapshots", KEY)


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    found = Volumes(tmp_path / "volumes", os.getuid(), os.getgid())
    (found.ensure("volume") / "notes.txt").write_text("twelve bytes")
    (found.ensure("data") / "deep").mkdir()
    (found.ensure("data") / "deep" / "table.bin").write_bytes(b"table")
    return found


@pytest.fixture
def saved(volumes: Volumes) -> Manifest:
    return replace(SAVED, held=held.record(volumes, SPEC, [OPEN, SHARED, OPEN]))


def silent(step: str, done: int, total: int) -> None:
    """Nobody looks."""


MISFITS: dict[str, tuple[Site, str]] = {
    "engine": (replace(HERE, engine="other"), "saved by the engine runsc"),
    "engine version": (replace(HERE, engine_version="2"), "saved by runsc 1; node-1 has 2"),
    "CPU feature": (replace(HERE, cpu_features=("avx2",)), "the CPU of node-1 has no avx512f"),
    "accelerator": (replace(HERE, accelerator="T4 570"), "saved with L4 570; node-1 has T4 570"),
    "accelerators": (replace(HERE, accelerators=1), "saved with 2 × L4 570; node-1 has 1 for it"),
    "mount": (
        replace(HERE, spec_digest="now", specification={**SAVED.specification, "mounts": ("/usr:bind", "/x:bind")}),
        "(mounts -/data:bind +/x:bind)",
    ),
    "user": (
        replace(HERE, spec_digest="now", specification={**SAVED.specification, "user": ("uid=7", "gid=1000")}),
        "(user -uid=1000 +uid=7)",
    ),
}


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_place_that_does_not_fit_is_refused_by_what_differs(misfit: str) -> None:
    site, words = MISFITS[misfit]
    with pytest.raises(Incompatible) as refused:
        inspection.require_fit(SAVED, site)
    assert words in refused.value.message
    assert refused.value.hint
    inspection.require_fit(SAVED, HERE)


def test_files_on_every_volume_are_recorded_once_and_nothing_else_is(volumes: Volumes, saved: Manifest) -> None:
    assert [(each.name, each.volume_id) for each in saved.held] == [(OPEN, "volume"), (SHARED, "data")]
    outside = ["/etc/passwd", "/home/jovyan/../../etc/passwd", "/home/jovyan", "/data/shared/deep", "/home/jovyan/none"]
    (volumes.path("volume") / "link").symlink_to("/etc/passwd")
    (volumes.path("volume") / "folder").symlink_to("/etc")
    os.mkfifo(volumes.path("volume") / "pipe")
    links = ["/home/jovyan/link", "/home/jovyan/folder/passwd", "/home/jovyan/pipe"]
    assert held.record(volumes, SPEC, outside + links) == ()


def test_however_many_are_told_of_no_more_are_recorded_than_the_most(volumes: Volumes) -> None:
    names = [f"/home/jovyan/{number}" for number in range(MOST + 5)]
    for name in names:
        (volumes.path("volume") / Path(name).name).touch()
    assert len(held.record(volumes, SPEC, names)) == MOST


def grow(file: Path) -> None:
    file.write_text("thirteen byte")


def touch(file: Path) -> None:
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1))


def replaced(file: Path) -> None:
    status = file.stat()
    other = file.with_suffix(".other")
    other.write_bytes(file.read_bytes())
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(file)


def linked(file: Path) -> None:
    file.rename(file.with_suffix(".away"))
    file.symlink_to("/etc/passwd")


EDITS: list[tuple[Callable[[Path], None], Fate]] = [
    (grow, Fate.CHANGED),
    (touch, Fate.CHANGED),
    (replaced, Fate.REPLACED),
]
LOSSES: list[tuple[Callable[[Path], None], Fate]] = [(Path.unlink, Fate.MISSING), (linked, Fate.DISPLACED)]


@pytest.mark.parametrize(("edit", "fate"), EDITS)
def test_a_file_that_was_edited_while_paused_is_named_and_may_be_accepted(
    volumes: Volumes, saved: Manifest, edit: Callable[[Path], None], fate: Fate
) -> None:
    inspection.require_files(volumes, saved, Acceptance.NOTHING)
    edit(volumes.path("volume") / "notes.txt")
    (found,) = held.changed(volumes, saved)
    assert (found.name, found.fate) == (OPEN, fate)
    with pytest.raises(FilesChanged) as refused:
        inspection.require_files(volumes, saved, Acceptance.NOTHING)
    assert OPEN in refused.value.message
    inspection.require_files(volumes, saved, Acceptance.CHANGED_FILES)


@pytest.mark.parametrize(("lose", "fate"), LOSSES)
def test_a_file_that_is_not_there_cannot_be_accepted(
    volumes: Volumes, saved: Manifest, lose: Callable[[Path], None], fate: Fate
) -> None:
    lose(volumes.path("volume") / "notes.txt")
    (found,) = held.changed(volumes, saved)
    assert (found.name, found.fate) == (OPEN, fate)
    for accepted in Acceptance:
        with pytest.raises(FilesChanged) as refused:
            inspection.require_files(volumes, saved, accepted)
        assert "accept" not in refused.value.hint


def test_of_a_volume_that_is_not_there_nothing_is_said_as_it_is_waited_for(volumes: Volumes, saved: Manifest) -> None:
    volumes.remove("data")
    assert held.changed(volumes, saved) == ()


async def test_a_flipped_bit_is_found_before_a_restore_and_stays_on_record(snapshots: Snapshots) -> None:
    manifest = made(snapshots, "one")
    told: list[tuple[str, int, int]] = []
    await inspection.require_whole(snapshots, manifest, lambda *done: told.append(done))
    flip(snapshots.path("ws", "one") / "pages.img", 4711, 2)
    with pytest.raises(Damaged, match=r"the content of pages\.img is not what was saved"):
        await inspection.require_whole(snapshots, manifest, silent)
    found = snapshots.find("ws", "one")
    assert found and "pages.img" in found.damage


async def test_what_was_found_whole_lately_is_read_again_once_it_was_written_to(snapshots: Snapshots) -> None:
    manifest = made(snapshots, "one")
    folder = snapshots.path("ws", "one")
    assert not snapshots.lately.holds(folder, manifest)
    await inspection.require_whole(snapshots, manifest, silent)
    assert snapshots.lately.holds(folder, manifest)
    status = (folder / "pages.img").stat()
    flip(folder / "pages.img", 99, 0)
    os.utime(folder / "pages.img", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not snapshots.lately.holds(folder, manifest), "its time of change cannot be set back"
    with pytest.raises(Damaged):
        await inspection.require_whole(snapshots, manifest, silent)


async def test_without_checksums_yet_the_sizes_must_do(snapshots: Snapshots) -> None:
    made(snapshots, "one")
    bare = snapshots.amend("ws", "one", checksums={})
    await inspection.require_whole(snapshots, bare, silent)
    assert not snapshots.lately.holds(snapshots.path("ws", "one"), bare), "nobody has read it"


def test_an_examination_tells_of_damage_and_of_files_without_reading(
    snapshots: Snapshots, volumes: Volumes, saved: Manifest
) -> None:
    made(snapshots, "one")
    snapshots.amend("ws", "one", held=saved.held)
    assert inspection.examine(snapshots, volumes, "ws", "one").changed == ()
    (volumes.path("volume") / "notes.txt").unlink()
    os.truncate(snapshots.path("ws", "one") / "pages.img", 5)
    found = inspection.examine(snapshots, volumes, "ws", "one")
    assert found.damage.startswith("pages.img has 5 bytes")
    assert [each.name for each in found.changed] == [OPEN]


def test_what_was_just_read_lies_in_the_page_cache_and_what_was_let_go_does_not(tmp_path: Path) -> None:
    file = tmp_path / "image"
    file.write_bytes(b"x" * (8 << 20))
    file.read_bytes()
    assert page_cache.holds(tmp_path)
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    assert not page_cache.holds(tmp_path)
