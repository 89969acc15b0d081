"""The prepared environments that sandboxes run on: Python's virtual environments, bound read-only.

A running session has these files mapped, so a snapshot records a digest of them: a changed environment would
be a different program under the same memory.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.kind import EMBEDDED

REMEDIES = {environment.name: environment.remedy for environment in EMBEDDED.values()}
DEFAULT_REMEDY = "make setup"
SETUPTOOLS_OWN = "distutils-precedence.pth"
# Beside VS Code: every package of Node's that it is made of, with its version.
NODE_LOCK = Path("share/code-server/package-lock.json")


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment and the Python installation that it is a layer over."""

    path: Path
    base: Path

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.path / "bin" / "python"

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over the packages and their versions, of both languages, and the Python below."""
        return _digest(self, _changed(self.packages), _changed(self.path / NODE_LOCK))

    @property
    def packages(self) -> Path:
        """Where the Python packages lie."""
        return next(iter(sorted(self.path.glob("lib/python3*/site-packages"))), self.path)

    @property
    def is_whole(self) -> bool:
        """Whether it has a server: what prepares an environment puts that in place last.

        One that is a layer over another (by a `.pth` file) is believed; what it lacks its start will tell.
        """
        usable = (self.path / "pyvenv.cfg").is_file() and self.python.exists()
        return usable and (
            self._is_layer or (self.packages / "jupyterlab").is_dir() or (self.path / NODE_LOCK).is_file()
        )

    @property
    def _is_layer(self) -> bool:
        return any(file.name != SETUPTOOLS_OWN for file in self.packages.glob("*.pth"))


@lru_cache(maxsize=64)
def _digest(environment: Environment, packages_changed: int, lock_changed: int) -> str:
    names = sorted(entry.name for entry in environment.packages.glob("*.dist-info"))
    lock = environment.path / NODE_LOCK
    locked = [hashlib.sha256(lock.read_bytes()).hexdigest()] if lock.is_file() else []
    content = "\n".join([str(environment.path), str(environment.base), *names, *locked])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


class Environments:
    """The environments of this node by name."""

    def __init__(self, paths: dict[str, Path]) -> None:
        self._paths = paths

    def prepared(self) -> tuple[str, ...]:
        """The names of those that can be used now; looked at afresh, for one may be prepared at any time."""
        return tuple(sorted(name for name, path in self._paths.items() if Environment(path, _base(path)).is_whole))

    def get(self, name: str) -> Environment:
        """Raises InvalidInput if there is no such environment, or it is not a virtual environment."""
        path = self._paths.get(name)
        if path is None:
            known = ", ".join(sorted(self._paths)) or "none"
            raise InvalidInput(
                f"there is no environment {name!r} on this node (there is: {known})",
                f"Run `{REMEDIES.get(name, DEFAULT_REMEDY)}`, or name it in the node's configuration.",
                {"sandbox.environment": "is not known on this node"},
            )
        settings = path / "pyvenv.cfg"
        if not settings.is_file() or not (path / "bin" / "python").exists():
            raise InvalidInput(
                f"environment {name!r} is not a virtual environment: {path}",
                f"Run `{REMEDIES.get(name, DEFAULT_REMEDY)}`.",
                {"sandbox.environment": "is not a virtual environment"},
            )
        return Environment(path, _base(path))


def _base(path: Path) -> Path:
    """The installation behind the environment: two levels above the interpreter that its link leads to."""
    return (path / "bin" / "python").resolve().parent.parent
