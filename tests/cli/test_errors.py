"""When something is wrong: one line, a hint, an exit code, and nothing half made."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import CommandLine


def test_without_a_running_intermezzo_it_says_where_it_looked_and_how_to_start_it(
    nowhere: CommandLine, tmp_path: Path
) -> None:
    result = nowhere.run("list")
    assert result.exit_code == 5
    assert result.stdout == ""
    assert result.stderr == f"Error: Intermezzo is not running in {tmp_path}\nHint: start it with `intermezzo up`\n"


def test_with_json_an_error_is_json_too(nowhere: CommandLine) -> None:
    found = nowhere.json("list", exit_code=5)
    assert found["error"]["code"] == "unreachable"


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (("create", "a", "--kind", "none"), 2, "--kind"),
        (("create", "a", "--pod", "1e99 CPU"), 2, "--pod: unknown option"),
        (("create", "a", "--home", "../../etc"), 2, "--home"),
        (("create", "a/b/c"), 2, "namespace"),
        (("create", "a", "--env", "novalue"), 2, "--env"),
        (("create", "a", "--env", "1=a"), 2, "--env.1"),
        (("create",), 2, "NAME"),
        (("nonsense",), 2, "nonsense"),
        (("show", "none"), 3, "default/none"),
        (("pause", "none"), 3, "default/none"),
        (("run", "none"), 2, "notebook"),
        (("run", "none", "-c", ""), 2, "-c is empty"),
        (("run", "none", "-c", " \n"), 2, "-c is empty"),
        (("run", "none", "no-such-file.ipynb"), 2, "no-such-file.ipynb"),
        (("wait", "none", "--for", "happiness"), 2, "happiness"),
        (("--set", "listen.prot=1", "config", "show"), 2, "listen.prot"),
        (("--set", "listen", "config", "show"), 2, "listen"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_made(
    arguments: tuple[str, ...], code: int, named: str, intermezzo: CommandLine
) -> None:
    before = intermezzo.json("list")
    result = intermezzo.run(*arguments)
    assert (result.exit_code, named in result.stderr) == (code, True), result.output
    assert "Traceback" not in result.output
    assert intermezzo.json("list") == before


def test_a_file_that_is_no_notebook_is_refused(intermezzo: CommandLine, tmp_path: Path) -> None:
    intermezzo.run("create", "reader")
    for name, text in (("a.ipynb", "no JSON"), ("b.ipynb", "[]"), ("c.ipynb", '{"cells": 7}')):
        file = tmp_path / name
        file.write_text(text)
        found = intermezzo.json("run", "reader", str(file), exit_code=2)
        assert list(found["error"]["fields"]) == ["notebook"]


def test_a_notebook_with_nothing_to_run_is_not_said_to_have_failed_at_a_cell(
    intermezzo: CommandLine, tmp_path: Path
) -> None:
    intermezzo.run("create", "empty")
    file = tmp_path / "empty.ipynb"
    file.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}))
    result = intermezzo.run("run", "empty", str(file))
    assert "of 0" not in result.stderr


def test_a_malformed_notebook_is_refused_in_plain_words(intermezzo: CommandLine, tmp_path: Path) -> None:
    intermezzo.run("create", "critic")
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": 7, "outputs": [], "execution_count": None}
    file = tmp_path / "malformed.ipynb"
    file.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}))
    result = intermezzo.run("run", "critic", str(file))
    assert "Error: notebook: cells.0.source does not fit the format of notebooks\n" in result.stderr
    assert "schema" not in result.stderr


def test_a_name_that_is_taken_and_a_resume_of_what_runs_are_conflicts(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "taken")
    assert intermezzo.run("create", "taken").exit_code == 4
    assert intermezzo.run("resume", "taken").exit_code == 4


def test_a_pause_that_is_refused_says_nothing_of_what_a_pause_keeps(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "asleep")
    assert "A PAUSE AND" in intermezzo.run("pause", "asleep").stdout
    refused = intermezzo.run("pause", "asleep")
    assert (refused.exit_code, refused.stdout) == (4, "")


def test_a_workspace_with_a_space_in_its_name_is_resumed_with_what_the_pause_said(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "my exp")
    quoted = intermezzo.run("pause", "my exp").stdout.split("`")[1::2]
    program, *arguments = shlex.split(next(text for text in quoted if text.startswith("intermezzo resume")))
    assert (program, intermezzo.run(*arguments).exit_code) == ("intermezzo", 0)


def test_the_program_itself_ends_with_these_codes(tmp_path: Path) -> None:
    """Through a real process, as a shell sees it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERMEZZO_")}
    for arguments, code in ((["list"], 5), (["lst"], 2), (["--help"], 0), (["config", "show", "--json"], 0)):
        command = [sys.executable, "-c", "from intermezzo.cli.main import main; main()", *arguments]
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == code, ended.stderr


def test_a_token_never_shows_in_what_is_printed(intermezzo: CommandLine) -> None:
    token = json.loads((intermezzo.data_dir / "run" / "connection.json").read_text())["token"]
    for arguments in (["list"], ["config", "show"], ["show", "none"], ["list", "--json"]):
        assert token not in intermezzo.run(*arguments).output
