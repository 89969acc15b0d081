"""The environment record: what somebody needs to do this session's work again elsewhere, left in its home.

It is made before every pause, whatever the pause keeps, by `keep`; everything in it is in `~/.intermezzo/record`:

- `record.json`: the whole record, written last; it names the other files with their sha256;
- `requirements.txt`: the packages that kernels find, pinned, for `pip install --requirement`;
- `requirements-NAME.txt`: the same for each other environment that a kernel runs from.

It is bounded in time, tells what it left out for that, and is never a reason for a pause to fail. Of environment
variables it tells the two that are named in `environments`, since others hold secrets.
"""

import hashlib
import json
import os
import platform
import re
import time
from pathlib import Path
from typing import Any

from intermezzo.guest.checkpoint import index
from intermezzo.guest.record import environments
from intermezzo.guest.record.deadline import Deadline
from intermezzo.guest.record.environments import Environment
from intermezzo.guest.record.notebooks import notebooks

FOLDER = Path(".intermezzo") / "record"
RECORD, REQUIREMENTS = "record.json", "requirements.txt"
WITHIN_S = 3.0
VERSION = 1


def keep(home: str, layered: Path) -> dict[str, Any]:
    """Make the record and leave it in home; what came of it: `packages`, `notebooks`, `complete`, `seconds`, or
    `problem`, one sentence. Never raises."""
    began = time.monotonic()
    try:
        record, files = made(Path(home), layered, Deadline(WITHIN_S))
        _leave(Path(home) / FOLDER, record, files)
    except (OSError, ValueError) as error:
        return {"problem": f"the environment record could not be written: {error}"[:300]}
    return {
        "packages": len(record["environments"][0]["packages"]),
        "notebooks": len(record["notebooks"]),
        "complete": record["complete"],
        "seconds": round(time.monotonic() - began, 3),
    }


def look(layered: Path) -> None:
    """Read now what the first record would have to read, so that the first pause takes no longer than later ones."""
    environments.of_home(layered, Deadline(WITHIN_S))


def made(home: Path, layered: Path, deadline: Deadline) -> tuple[dict[str, Any], dict[str, str]]:
    """The record, and the contents of the other files by their names."""
    running = environments.kernels()
    found = [environments.of_home(layered, deadline), *environments.of_others(running, layered, deadline)]
    listed, all_listed = notebooks(home, deadline)
    files = {_file_name(place, each): requirements(each) for place, each in enumerate(found)}
    record = {
        "version": VERSION,
        "made_at": time.time_ns() // 1_000_000,
        "complete": all_listed and not deadline.missed,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "environments": [_told(each, name, home) for each, name in zip(found, files, strict=True)],
        "kernels": [{**kernel, "environment": _below(kernel["environment"], home)} for kernel in running],
        "notebooks": listed,
        "checkpoints": index.newest(home),
        "files": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()},
    }
    return record, files


def requirements(environment: Environment) -> str:
    """A file of requirements for pip: every package with its exact version."""
    head = [
        f"# Python {environment.python} on {platform.machine()}. Made by Intermezzo before a pause.",
        "# In a fresh virtual environment: python -m pip install --requirement THIS-FILE",
    ]
    return "\n".join([*head, *(package.requirement for package in environment.packages)]) + "\n"


def _told(environment: Environment, file: str, home: Path) -> dict[str, Any]:
    packages = [
        {"name": p.name, "version": p.version, "layer": p.layer, "sha256": p.sha256, "origin": p.origin}
        for p in environment.packages
    ]
    path = _below(str(environment.path), home)
    return {"path": path, "python": environment.python, "requirements": file, "packages": packages}


def _file_name(place: int, environment: Environment) -> str:
    """The number keeps two environments apart whose folders have one name."""
    if place == 0:
        return REQUIREMENTS
    return f"requirements-{place}-{re.sub(r'[^A-Za-z0-9._-]', '_', environment.path.name)[:60] or 'other'}.txt"


def _below(path: str, home: Path) -> str:
    """As it is called in any home: the record is for other machines."""
    return f"~/{Path(path).relative_to(home)}" if path and Path(path).is_relative_to(home) else path


def _leave(folder: Path, record: dict[str, Any], files: dict[str, str]) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in files.items():
        if not _holds(folder / name, text):
            _write(folder / name, text)
    _write(folder / RECORD, json.dumps(record) + "\n")
    for stale in folder.glob("requirements-*.txt"):
        if stale.name not in files:
            stale.unlink()


def _holds(path: Path, text: str) -> bool:
    """Most pauses find the packages that the one before found."""
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


def _write(path: Path, text: str) -> None:
    aside = path.with_name(f".{path.name}.new")
    try:
        with aside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
