"""The doctor: what it finds on a machine, and that it says what to type."""

import json
from pathlib import Path

from cli.conftest import CommandLine
from intermezzo.cli.checks import CHECKS, Status, accelerators, disk, engine, environments, vscode
from intermezzo.config.settings import Settings


def made(tmp_path: Path, **sections: object) -> Settings:
    return Settings.model_validate({"data_dir": tmp_path, **sections})


def runsc(tmp_path: Path, checkpoint_help: str) -> Path:
    """A stand-in for the engine that answers what it is asked."""
    binary = tmp_path / "runsc"
    binary.write_text(
        f"#!/bin/sh\n[ $1 = --version ] && echo runsc version 42.0 && exit\ncat <<X\n{checkpoint_help}\nX\n"
    )
    binary.chmod(0o755)
    return binary


def test_every_failed_check_says_what_to_type(nowhere: CommandLine) -> None:
    result = nowhere.run("doctor", "--json")
    found = json.loads(result.stdout)
    assert [check["name"] for check in found["checks"]] == list(CHECKS)
    failed = [check for check in found["checks"] if check["status"] == "failed"]
    assert all(check["fix"] for check in failed)
    assert (result.exit_code, found["ok"]) == ((1, False) if failed else (0, True))
    assert "environments" in {check["name"] for check in failed}


def test_an_engine_is_asked_what_it_can_do(tmp_path: Path) -> None:
    good = runsc(tmp_path, " -leave-running\n -direct\n -compression")
    found = engine(made(tmp_path, engine={"path": good}))
    assert (found.status, "42.0" in found.found) == (Status.OK, True)
    assert engine(made(tmp_path, engine={"path": tmp_path / "none"})).status is Status.FAILED
    old = runsc(tmp_path, " -image-path")
    assert engine(made(tmp_path, engine={"path": old})).fix == "make setup"
    assert engine(made(tmp_path, engine={"name": "process"})).status is Status.WARNING


def test_the_disk_is_measured_and_left_as_it_was(tmp_path: Path) -> None:
    found = disk(made(tmp_path))
    assert "writes" in found.found
    assert list(tmp_path.iterdir()) == []


def test_declared_accelerators_are_called_virtual(tmp_path: Path) -> None:
    found = accelerators(made(tmp_path, accelerators={"virtual": [{"model": "L4", "count": 2}]}))
    assert "2 nvidia.com/gpu (virtual)" in found.found


def test_vs_code_is_not_missed_but_its_absence_is_told(tmp_path: Path) -> None:
    found = vscode(made(tmp_path))
    assert (found.status, "not prepared" in found.found, found.fix) == (Status.WARNING, True, "make vscode")


def test_a_broken_vs_code_is_told_apart_from_a_missing_one(tmp_path: Path) -> None:
    package = tmp_path / "vs" / "share/code-server/node_modules/code-server/package.json"
    package.parent.mkdir(parents=True)
    package.write_text("{")
    found = vscode(made(tmp_path, environments={"vscode": tmp_path / "vs"}))
    assert (found.status, found.fix) == (Status.FAILED, "make vscode")


def test_a_missing_environment_is_named(tmp_path: Path) -> None:
    found = environments(made(tmp_path, environments={"torch": tmp_path / "torch"}))
    assert (found.status, "torch" in found.found, found.fix) == (Status.FAILED, True, "make setup")
