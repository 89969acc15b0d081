"""The story of a trial over a simulated Intermezzo, where pauses and resumes can be made to fail."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cli.conftest import CommandLine, broken, intermezzo
from trials import notebooks

__all__ = ["broken", "intermezzo"]
Broken = Callable[[str], CommandLine]
CELLS = ("x = 6", "y = 7", "print(x * y)")


def tried(line: CommandLine, folder: Path, *cells: str) -> tuple[Result, dict[str, Any]]:
    """A trial on the installation that is up, and its report."""
    file = notebooks.write(folder / "mine.ipynb", *cells)
    result = line.run("trial", "--here", "--notebook", str(file), "--output", str(folder / "out"))
    return result, json.loads((folder / "out" / "report.json").read_text())


def test_a_notebook_without_tags_or_json_is_enough(intermezzo: CommandLine, tmp_path: Path) -> None:
    result, report = tried(intermezzo, tmp_path, *CELLS)
    assert (result.exit_code, report["passed"]) == (0, True), result.output
    assert report["notebook"]["next_cell"] == CELLS[-1]
    assert [way["answer"]["text"] for way in report["ways"]] == ["42", "42", "42"]
    assert report["proof"]["notebook_agrees"] is None
    assert report["waiting"] is None  # there was room for both
    assert report["taken_by_other"]["name"] == "second"
    assert intermezzo.json("list") == []


def test_a_forgetful_engine_is_found_out(broken: Broken, tmp_path: Path) -> None:
    result, report = tried(broken("forgetful"), tmp_path, *CELLS)
    assert (result.exit_code, report["verdict"]) == (1, "fresh")
    assert "the verdict is fresh" in result.stderr
    assert "NameError" in report["ways"][1]["answer"]["problem"]
    assert report["ways"][2]["answer"]["text"] == "42"


def test_a_pause_that_fails_ends_the_trial_with_its_reason(broken: Broken, tmp_path: Path) -> None:
    line = broken("disk-full")
    result, report = tried(line, tmp_path, *CELLS)
    assert (result.exit_code, report["verdict"], report["released"]) == (1, "unknown", None)
    assert "the disk is full" in result.stderr
    assert report["timings_s"]["cold_to_next_cell"] > 0
    assert report["timings_s"]["pause_to_free"] is None
    assert line.json("list") == []


def test_a_resume_that_fails_leaves_the_recovery_from_files(broken: Broken, tmp_path: Path) -> None:
    result, report = tried(broken("engine-128"), tmp_path, *CELLS)
    assert (result.exit_code, report["verdict"], report["same_pid"]) == (1, "fresh", False)
    assert "status 128" in report["shortcomings"][0]
    assert [way["name"] for way in report["ways"]] == ["first start", "resume (it failed)", "recovery from files"]
    assert report["ways"][2]["answer"]["text"] == "42"
    assert report["files_equal"] is True


def test_a_notebook_that_fails_by_itself_is_no_trial(intermezzo: CommandLine, tmp_path: Path) -> None:
    result, report = tried(intermezzo, tmp_path, "x = 1 / 0", "print(x)")
    assert (result.exit_code, report["passed"]) == (1, False)
    assert "the notebook failed: ZeroDivisionError" in result.stderr
    assert intermezzo.json("list") == []


def test_names_that_are_taken_are_left_alone(intermezzo: CommandLine, tmp_path: Path) -> None:
    intermezzo.run("create", "trial")
    file = notebooks.write(tmp_path / "mine.ipynb", *CELLS)
    result = intermezzo.run("trial", "--here", "--notebook", str(file), "--output", str(tmp_path / "out"))
    assert result.exit_code == 4
    assert [found["name"] for found in intermezzo.json("list")] == ["trial"]
    intermezzo.run("delete", "trial", "--files", "--yes")


@pytest.mark.parametrize("keep", [True, False])
def test_keep_leaves_the_workspace_to_look_at(intermezzo: CommandLine, tmp_path: Path, keep: bool) -> None:
    file = notebooks.write(tmp_path / "mine.ipynb", *CELLS)
    arguments = ["trial", "--here", "--notebook", str(file), "--output", str(tmp_path / "out"), "--json"]
    result = intermezzo.run(*arguments, *(["--keep"] if keep else []))
    assert json.loads(result.stdout) == json.loads((tmp_path / "out" / "report.json").read_text())
    assert [found["name"] for found in intermezzo.json("list")] == (["trial"] if keep else [])
    intermezzo.run("delete", "trial", "--files", "--yes")
