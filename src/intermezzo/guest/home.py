"""Prepares the home volume: a layered virtual environment that holds what the user installs, and the kernel's spec.

The server runs from the prepared environment, which is read-only, so that nothing the user installs can break
it. Kernels and terminals run from `~/.venv`, which lies in the volume and survives a fresh start. Nothing the
user made is ever overwritten or removed.
"""

import json
import os
import sys
import sysconfig
import venv
from pathlib import Path

from intermezzo.guest.checkpoint import index
from intermezzo.guest.session import Session

LAYER = "_intermezzo_environment.pth"
# Where `intermezzo.checkpoint` is for kernels and terminals; a version that the user installs hides it.
LIBRARY = Path(__file__).resolve().parent / "library"
# The same for whoever has nothing but the home, on any machine.
CHECKPOINT = Path(__file__).resolve().parent / "checkpoint"
TAKEN_ALONG = Path(".intermezzo") / "library" / "intermezzo" / "checkpoint"
PIP = '#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n'


def prepare(session: Session) -> None:
    """Make everything that the server and the kernels need. Idempotent; repairs links after a change of Python."""
    for folder in (session.runtime, f"{session.runtime}/jupyter", str(session.witnesses), str(session.keepers)):
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    _layered_environment(session.layered)
    _kernel_spec(session)
    try:
        _checkpoints(Path(session.home))
    except OSError as error:
        # Whoever starts to make room in a full home must get in.
        sys.stderr.write(f"intermezzo: home is not prepared for checkpoints: {error}\n")


def _layered_environment(target: Path) -> None:
    packages = target / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    if not _current(target):
        _remove_links(target / "bin")
        venv.EnvBuilder(symlinks=True, with_pip=False).create(target)
    prepared = sysconfig.get_path("purelib")
    _write(packages / LAYER, f"import site; site.addsitedir({prepared!r})\n{LIBRARY}\n", 0o644)
    for name in ("pip", "pip3"):
        if not (target / "bin" / name).exists():
            _write(target / "bin" / name, PIP, 0o755)


def _current(target: Path) -> bool:
    """Whether the environment there belongs to the Python that runs now."""
    python = target / "bin" / "python"
    base = os.path.realpath(sys.executable)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return python.exists() and os.path.realpath(python) == base and (target / "lib" / f"python{version}").is_dir()


def _remove_links(folder: Path) -> None:
    """Stale links to a Python that is gone: `venv` would not replace them."""
    for link in folder.glob("python*"):
        if link.is_symlink():
            link.unlink()


def _kernel_spec(session: Session) -> None:
    folder = Path(session.runtime) / "intermezzo" / "share" / "jupyter" / "kernels" / "python3"
    folder.mkdir(parents=True, exist_ok=True)
    python = str(session.layered / "bin" / "python")
    spec = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "metadata": {"debugger": True},
    }
    _write(folder / "kernel.json", json.dumps(spec), 0o644)


def _checkpoints(home: Path) -> None:
    (home / index.FOLDER).mkdir(mode=0o700, parents=True, exist_ok=True)
    for module in sorted(CHECKPOINT.glob("*.py")):
        _write(home / TAKEN_ALONG / module.name, module.read_text(encoding="utf-8"), 0o644)


def _write(path: Path, text: str, mode: int) -> None:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".new")
    aside.write_text(text, encoding="utf-8")
    aside.chmod(mode)
    aside.replace(path)
