"""The main job on the command line: create, run, pause, resume, and being told honestly what happened."""

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from cli.conftest import CommandLine

Broken = Callable[[str], CommandLine]


def test_pause_says_what_it_keeps_and_what_it_freed_and_resume_proves_itself(intermezzo: CommandLine) -> None:
    assert "ready" in intermezzo.run("create", "exp-17").stdout
    assert intermezzo.run("run", "exp-17", "-c", "x = 6 * 7").exit_code == 0

    paused = intermezzo.run("pause", "exp-17")
    assert paused.exit_code == 0
    before, _, after = paused.stdout.partition("paused after")
    assert "variables, threads, open files" in before
    assert "Freed: 1 CPU, 2.0 GiB on node-1." in after
    assert "Stored: a snapshot of" in after

    resumed = intermezzo.run("resume", "exp-17")
    assert resumed.exit_code == 0
    assert "restored, same process" in resumed.stdout
    assert "same value in memory" in resumed.stdout
    assert intermezzo.run("run", "exp-17", "-c", "print(x)").stdout == "42\n"


def test_a_notebook_is_put_into_home_and_run(intermezzo: CommandLine, tmp_path: Path) -> None:
    intermezzo.run("create", "notebooks")
    file = tmp_path / "sum.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("a = 2"), new_code_cell("print(a + 3)")]), file)  # type: ignore[no-untyped-call]
    assert intermezzo.run("run", "notebooks", str(file)).stdout == "5\n"
    again = intermezzo.json("run", "notebooks", "home:sum.ipynb")
    assert (again["run"]["state"], again["run"]["cells"]) == ("succeeded", 2)


def test_a_cell_that_fails_ends_with_code_1_and_the_reason(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "failing")
    result = intermezzo.run("run", "failing", "-c", "1 / 0")
    assert result.exit_code == 1
    assert "cell 1 of 1" in result.stderr


def test_a_replaced_session_is_called_fresh_and_never_a_resume(broken: Broken) -> None:
    line = broken("forgetful")
    line.run("create", "a")
    line.run("run", "a", "-c", "x = 1")
    line.run("pause", "a")
    resumed = line.run("resume", "a")
    assert resumed.exit_code == 1
    assert "FRESH START" in resumed.stdout
    assert "restored" not in resumed.stdout


def test_a_failed_pause_says_why_and_that_the_session_runs_on(broken: Broken) -> None:
    line = broken("disk-full")
    line.run("create", "a")
    failed = line.run("pause", "a")
    assert failed.exit_code == 1
    assert "the disk is full" in failed.stderr
    assert "Free 400 MiB" in failed.stderr
    assert "Freed" not in failed.stdout
    assert line.run("pause", "a").exit_code == 0


def test_fr07_a_failed_resume_leaves_it_paused_with_the_ways_out(broken: Broken) -> None:
    line = broken("engine-128")
    line.run("create", "a")
    line.run("run", "a", "-c", "x = 5")
    line.run("pause", "a")
    failed = line.run("resume", "a")
    assert failed.exit_code == 1
    assert "status 128" in failed.stderr
    assert "try again" in failed.stderr
    shown = line.json("show", "a")
    assert (shown["phase"], shown["reservation"]) == ("Paused", None)
    assert line.run("resume", "a").exit_code == 0
    assert line.run("run", "a", "-c", "print(x)").stdout == "5\n"


def test_a_start_that_fails_needs_its_owner(broken: Broken) -> None:
    line = broken("start-fails")
    failed = line.run("create", "a")
    assert failed.exit_code == 6
    assert "no such environment" in failed.stderr
    assert line.run("wait", "a", "--for", "ready").exit_code == 6


def test_a_restart_must_be_asked_for_as_fresh(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "again")
    refused = intermezzo.run("restart", "again")
    assert (refused.exit_code, "--fresh" in refused.stderr) == (2, True)
    assert intermezzo.run("restart", "again", "--fresh").exit_code == 0


def test_deleting_asks_first_and_then_nothing_is_left(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "short-lived")
    asked = intermezzo.run("delete", "short-lived")
    assert (asked.exit_code, "--yes" in asked.stderr) == (2, True)
    assert intermezzo.run("delete", "short-lived", "--files", "--yes").exit_code == 0
    assert intermezzo.run("show", "short-lived").exit_code == 3
    assert intermezzo.run("wait", "short-lived", "--for", "deleted").exit_code == 0


def test_the_files_of_what_is_deleted_can_be_used_by_the_name_that_is_printed(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "first")
    volume = intermezzo.json("show", "first")["volume"]
    deleted = intermezzo.run("delete", "first", "--yes")
    assert f"`--home {volume}`" in deleted.stdout
    assert intermezzo.run("create", "second", "--home", volume).exit_code == 0
    assert intermezzo.json("delete", "second", "--files", "--yes")["volume"] == volume


def test_waiting_is_bounded(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "patient")
    assert intermezzo.run("wait", "patient").exit_code == 0
    late = intermezzo.run("wait", "patient", "--for", "paused", "--timeout", "0.1")
    assert (late.exit_code, "ready after 0.1 s" in late.stderr) == (1, True)


def test_events_snapshots_and_logs_tell_what_happened(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "seen")
    intermezzo.run("pause", "seen")
    events = [entry["event"] for entry in intermezzo.json("events", "seen")]
    assert events[0] == "created"
    assert "capacity_freed" in events
    times = [entry["at"] for entry in intermezzo.json("events", "seen")]
    assert times == sorted(times)
    [snapshot] = intermezzo.json("snapshots", "seen")
    assert snapshot["id"] in intermezzo.run("snapshots", "seen").stdout
    assert "sandbox" in intermezzo.run("logs", "seen").stdout


def test_no_wait_returns_the_operation(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "hasty")
    operation = intermezzo.json("pause", "hasty", "--no-wait")
    assert operation["kind"] == "pause"
    assert intermezzo.run("wait", "hasty", "--for", "paused").exit_code == 0


def test_open_prints_an_address_and_a_login_link_whose_code_no_log_sees(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "opened")
    assert "/workspace/connect/default/opened/jupyterlab/" in intermezzo.run("open", "opened", "--no-browser").stdout
    assert "/login#code=" in intermezzo.json("open")["url"]


def test_list_shows_every_workspace_with_its_state(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "team-b/listed")
    assert "team-b/listed" in intermezzo.run("list").stdout
    [found] = json.loads(intermezzo.run("list", "--namespace", "team-b", "--json").stdout)
    assert found["state"] == "ready"
