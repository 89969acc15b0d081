"""The installation that most tests of this folder share, with the real engine behind a script that can misbehave."""

import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from e2e.installation import Installation, installation
from node.world import engine, reason_to_skip

NUMBERS = count(1)
WRAPPER = """#!/bin/sh
for word in "$@"; do
  case "$word" in restore|checkpoint)
    while [ -e "{folder}/$word-held" ]; do sleep 0.05; done
    if [ -e "{folder}/$word-fails" ]; then echo "$word: not today" >&2; exit 128; fi
  esac
done
exec "{engine}" "$@"
"""


class Moods:
    """What the engine is told to do wrong, as files beside it: `hold` makes a subcommand wait, `fail` exit with 128."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path = folder / "runsc"
        self.path.write_text(WRAPPER.format(folder=folder, engine=engine()))
        self.path.chmod(0o755)

    def hold(self, subcommand: str) -> None:
        (self._folder / f"{subcommand}-held").touch()

    def fail(self, subcommand: str) -> None:
        (self._folder / f"{subcommand}-fails").touch()

    def mend(self) -> None:
        for file in self._folder.glob("*-*"):
            file.unlink()


@pytest.fixture(scope="package", autouse=True)
def _possible() -> None:
    if reason := reason_to_skip():
        pytest.skip(reason)


@pytest.fixture(scope="package")
def moods() -> Iterator[Moods]:
    with tempfile.TemporaryDirectory(prefix="imz-e2e-engine-") as folder:
        yield Moods(Path(folder))


@pytest.fixture(scope="package")
def shared(moods: Moods, _possible: None) -> Iterator[Installation]:
    with installation(f'[engine]\npath = "{moods.path}"\n') as made:
        made.up()
        yield made


@pytest.fixture
def engine_moods(moods: Moods) -> Iterator[Moods]:
    """The engine's moods, mended afterwards."""
    yield moods
    moods.mend()


@pytest.fixture
def new_name(shared: Installation, engine_moods: Moods) -> Iterator[Callable[..., str]]:
    """Names for workspaces of the shared installation, which are deleted with their files afterwards."""
    given: list[str] = []

    def name(wanted: str = "") -> str:
        given.append(wanted or f"exp-{next(NUMBERS)}")
        return given[-1]

    yield name
    engine_moods.mend()
    for each in given:
        shared.delete(each)


@pytest.fixture
def workspace(shared: Installation, new_name: Callable[..., str]) -> str:
    """A running workspace of the shared installation."""
    return shared.start(new_name()).name
