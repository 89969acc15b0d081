"""Keeping awake by the command line, and what it says of when a workspace would be paused."""

from cli.conftest import CommandLine


def test_a_workspace_is_kept_awake_and_says_so(intermezzo: CommandLine) -> None:
    intermezzo.json("create", "awake")
    kept = intermezzo.json("keep-awake", "awake", "1h30m", "--reason", "the demonstration")["kept_awake"]
    assert (kept["source"], kept["reason"], kept["asked_by"]) == ("cli", "the demonstration", "ada")
    told = intermezzo.run("keep-awake", "awake", "2h")
    assert told.exit_code == 0
    assert "kept awake until" in told.stdout
    assert intermezzo.json("show", "awake")["idle"]["reasons"][-1]["why"]
    assert intermezzo.json("keep-awake", "awake", "--release") == {"workspace": "awake", "kept_awake": None}
    assert intermezzo.run("keep-awake", "awake", "--release").exit_code == 0


def test_what_makes_no_sense_is_refused_with_what_to_type(intermezzo: CommandLine) -> None:
    intermezzo.json("create", "wrong")
    for arguments in ((), ("2h", "--release"), ("soon",)):
        refused = intermezzo.run("keep-awake", "wrong", *arguments)
        assert refused.exit_code == 2
        assert "2h" in refused.stderr
    assert "one of" not in intermezzo.run("keep-awake", "wrong").stderr
    long = intermezzo.run("keep-awake", "wrong", "300d")
    assert long.exit_code == 4
    assert "at most" in long.stderr


def test_show_says_when_it_would_be_paused_and_why(intermezzo: CommandLine) -> None:
    intermezzo.json("create", "shown")
    intermezzo.json("keep-awake", "shown", "1h")
    said = intermezzo.run("show", "shown").stdout
    assert "paused for being idle" in said
    assert "kept awake until" in said
    intermezzo.json("pause", "shown")
    assert "idle" not in intermezzo.run("show", "shown").stdout.split("A PAUSE AND")[0]
