"""Asking for checkpoints on the command line."""

from cli.conftest import CommandLine


def test_a_session_without_programs_that_keep_any_says_how_to_make_one(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "plain")
    asked = intermezzo.run("checkpoint", "plain")
    assert asked.exit_code == 1
    assert "from intermezzo import checkpoint" in asked.stderr
    assert intermezzo.json("checkpoint", "plain", exit_code=1) == []


def test_a_paused_workspace_is_not_asked_and_its_record_is_shown(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "asleep")
    intermezzo.run("pause", "asleep")
    refused = intermezzo.run("checkpoint", "asleep")
    assert refused.exit_code == 4
    assert "intermezzo resume default/asleep" in refused.stderr
    assert "Environment recorded" in intermezzo.run("show", "asleep").stdout
