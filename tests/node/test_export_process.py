"""The process that makes an archive: it holds little, ends with its reader, and never passes off a part as whole."""

import os
from pathlib import Path

import pytest

from intermezzo.domain.errors import Conflict, Unreachable
from intermezzo.node.export.process import AT_ONCE, Exports
from node.exporting import REQUEST, SANDBOX, owned


async def test_the_whole_archive_is_never_held_in_memory(exports: Exports, home: Path, tmp_path: Path) -> None:
    with (home / "large").open("wb") as file:
        for _ in range(16):
            file.write(os.urandom(1 << 20))
    owned(home)
    async with exports.archive(REQUEST, home, None) as made:
        assert made.files == 1
        assert made.size >= 16 << 20
        largest, total = 0, 0
        async for piece in made.content:
            largest, total = max(largest, len(piece)), total + len(piece)
    assert largest <= 1 << 20
    assert total > 15 << 20


async def test_one_that_is_not_wanted_any_more_leaves_no_process(exports: Exports, home: Path) -> None:
    with (home / "large").open("wb") as file:
        file.truncate(1 << 34)
        for at in range(0, 64):
            file.seek(at << 28)
            file.write(os.urandom(1 << 20))
    owned(home)
    async with exports.archive(REQUEST, home, None) as made:
        async for _ in made.content:
            break
    assert children() == []


async def test_no_more_than_a_few_are_made_at_once(exports: Exports, home: Path) -> None:
    owned(home)
    async with ExitStackOf(exports, home, AT_ONCE):
        with pytest.raises(Conflict):
            async with exports.archive(REQUEST, home, None):
                pytest.fail("one more was made")
    async with exports.archive(REQUEST, home, None) as made:
        assert [piece async for piece in made.content]


async def test_an_archive_that_cannot_be_finished_never_looks_whole(home: Path, tmp_path: Path) -> None:
    exports = Exports(tmp_path / "not-there", SANDBOX, SANDBOX)
    with pytest.raises(Unreachable):
        async with exports.archive(REQUEST, home, None):
            pytest.fail("it began")
    assert children() == []


class ExitStackOf:
    """Several exports that have begun."""

    def __init__(self, exports: Exports, home: Path, count: int) -> None:
        self._made = [exports.archive(REQUEST, home, None) for _ in range(count)]

    async def __aenter__(self) -> None:
        for each in self._made:
            await each.__aenter__()

    async def __aexit__(self, *_: object) -> None:
        for each in self._made:
            await each.__aexit__(None, None, None)


def children() -> list[str]:
    """The processes of exports that are there."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"intermezzo.node.export" in words and Path(f"/proc/{line.parent.name}/stat").read_text().split()[3] == str(
            os.getpid()
        ):
            found.append(line.parent.name)
    return found
