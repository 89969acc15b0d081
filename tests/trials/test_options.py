"""What is typed wrongly is refused with what to type, before anything is made."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from intermezzo.cli.main import main

WRONG = {
    "two trials": (("trial", "--contention", "3", "--failure"), "--contention and --failure are two trials"),
    "the other's option": (("trial", "--contention", "3", "--here"), "--here is not for --contention"),
    "a notebook": (("trial", "--failure", "--notebook", "mine.ipynb"), "--notebook is not for --failure"),
    "too few": (("trial", "--contention", "1"), "contention must be from 2 to 40"),
    "nothing new": (("release-check",), "the old and the new conditions are the same"),
    "no file": (("release-check", "--to", "nowhere.yaml"), "nowhere.yaml cannot be read"),
    "no program": (("release-check", "--to-engine", "nowhere"), "nowhere is no program"),
    "no engine": (("release-check", "--to-engine", "/bin/sh"), "/bin/sh is no runsc"),
    "no moment": (("release-check", "--to-engine", "/bin/sh", "--at", "soon"), "'soon' is not a moment"),
}


@pytest.mark.parametrize("case", WRONG)
def test_it_is_refused_and_nothing_is_made(tmp_path: Path, case: str) -> None:
    arguments, said = WRONG[case]
    data, out = tmp_path / "data", tmp_path / "out"
    result = CliRunner().invoke(main, ["--data-dir", str(data), *arguments, "--output", str(out), "--json"])
    assert result.exit_code == 2, result.output
    assert said in json.loads(result.stdout)["error"]["message"]
    assert not data.exists()
    assert not out.exists()
