"""A simulated Intermezzo in a process of its own, and the command line that talks to it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from intermezzo.cli.main import main

SERVE = Path(__file__).with_name("serve.py")


class CommandLine:
    """`intermezzo` with a data directory."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir

    def run(self, *arguments: str) -> Result:
        """What it printed, and its exit code."""
        return CliRunner().invoke(main, ["--data-dir", str(self.data_dir), *arguments])

    def json(self, *arguments: str, exit_code: int = 0) -> Any:
        """The one JSON document on its standard output."""
        result = self.run(*arguments, "--json")
        assert result.exit_code == exit_code, result.output
        return json.loads(result.stdout)


@contextmanager
def serving(data_dir: Path, fault: str = "") -> Iterator[CommandLine]:
    """A simulated Intermezzo, ended afterwards."""
    command = [sys.executable, str(SERVE), str(data_dir), fault]
    data_dir.mkdir(exist_ok=True)
    with (
        (data_dir / "server.log").open("w") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        assert server.stdout is not None
        assert server.stdout.readline() == "serving\n"
        yield CommandLine(data_dir)


@pytest.fixture(scope="module")
def intermezzo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """One that works."""
    with serving(tmp_path_factory.mktemp("data")) as line:
        yield line


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Callable[[str], CommandLine]]:
    """One in which something will go wrong, by the fault's name."""
    with ExitStack() as stack:
        yield lambda fault: stack.enter_context(serving(tmp_path / fault, fault))


@pytest.fixture
def nowhere(tmp_path: Path) -> CommandLine:
    """A data directory in which nothing runs."""
    return CommandLine(tmp_path)
