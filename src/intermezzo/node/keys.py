"""The keys that snapshots are encrypted with, one for each workspace, in a place that only the agent can read.

A key is made when it is first needed and destroyed with its workspace: from then on, whatever is left of the
workspace's encrypted snapshots anywhere is unreadable. Keys are age identities. They must never be logged, and never
be sent to where the snapshots are.
"""

import os
import threading
from pathlib import Path

import pyrage

from intermezzo.domain.errors import EngineFailure
from intermezzo.node import files


class NoKey(EngineFailure):
    """The key of an encrypted snapshot is not here, or is none; without it nobody can read the snapshot."""

    code = "key_missing"


class Keys:
    """The keys of this node, a file for each workspace."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._making = threading.Lock()

    def ensure(self, uid: str) -> pyrage.x25519.Identity:
        """The key of a workspace, made if there is none. Raises OSError or NoKey."""
        with self._making:
            if not self._path(uid).exists():
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                files.write(self._path(uid), f"{pyrage.x25519.Identity.generate()}\n".encode())
        return self.get(uid)

    def get(self, uid: str) -> pyrage.x25519.Identity:
        """The key of a workspace. Raises NoKey."""
        hint = "Put the key back from a backup of the node's keys, or start fresh from the files."
        try:
            return pyrage.x25519.Identity.from_str(self._path(uid).read_text(encoding="ascii").strip())
        except FileNotFoundError:
            raise NoKey("the key of this workspace's encrypted snapshots is not on this node", hint) from None
        except (ValueError, pyrage.IdentityError):
            raise NoKey("the key of this workspace's encrypted snapshots is unreadable", hint) from None

    def destroy(self, uid: str) -> None:
        """Overwrite and delete the key of a workspace; nothing happens if there is none. Raises OSError."""
        path = self._path(uid)
        if not path.exists():
            return
        with path.open("r+b") as file:
            file.write(bytes(path.stat().st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
        files.sync(self._folder)

    def _path(self, uid: str) -> Path:
        return self._folder / uid
