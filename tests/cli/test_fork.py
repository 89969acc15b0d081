"""Forks by the command line, against a simulated Intermezzo."""

import pytest

from cli.conftest import CommandLine
from intermezzo.cli.exits import Exit


@pytest.fixture(scope="module")
def origin(intermezzo: CommandLine) -> str:
    """A workspace that was paused; its name."""
    intermezzo.json("create", "origin")
    intermezzo.json("pause", "origin")
    return "origin"


def test_a_fork_is_told_with_its_proof(intermezzo: CommandLine, origin: str) -> None:
    done = intermezzo.run("fork", origin, "told")
    assert done.exit_code == Exit.OK, done.stderr
    assert "a fork of default/origin, with an identity of its own" in done.stdout
    assert "not with the original's" in done.stdout
    assert "restored" not in done.stdout and "resumed" not in done.stdout


def test_in_json_it_is_the_new_workspace(intermezzo: CommandLine, origin: str) -> None:
    (snapshot,) = intermezzo.json("snapshots", origin)
    made = intermezzo.json("fork", origin, "shaped", "--snapshot", snapshot["id"])
    assert (made["name"], made["state"], made["continuity"]["verdict"]) == ("shaped", "ready", "forked")
    assert made["origin"]["name"] == origin


def test_it_need_not_be_waited_for(intermezzo: CommandLine, origin: str) -> None:
    assert intermezzo.json("fork", origin, "left", "--no-wait")["operation"]["kind"] == "fork"
    assert intermezzo.run("wait", "left", "--for", "ready").exit_code == Exit.OK


def test_a_name_that_is_taken_and_a_snapshot_that_is_not_there(intermezzo: CommandLine, origin: str) -> None:
    assert intermezzo.run("fork", origin, origin).exit_code == Exit.CONFLICT
    assert intermezzo.run("fork", origin, "other", "--snapshot", "nonsense").exit_code == Exit.NOT_FOUND
