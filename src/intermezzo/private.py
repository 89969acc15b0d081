"""What only the account that makes it may use: unix sockets and files, which is how the parts of an installation speak
to each other and what they keep for themselves."""

import os
import socket
from pathlib import Path

from intermezzo.domain.errors import InvalidInput


def private_socket(path: Path) -> socket.socket:
    """A bound socket in place of whatever a former process left there; it takes connections once it is listened on."""
    path.unlink(missing_ok=True)
    bound = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        bound.bind(str(path))
    finally:
        os.umask(before)
    return bound


def write_private(path: Path, content: bytes, owner: tuple[int, int] | None = None) -> None:
    """Put a file in place in one piece, readable by its owner only (`owner`: user and group, if not the writer)."""
    aside = path.with_suffix(".new")
    aside.unlink(missing_ok=True)
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    if owner is not None:
        os.chown(aside, *owner)
    aside.replace(path)


def read_secret(path: Path | None, setting: str) -> str:
    """What stands in the file that a setting names, without blanks around it; empty if it names none. Raises
    `InvalidInput` for a file that cannot be read."""
    if path is None:
        return ""
    try:
        return path.read_text().strip()
    except OSError as error:
        raise InvalidInput(
            f"the file of {setting} cannot be read: {error.strerror}",
            "control.user must be able to read it.",
            {setting: "cannot be read"},
        ) from None
