"""A tree of files copied as it is, while its owner may do to it whatever they like."""

import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intermezzo.domain.errors import Refused
from intermezzo.node.copying import Cancelled, Copy

NAMES = st.text("abc é\n", min_size=1, max_size=6).filter(lambda name: name not in {".", ".."})
TREES = st.recursive(
    st.binary(max_size=200), lambda below: st.dictionaries(NAMES, below, max_size=4), max_leaves=12
).filter(lambda tree: isinstance(tree, dict))


def copied(source: Path, target: Path) -> list[int]:
    told: list[int] = []
    Copy(told.append, threading.Event()).tree(source, target)
    return told


def seen(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything below it that a copy has to keep."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        kept = status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, status.st_nlink
        found[str(path.relative_to(folder))] = (*kept, content)
    return found


def grow(folder: Path, tree: object) -> None:
    if isinstance(tree, dict):
        folder.mkdir()
        for name, below in tree.items():
            grow(folder / name, below)
    elif isinstance(tree, bytes):
        folder.write_bytes(tree)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir(mode=0o750)
    return tmp_path / "home"


@given(tree=TREES)
@settings(max_examples=40, deadline=None)
def test_any_tree_is_the_same_afterwards(tmp_path_factory: pytest.TempPathFactory, tree: object) -> None:
    folder = tmp_path_factory.mktemp("tree")
    grow(folder / "home", tree)
    told = copied(folder / "home", folder / "copy")
    assert seen(folder / "copy") == seen(folder / "home")
    sizes = [path.stat().st_size for path in (folder / "home").rglob("*") if path.is_file()]
    assert sum(told) == sum(sizes)


def test_owners_modes_times_and_attributes_are_kept(source: Path, tmp_path: Path) -> None:
    file = source / "run.sh"
    file.write_text("#!/bin/sh\n")
    (source / "below").mkdir(mode=0o2711)
    os.chown(file, 1000, 1001)
    file.chmod(0o4755)
    os.utime(file, ns=(1, 1_700_000_000_123_456_789))
    os.utime(source / "below", ns=(5, 6))
    copied(source, tmp_path / "copy")
    status = (tmp_path / "copy/run.sh").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1000, 1001, 0o4755)
    assert status.st_mtime_ns == 1_700_000_000_123_456_789
    assert (tmp_path / "copy/below").stat().st_mtime_ns == 6
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o750


def test_two_names_of_one_file_stay_two_names_of_one_file(source: Path, tmp_path: Path) -> None:
    (source / "a").mkdir()
    (source / "a/one").write_text("x")
    os.link(source / "a/one", source / "two")
    copied(source, tmp_path / "copy")
    one, two = (tmp_path / "copy/a/one").stat(), (tmp_path / "copy/two").stat()
    assert one.st_ino == two.st_ino != (source / "two").stat().st_ino


def test_holes_take_no_room_in_the_copy(source: Path, tmp_path: Path) -> None:
    with (source / "sparse").open("wb") as file:
        file.seek(1 << 30)
        file.write(b"end")
        file.seek(1 << 20)
        file.write(b"middle")
    copied(source, tmp_path / "copy")
    copy = tmp_path / "copy/sparse"
    assert copy.stat().st_size == (1 << 30) + 3
    assert copy.stat().st_blocks * 512 < 1 << 20
    with copy.open("rb") as file:
        file.seek(1 << 20)
        assert file.read(6) == b"middle"


def test_links_are_never_followed_and_nothing_but_files_is_opened(source: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not yours")
    (source / "file").symlink_to(tmp_path / "secret")
    (source / "folder").symlink_to("/etc")
    os.mkfifo(source / "pipe")
    copied(source, tmp_path / "copy")
    assert (tmp_path / "copy/file").readlink() == tmp_path / "secret"
    assert (tmp_path / "copy/folder").is_symlink()
    assert (tmp_path / "copy/pipe").is_fifo()


def test_files_that_turn_into_links_meanwhile_are_not_read_through_them(source: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not yours")
    for name in "abcdef":
        (source / name).write_text(name)
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            for path in source.iterdir():
                path.unlink(missing_ok=True)
                path.symlink_to(tmp_path / "secret")
                path.unlink()
                path.write_text("own")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for number in range(50):
            target = tmp_path / f"copy{number}"
            copied(source, target)
            assert all(p.is_symlink() or p.read_text() != "not yours" for p in target.iterdir())
    finally:
        done.set()
        swapping.join()


def test_a_copy_that_is_not_wanted_any_more_ends(source: Path, tmp_path: Path) -> None:
    (source / "a").write_bytes(b"x")
    ended = threading.Event()
    ended.set()
    with pytest.raises(Cancelled):
        Copy(lambda _: None, ended).tree(source, tmp_path / "copy")


def test_a_tree_that_is_nested_without_end_is_refused(source: Path, tmp_path: Path) -> None:
    folder = os.open(source, os.O_RDONLY)
    for _ in range(450):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    with pytest.raises(Refused, match="nested"):
        copied(source, tmp_path / "copy")
