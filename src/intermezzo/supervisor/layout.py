"""The directories of an installation and whose they are.

The node agent's places are root's alone; the control plane's are its own account's; homes can be reached, not listed.
"""

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

from intermezzo.config.settings import Settings
from intermezzo.domain.errors import IntermezzoError
from intermezzo.private import write_private
from intermezzo.supervisor.account import Account


def prepare(settings: Settings, account: Account) -> None:
    """Create what is missing and set owners and modes. Raises `IntermezzoError` where that is not possible."""
    data = settings.data_dir
    try:
        _place(data, 0o711, None)
        _place(settings.run_dir, 0o711, account)
        _place(data / "control", 0o700, account)
        _place(data / "node", 0o700, None)
        _place(data / "volumes", 0o711, None)
    except OSError as error:
        raise IntermezzoError(
            f"cannot prepare {error.filename}: {error.strerror}", "Choose a place you may write to with data_dir."
        ) from None


def _place(path: Path, mode: int, account: Account | None) -> None:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(mode)
    if account is not None and account.changes:
        os.chown(path, account.uid, account.gid)
        for inside in path.rglob("*"):
            os.chown(inside, account.uid, account.gid, follow_symlinks=False)


def private_log(path: Path) -> BinaryIO:
    """A log to append to that only its owner can read: it may hold a login link. No link is followed: the directory
    belongs to an account with fewer rights than the one that opens it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "ab")


def write_settings(path: Path, content: dict[str, Any], account: Account | None = None) -> None:
    """Write JSON for one of the processes, readable by its account only."""
    owner = (account.uid, account.gid) if account is not None and account.changes else None
    write_private(path, json.dumps(content, indent=2).encode(), owner)
