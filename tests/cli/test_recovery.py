"""Coming back from what went wrong, on the command line."""

import tarfile
from collections.abc import Callable
from pathlib import Path

from cli.conftest import CommandLine
from intermezzo.cli.exits import Exit

Broken = Callable[[str], CommandLine]


def test_fr07_a_failed_resume_leads_to_every_way_back_and_one_is_taken(broken: Broken) -> None:
    line = broken("engine-128")
    line.run("create", "a")
    line.run("run", "a", "-c", "x = 5")
    line.run("pause", "a")
    failed = line.run("resume", "a")
    assert "try again: `intermezzo resume default/a`" in failed.stderr
    assert "start fresh from the files" in failed.stderr
    assert "intermezzo recover default/a" in failed.stderr
    shown = line.run("recover", "a")
    assert shown.exit_code == 0
    for line_of_each in ("brings back:", "loses:"):
        assert shown.stdout.count(line_of_each) == 4
    assert [way["way"] for way in line.json("recover", "a")] == ["retry", "older", "fresh", "export"]
    older = line.run("recover", "a", "--with", "older")
    assert older.exit_code == 4
    assert "There is no other snapshot" in older.stderr
    assert line.run("recover", "a", "--with", "retry").exit_code == 0
    assert line.run("run", "a", "-c", "print(x)").stdout == "5\n"


def test_a_place_for_an_archive_is_refused_where_there_will_be_none(intermezzo: CommandLine, tmp_path: Path) -> None:
    intermezzo.run("create", "no-archive")
    refused = intermezzo.run("recover", "no-archive", "--with", "fresh", "-o", str(tmp_path))
    assert refused.exit_code == Exit.USAGE
    assert "--with export" in refused.stderr
    assert list(tmp_path.iterdir()) == []
    assert intermezzo.json("show", "no-archive")["operation"] is None


def test_an_older_snapshot_and_a_fresh_start_are_taken_as_they_are_said(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "ways")
    for value in (1, 2):
        intermezzo.run("run", "ways", "-c", f"x = {value}")
        intermezzo.run("pause", "ways")
        if value == 1:
            intermezzo.run("resume", "ways")
    older = intermezzo.run("recover", "ways", "--with", "older")
    assert older.exit_code == 0
    assert "Every snapshot stays" in older.stdout
    assert intermezzo.run("run", "ways", "-c", "print(x)").stdout == "1\n"
    refused = intermezzo.run("recover", "ways", "--with", "older")
    assert refused.exit_code == 4
    assert "intermezzo pause default/ways" in refused.stderr
    intermezzo.run("pause", "ways")
    assert intermezzo.run("recover", "ways", "--with", "fresh").exit_code == 0
    assert intermezzo.json("show", "ways")["continuity"]["verdict"] == "fresh"


def test_recovering_never_ends_a_session_that_runs(intermezzo: CommandLine) -> None:
    intermezzo.run("create", "well")
    intermezzo.run("run", "well", "-c", "x = 7")
    refused = intermezzo.run("recover", "well", "--with", "fresh")
    assert refused.exit_code == Exit.CONFLICT
    assert "intermezzo restart default/well --fresh" in refused.stderr
    assert intermezzo.run("run", "well", "-c", "print(x)").stdout == "7\n"


def test_an_export_is_one_file_that_nobody_else_can_read_and_that_replaces_none(
    intermezzo: CommandLine, tmp_path: Path
) -> None:
    intermezzo.run("create", "taken-along")
    made = intermezzo.json("export", "taken-along", "-o", str(tmp_path))
    assert (made["skipped"], made["uncertain"]) == (0, 0)
    file = Path(made["file"])
    assert (file.parent, file.stat().st_size) == (tmp_path, made["bytes"])
    assert file.stat().st_mode & 0o777 == 0o600
    with tarfile.open(file) as archive:
        names = archive.getnames()
    assert names[0].endswith("/README.md")
    assert names[-1].endswith("/manifest.json")
    again = intermezzo.run("export", "taken-along", "-o", str(file))
    assert again.exit_code == 4
    assert "exists already" in again.stderr
    assert "half old, half new" in again.stderr  # it runs, and that is said first
    named = intermezzo.run("recover", "taken-along", "--with", "export", "-o", str(tmp_path / "mine.tar.gz"))
    assert named.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([file.name, "mine.tar.gz"])


def test_a_folder_that_is_not_there_is_said_and_nothing_is_left(intermezzo: CommandLine, tmp_path: Path) -> None:
    intermezzo.run("create", "nowhere-to-go")
    result = intermezzo.run("export", "nowhere-to-go", "-o", str(tmp_path / "not" / "there.tar.gz"))
    assert result.exit_code != 0
    assert "there.tar.gz" in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert list(tmp_path.iterdir()) == []
