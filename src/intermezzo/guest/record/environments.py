"""The Python environments that this session uses: the one in home over the prepared one, and those of other kernels."""

import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intermezzo.guest import processes
from intermezzo.guest.record.deadline import Deadline
from intermezzo.guest.record.packages import Package, effective, installed

HOME, PREPARED, OWN = "home", "prepared", "own"
VERSION = re.compile(r"^version(?:_info)?\s*=\s*(\d[\w.]*)", re.MULTILINE)
NOTEBOOK, HASH_SEED = "JPY_SESSION_NAME=", "PYTHONHASHSEED="


@dataclass(frozen=True)
class Environment:
    """One environment by its directory, with Python's version and the packages that a program in it finds."""

    path: Path
    python: str
    packages: list[Package]


def of_home(layered: Path, deadline: Deadline) -> Environment:
    """The one that kernels and terminals run from unless somebody chose another."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    home = installed(layered / "lib" / version / "site-packages", HOME, deadline)
    prepared = installed(Path(sysconfig.get_path("purelib")), PREPARED, deadline)
    return Environment(layered, platform.python_version(), effective(home, prepared))


def of_others(kernels: Iterable[dict[str, Any]], layered: Path, deadline: Deadline) -> list[Environment]:
    """Those of the kernels that run from elsewhere."""
    paths = dict.fromkeys(Path(kernel["environment"]) for kernel in kernels if kernel["environment"])
    return [_other(path, deadline) for path in paths if path != layered]


def kernels() -> list[dict[str, Any]]:
    """Each kernel that runs now: `id`, `pid`, the `notebook` as Jupyter told the kernel, its `environment`, and the
    `hash_seed` by which Python orders its sets, empty where it is another one in each process."""
    # Where there is no sandbox, kernels of others run beside them.
    own = {process.pid for process in processes.family(os.getpid())}
    return [
        {
            "id": kernel_id,
            "pid": pid,
            "notebook": _variable(pid, NOTEBOOK),
            "environment": _environment(pid),
            "hash_seed": _variable(pid, HASH_SEED),
        }
        for kernel_id, pid in processes.kernels()
        if pid in own
    ]


def _other(path: Path, deadline: Deadline) -> Environment:
    folders = sorted(path.glob("lib/python3*/site-packages"))
    packages = effective(*(installed(folder, OWN, deadline) for folder in folders))
    return Environment(path, _version(path, folders), packages)


def _version(path: Path, folders: list[Path]) -> str:
    try:
        found = VERSION.search((path / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        found = None
    return found[1] if found else next((folder.parent.name.removeprefix("python") for folder in folders), "")


def _environment(pid: int) -> str:
    """The directory whose `bin` the kernel's interpreter was started from; empty where that is not known."""
    interpreter = Path(next(iter(processes.arguments(pid)), ""))
    return str(interpreter.parent.parent) if interpreter.parent.name == "bin" else ""


def _variable(pid: int, name: str) -> str:
    """One that is named here, and no other: they hold secrets."""
    try:
        variables = (processes.PROC / str(pid) / "environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    return next((each.removeprefix(name) for each in variables if each.startswith(name)), "")
