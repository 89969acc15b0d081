"""The reference and the program say the same."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from intermezzo.cli.base import Command
from intermezzo.cli.exits import Exit, exit_of
from intermezzo.cli.main import main
from intermezzo.domain import errors

DOCS = Path(__file__).parents[2] / "docs" / "reference"


def commands(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command by its full name."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


ALL = dict(commands(main))


@pytest.mark.parametrize("name", ALL)
def test_every_command_is_documented_with_all_its_options(name: str) -> None:
    text = (DOCS / "cli.md").read_text()
    assert f"\n## {name}\n" in text
    section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    for option in (p for p in ALL[name].params if isinstance(p, click.Option)):
        assert f"| `{', '.join(option.opts)}`" in section


def test_nothing_is_documented_that_is_not_there() -> None:
    headings = {line[3:] for line in (DOCS / "cli.md").read_text().splitlines() if line.startswith("## ")}
    assert headings == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_json_and_examples_that_parse(name: str) -> None:
    command = ALL[name]
    assert isinstance(command, Command)
    assert "--json" in {option for parameter in command.params for option in parameter.opts}
    assert command.examples
    help_text = CliRunner().invoke(main, [*name.split(), "--help"])
    assert (help_text.exit_code, "Examples" in help_text.output) == (0, True)


@pytest.mark.parametrize("group", ["", "snapshots"])
def test_the_list_of_commands_says_whole_sentences(group: str) -> None:
    shown = CliRunner().invoke(main, [*group.split(), "--help"], terminal_width=80).output.partition("Commands:")[2]
    assert shown
    assert "..." not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_every_exit_code_is_documented() -> None:
    text = (DOCS / "exit-codes.md").read_text()
    for code in Exit:
        assert f"| {code.value} | {code.name.lower().replace('_', ' ')} |" in text


def test_every_error_has_an_exit_code_other_than_ok() -> None:
    def tree(kind: type[errors.IntermezzoError]) -> Iterator[type[errors.IntermezzoError]]:
        yield kind
        for below in kind.__subclasses__():
            yield from tree(below)

    full_disk = errors.NotEnoughSpace("x", needed_bytes=1, free_bytes=0)
    shared = [kind for kind in tree(errors.IntermezzoError) if kind.__module__ == errors.__name__]
    others = [kind("x") for kind in shared if kind is not errors.NotEnoughSpace]
    for error in [full_disk, *others]:
        assert exit_of(error) is not Exit.OK


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_that_shell(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert (result.exit_code, "_INTERMEZZO_COMPLETE" in result.output) == (0, True)
