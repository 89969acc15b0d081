"""Which files a session holds open, by the real `/proc` of this very process."""

import ctypes
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from intermezzo.guest import preflight


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Mapped and not open, as a library is. Python's own mapping keeps the file open."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    with path.open("rb") as file:
        address = library.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_PRIVATE, file.fileno(), ctypes.c_long(0))
    try:
        yield
    finally:
        library.munmap(ctypes.c_void_p(address), mmap.PAGESIZE)


def test_files_on_volumes_are_told_of_open_ones_first_and_each_once(tmp_path: Path) -> None:
    home, data, elsewhere = (tmp_path / name for name in ("home", "data", "elsewhere"))
    for folder in (home, data, elsewhere):
        folder.mkdir()
        (folder / "one").write_bytes(b"content")
    (home / "aaa").write_bytes(b"content")
    with (
        (home / "one").open("rb"),
        (home / "one").open("rb"),
        (data / "one").open("rb"),
        (elsewhere / "one").open("rb"),
        (home / "gone").open("wb"),
    ):
        (home / "gone").unlink()
        with mapped(home / "aaa"):
            told = preflight.preflight([str(home), str(data)])
    assert told["held"] == [str(data / "one"), str(home / "one"), str(home / "aaa")]
    assert told["held_left_out"] == 0
    assert {item["path"] for item in told["unsaveable"]} == {str(home / "gone")}


def test_no_more_are_told_of_than_the_most_and_how_many_there_were(tmp_path: Path) -> None:
    opened = [(tmp_path / f"{number:04}").open("wb") for number in range(preflight.MOST + 3)]
    try:
        told = preflight.preflight([str(tmp_path)])
    finally:
        for file in opened:
            file.close()
    assert (len(told["held"]), told["held_left_out"]) == (preflight.MOST, 3)


@pytest.mark.parametrize(
    ("path", "is_shared"),
    [
        (".ipython/profile_default/history.sqlite", True),
        (".ipython/profile_default/history.sqlite-journal", True),
        (".local/share/jupyter/nbsignatures.db", True),
        (".local/share/code-server/User/globalStorage/state.vscdb", True),
        ("history.sqlite", False),
        ("data/results.db", False),
        (".ipython/profile_default/startup/mine.py", False),
    ],
)
def test_what_every_session_of_a_home_writes_to_is_in_nobodys_way(path: str, is_shared: bool) -> None:
    assert preflight.shared(f"/home/jovyan/{path}", "/home/jovyan/") is is_shared
