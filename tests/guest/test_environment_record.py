"""The record that every pause leaves in home: what is in it, that pip can read it, and that nothing keeps a pause."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from intermezzo import checkpoint
from intermezzo.guest.checkpoint import index
from intermezzo.guest.record import record
from intermezzo.guest.record.deadline import Deadline
from intermezzo.guest.record.environments import kernels, of_others
from intermezzo.guest.record.notebooks import notebooks
from intermezzo.guest.record.packages import effective, installed

LIBRARY = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
LONG = 60.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".venv" / LIBRARY).mkdir(parents=True)
    return tmp_path


def distribution(folder: Path, name: str, version: str, origin: dict[str, Any] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    information = folder / f"{name}-{version}.dist-info"
    information.mkdir()
    (information / "RECORD").write_text(f"{name}/__init__.py,sha256=abc,3\n")
    if origin is not None:
        (information / "direct_url.json").write_text(json.dumps(origin))
    return information


def kept(home: Path) -> dict[str, Any]:
    told = record.keep(str(home), home / ".venv")
    assert "problem" not in told, told
    found: dict[str, Any] = json.loads((home / record.FOLDER / record.RECORD).read_text())
    return found


def test_it_names_every_package_with_version_and_digest(home: Path) -> None:
    information = distribution(home / ".venv" / LIBRARY, "Left_Pad", "1.2.3+cpu")
    found = {package["name"]: package for package in kept(home)["environments"][0]["packages"]}
    digest = hashlib.sha256((information / "RECORD").read_bytes()).hexdigest()
    assert found["left-pad"] == {
        "name": "left-pad",
        "version": "1.2.3+cpu",
        "layer": "home",
        "sha256": digest,
        "origin": "",
    }
    assert found["pytest"]["layer"] == "prepared"
    assert found["pytest"]["version"] == pytest.__version__


def test_what_home_has_hides_what_was_prepared(home: Path) -> None:
    distribution(home / ".venv" / LIBRARY, "pytest", "0.0.1")
    named = [p for p in kept(home)["environments"][0]["packages"] if p["name"] == "pytest"]
    assert [(p["version"], p["layer"]) for p in named] == [("0.0.1", "home")]


def test_pip_reads_the_requirements(home: Path) -> None:
    """As the environment that this test runs in has every one of them, pip finds nothing left to install."""
    kept(home)
    asked = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--dry-run", "--quiet"]
    ran = subprocess.run(
        [*asked, "--requirement", str(home / record.FOLDER / record.REQUIREMENTS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (
            {"url": "https://me:secret@example.org/a.whl?token=t", "archive_info": {"hashes": {"sha256": "ab"}}},
            "a @ https://example.org/a.whl#sha256=ab",
        ),
        (
            {"url": "https://example.org/a.whl", "archive_info": {"hash": "sha256=cd"}},
            "a @ https://example.org/a.whl#sha256=cd",
        ),
        (
            {"url": "https://example.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "a @ git+https://example.org/a.git@c0ffee",
        ),
        (
            {"url": "file:///home/a", "dir_info": {"editable": True}},
            "# a==1 was installed from file:///home/a; bring it along by hand",
        ),
        ({"url": 7}, "a @ 7"),
        ({}, "a==1"),
    ],
)
def test_where_a_package_came_from(tmp_path: Path, origin: dict[str, Any], line: str) -> None:
    distribution(tmp_path, "a", "1", origin)
    assert [package.requirement for package in installed(tmp_path, "home", Deadline(LONG))] == [line]


def test_damaged_folders_of_packages_are_passed_over(tmp_path: Path) -> None:
    distribution(tmp_path, "good", "1")
    (tmp_path / "nonsense.dist-info").write_text("")
    (tmp_path / "~ood-1.dist-info").mkdir()
    (distribution(tmp_path, "odd", "2") / "direct_url.json").write_bytes(b"\xff")
    assert [p.requirement for p in effective(installed(tmp_path, "home", Deadline(LONG)))] == ["good==1", "odd==2"]


def test_an_environment_of_another_kernel_has_a_file_of_its_own(home: Path) -> None:
    other = home / "project env"
    distribution(other / "lib/python3.9/site-packages", "old", "9")
    (other / "pyvenv.cfg").write_text("home = /usr\nversion = 3.9.1\n")
    found = of_others(
        [{"environment": str(other)}, {"environment": str(home / ".venv")}], home / ".venv", Deadline(LONG)
    )
    assert [(each.path, each.python, each.packages[0].requirement) for each in found] == [(other, "3.9.1", "old==9")]


def test_a_kernel_is_told_with_its_notebook_and_its_environment(home: Path) -> None:
    (home / "env" / "bin").mkdir(parents=True)
    (interpreter := home / "env/bin/python").symlink_to(sys.executable)
    waits = "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [str(interpreter), "-c", waits, "-f", "/run/kernel-0123456789abcdef.json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "JPY_SESSION_NAME": "work/exp.ipynb", "PYTHONHASHSEED": "7", "PYTHONHOME": sys.base_prefix},
    ) as process:
        assert process.stdout and process.stdout.readline()
        found = [kernel for kernel in kernels() if kernel["pid"] == process.pid]
        process.communicate()
    expected = {
        "id": "0123456789abcdef",
        "notebook": "work/exp.ipynb",
        "environment": str(home / "env"),
        "hash_seed": "7",
    }
    assert found == [{**expected, "pid": process.pid}]


def test_the_notebooks_of_home_are_listed_and_nobody_elses(home: Path) -> None:
    (home / "work" / ".ipynb_checkpoints").mkdir(parents=True)
    (home / "work/exp é.ipynb").write_text("{}")
    (home / "work/.ipynb_checkpoints/exp.ipynb").write_text("{}")
    (home / "elsewhere.ipynb").symlink_to("/etc/passwd")
    (home / "folder.ipynb").mkdir()
    (home / "round").symlink_to(home)
    assert [(each["path"], each["bytes"]) for each in kept(home)["notebooks"]] == [("work/exp é.ipynb", 2)]


def test_what_there_is_no_time_for_is_left_out_and_said(home: Path) -> None:
    (home / "a.ipynb").write_text("{}")
    assert notebooks(home, Deadline(0)) == ([], False)
    made, files = record.made(home, home / ".venv", Deadline(0))
    assert made["complete"] is False
    assert f"pytest=={pytest.__version__}\n" in files[record.REQUIREMENTS]


def test_the_files_are_those_that_the_record_names(home: Path) -> None:
    (home / record.FOLDER).mkdir(parents=True)
    (home / record.FOLDER / "requirements-7-gone.txt").write_text("stale")
    found = kept(home)
    there = {path.name for path in (home / record.FOLDER).iterdir()}
    assert there == {record.RECORD, *found["files"]}
    for name, digest in found["files"].items():
        assert hashlib.sha256((home / record.FOLDER / name).read_bytes()).hexdigest() == digest


def test_the_newest_checkpoints_are_named_with_whether_the_random_numbers_are_in_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    (home / index.FOLDER).mkdir(parents=True)
    (home / index.FOLDER / "nonsense.json").write_text('{"series": "x", "checkpoints": []}')
    checkpoint.save({}, "a", folder=home, label="old")
    checkpoint.save({}, "a", folder=home, label="new", with_random_state=True)
    (named,) = kept(home)["checkpoints"]
    assert (named["series"], named["label"], named["has_random_state"]) == ("a", "new", True)


def test_no_variable_of_the_session_is_in_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "S3CRET")
    assert "S3CRET" not in json.dumps(kept(home))


def test_a_home_that_takes_no_file_is_a_sentence_and_the_last_record_stays(home: Path) -> None:
    before = kept(home)
    (home / record.FOLDER / f".{record.RECORD}.new").mkdir()  # whatever the cause, nothing can be written there
    told = record.keep(str(home), home / ".venv")
    assert told["problem"].startswith("the environment record could not be written")
    assert json.loads((home / record.FOLDER / record.RECORD).read_text()) == before
