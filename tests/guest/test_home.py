"""What a start leaves in home for programs that keep checkpoints, also for where there is nothing but the home."""

import os
import subprocess
import sys
from pathlib import Path

from intermezzo.guest import home
from intermezzo.guest.session import Session

PROGRAM = """
import sys
from intermezzo import checkpoint
checkpoint.save({"epoch": 1}, "training", folder=sys.argv[1])
print(checkpoint.load("training", folder=sys.argv[1]), checkpoint.Keeper.__module__)
"""


def prepared(tmp_path: Path) -> Session:
    session = Session(
        "token", "jupyterlab", "127.0.0.1", 1, 2, "/", str(tmp_path / "home"), str(tmp_path / "run"), "ipc", "", {}
    )
    (tmp_path / "home").mkdir(exist_ok=True)
    home.prepare(session)
    return session


def says(python: str | Path, tmp_path: Path, *arguments: str, **variables: str) -> str:
    asked = [str(python), *arguments, "-c", PROGRAM, str(tmp_path / "checkpoints")]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), **variables}
    return subprocess.run(
        asked, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    ).stdout.strip()


def test_kernels_and_terminals_have_the_helper_and_nothing_else_of_intermezzo(tmp_path: Path) -> None:
    session = prepared(tmp_path)
    python = session.layered / "bin/python"
    # The environment of these tests has Intermezzo itself, which hides the helper; without it, it is as in a sandbox.
    layer = next(session.layered.glob(f"lib/python3*/site-packages/{home.LAYER}"))
    layer.write_text("\n".join(line for line in layer.read_text().splitlines() if "addsitedir" not in line))
    assert says(python, tmp_path) == "{'epoch': 1} intermezzo.checkpoint.keeper"
    assert (tmp_path / "home/.intermezzo/checkpoints").is_dir()
    hidden = subprocess.run([str(python), "-c", "import intermezzo.guest"], capture_output=True, cwd=tmp_path)
    assert b"ModuleNotFoundError" in hidden.stderr


def test_the_home_alone_is_enough_on_another_machine(tmp_path: Path) -> None:
    prepared(tmp_path)
    library = str(tmp_path / "home/.intermezzo/library")
    assert says(sys.executable, tmp_path, "-S", PYTHONPATH=library) == "{'epoch': 1} intermezzo.checkpoint.keeper"


def test_a_home_that_takes_no_file_can_be_entered_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.intermezzo").write_text("")  # whatever the cause, nothing can be made there
    assert (prepared(tmp_path).layered / "bin/python").exists()


def test_a_second_start_changes_nothing(tmp_path: Path) -> None:
    session = prepared(tmp_path)
    (note := Path(session.home) / home.TAKEN_ALONG / "keeper.py").touch()
    before = note.stat()
    prepared(tmp_path)
    assert note.stat() == before
