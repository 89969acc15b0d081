"""Volumes by the command line."""

import pytest

from cli.conftest import CommandLine
from intermezzo.cli.workspaces import data_volume
from intermezzo.domain.errors import InvalidInput


def test_a_data_volume_is_made_mounted_looked_at_and_deleted(intermezzo: CommandLine) -> None:
    made = intermezzo.json("volumes", "create", "corpus")
    assert (made["namespace"], made["name"], made["purpose"], made["owner"]) == ("default", "corpus", "data", "ada")
    assert intermezzo.run("create", "reader", "--data", "corpus:/mnt/corpus:ro").exit_code == 0
    spec = intermezzo.json("show", "reader")["spec"]
    assert spec["data"] == [{"volume": "corpus", "path": "/mnt/corpus", "read_only": True}]
    listed = intermezzo.run("volumes", "list", "-n", "default").stdout
    assert any({"corpus", "data", "ada", "default/reader"} <= set(line.split()) for line in listed.splitlines())
    shown = intermezzo.json("volumes", "show", "corpus")
    assert (shown["used_by"], shown["files"]["bytes"]) == (["default/reader"], 0)
    used = intermezzo.run("volumes", "delete", "corpus", "--yes")
    assert (used.exit_code, "used by default/reader" in used.stderr) == (4, True)
    assert intermezzo.run("delete", "reader", "--yes").exit_code == 0
    asked = intermezzo.run("volumes", "delete", "corpus")
    assert (asked.exit_code, "--yes" in asked.stderr) == (2, True)
    assert intermezzo.json("volumes", "delete", "corpus", "--yes")["deleting_at"] > 0


def test_a_home_is_given_to_a_member_of_the_team_alone(intermezzo: CommandLine) -> None:
    intermezzo.json("users", "add", "bob")
    assert intermezzo.run("create", "short", "--home", "thesis").exit_code == 0
    assert intermezzo.run("volumes", "give", "thesis", "--to", "bob").exit_code == 2
    intermezzo.json("teams", "join", "default", "bob")
    assert intermezzo.run("volumes", "give", "thesis", "--to", "bob").exit_code == 4
    intermezzo.run("delete", "short", "--yes")
    assert intermezzo.json("volumes", "give", "thesis", "--to", "BOB")["owner"] == "bob"
    refused = intermezzo.run("create", "again", "--home", "thesis")
    assert (refused.exit_code, "cannot be the home" in refused.stderr) == (2, True)


def test_a_volume_that_is_not_there_is_named_by_the_option(intermezzo: CommandLine) -> None:
    refused = intermezzo.run("create", "never", "--data", "none")
    assert refused.exit_code == 2
    assert "--data[0].volume: no such data volume" in refused.stderr
    assert intermezzo.run("volumes", "show", "none").exit_code == 3


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("a", ("a", "", False)),
        ("a:ro", ("a", "", True)),
        ("a:/mnt/a", ("a", "/mnt/a", False)),
        ("a:/mnt/a:ro", ("a", "/mnt/a", True)),
    ],
)
def test_a_mount_is_typed_as_elsewhere(typed: str, expected: tuple[str, str, bool]) -> None:
    assert tuple(data_volume(typed).values()) == expected


@pytest.mark.parametrize("typed", ["", ":/mnt/a", "a:b:c", "a:/x:rw"])
def test_anything_else_is_no_mount(typed: str) -> None:
    with pytest.raises(InvalidInput):
        data_volume(typed)
