"""An archive that comes over the network has its name only when it is whole."""

import gzip
from pathlib import Path

import pytest

from intermezzo.archives import inventory
from intermezzo.client.archive import ArchiveFile
from intermezzo.domain.errors import AlreadyExists, Unreachable

CONTENT = bytes(number * number % 251 for number in range(1 << 16)) * 64
FIRST = gzip.compress(CONTENT)
MANIFEST = inventory("exp", {"files": 3, "skipped": 2, "uncertain": 1}, {}, "")
WHOLE = FIRST + gzip.compress(CONTENT + MANIFEST.encode() + bytes(1024))
UNPACKED = 2 * len(CONTENT) + len(MANIFEST) + 1024


@pytest.mark.parametrize(
    "kept", [0, 1, 10, len(WHOLE) // 2, len(FIRST) - 1, len(FIRST), len(FIRST) + 1, len(WHOLE) - 1]
)
def test_one_that_broke_off_is_no_file(tmp_path: Path, kept: int) -> None:
    with pytest.raises(Unreachable), ArchiveFile(tmp_path / "a.tar.gz") as file:
        file.add(WHOLE[:kept])
        file.keep()
    assert list(tmp_path.iterdir()) == []


def test_one_that_was_changed_on_the_way_is_no_file(tmp_path: Path) -> None:
    torn = bytearray(WHOLE)
    torn[len(torn) // 2] ^= 1
    with pytest.raises(Unreachable), ArchiveFile(tmp_path / "a.tar.gz") as file:
        file.add(bytes(torn))
        file.keep()
    assert list(tmp_path.iterdir()) == []


def test_a_whole_one_says_how_large_it_is_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    with ArchiveFile(tmp_path / "a.tar.gz") as file:
        for at in range(0, len(WHOLE), 100):
            file.add(WHOLE[at : at + 100])
        made = file.keep()
    assert (made.bytes, made.unpacked_bytes) == (len(WHOLE), UNPACKED)
    assert (made.files, made.skipped, made.uncertain) == (3, 2, 1)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [WHOLE]


def test_what_is_there_already_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_text("mine")
    with pytest.raises(AlreadyExists), ArchiveFile(tmp_path / "a.tar.gz"):
        pytest.fail("it was opened")
    assert (tmp_path / "a.tar.gz").read_text() == "mine"
