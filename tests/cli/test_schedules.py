"""Schedules by the command line, against a simulated Intermezzo."""

import pytest

from cli.conftest import CommandLine
from intermezzo.cli.exits import Exit
from intermezzo.cli.schedules import own_zone
from intermezzo.domain.schedule import check_zone


@pytest.fixture(scope="module")
def workspace(intermezzo: CommandLine) -> str:
    """One that runs."""
    intermezzo.json("create", "timed")
    return "timed"


def test_evening_and_morning_are_set_in_one_and_listed(intermezzo: CommandLine, workspace: str) -> None:
    times = ("--pause-at", "20:00", "--ready-by", "09:00", "--days", "mon-fri", "--zone", "Europe/Warsaw")
    made = intermezzo.json("schedule", workspace, *times)
    assert [(each["action"], each["rule"], each["zone"]) for each in made] == [
        ("pause", "mon-fri 20:00", "Europe/Warsaw"),
        ("ready", "mon-fri 09:00", "Europe/Warsaw"),
    ]
    assert intermezzo.json("schedule", "set", workspace, *times) == made
    assert intermezzo.json("schedule", "list", workspace) == made
    shown = intermezzo.run("schedule", "list", workspace).stdout
    assert "paused at mon-fri 20:00 Europe/Warsaw" in shown
    for each in made:
        assert intermezzo.run("schedule", "remove", workspace, each["id"]).exit_code == Exit.OK
    assert "Nothing is set" in intermezzo.run("schedule", "list", workspace).stdout
    assert intermezzo.run("schedule", "remove", workspace, made[0]["id"]).exit_code == Exit.NOT_FOUND


def test_without_a_zone_it_is_this_machine_s(intermezzo: CommandLine, workspace: str) -> None:
    check_zone(own_zone())
    (made,) = intermezzo.json("schedule", workspace, "--resume-at", "08:30")
    assert (made["rule"], made["zone"]) == ("daily 08:30", own_zone())


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--pause-at", "8pm"),
        ("--pause-at", "20:00", "--days", "someday"),
        ("--pause-at", "2026-12-01T20:00", "--days", "mon"),
        ("--pause-at", "2001-01-01T20:00"),
        ("--pause-at", "20:00", "--zone", "Mars/Olympus"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_hint(
    intermezzo: CommandLine, workspace: str, options: tuple[str, ...]
) -> None:
    refused = intermezzo.run("schedule", workspace, *options)
    assert refused.exit_code == Exit.USAGE
    assert "Hint: " in refused.stderr
