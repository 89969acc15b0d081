"""What the prepared environment of a sandbox has: trusted files, read as the agent."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from intermezzo.domain.export import ENVIRONMENT_LAYER, Package
from intermezzo.node.environments import Environment
from intermezzo.node.export.packages import in_folder

PATH_FILES = "*.pth"
ADDED = re.compile(r"addsitedir\('([^']+)'\)")


def layered_packages(environment: Environment) -> list[Package]:
    """The packages of an environment, and of those that it is a layer over; the topmost of a name comes first."""
    return [package for folder in _folders(environment) for package in _in(folder)]


def python_version(environment: Environment) -> str:
    """Its Python's version, `3.11.7`; empty if it does not tell."""
    try:
        settings = (environment.path / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return ""
    found = dict(line.partition("=")[::2] for line in settings.splitlines())
    told = {name.strip(): value.strip() for name, value in found.items()}
    return told.get("version") or ".".join(told.get("version_info", "").split(".")[:3])


def _folders(environment: Environment) -> Iterator[Path]:
    yield environment.packages
    for file in sorted(environment.packages.glob(PATH_FILES)):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            said = ADDED.search(line)
            folder = Path(said[1] if said else line.strip())
            if folder.is_absolute() and folder.is_dir():
                yield folder


def _in(folder: Path) -> list[Package]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return list(in_folder(descriptor, ENVIRONMENT_LAYER))
    finally:
        os.close(descriptor)
