"""Home volumes: directories of this installation, owned by the sandbox's user, that outlive every sandbox.

A path that leads out of the volumes directory is refused, however it came to be.
"""

import contextlib
import os
import stat
import threading
from collections.abc import Iterable
from pathlib import Path

from intermezzo.domain.errors import IntermezzoError, NotFound, Refused
from intermezzo.domain.orders import VOLUME_UNAVAILABLE, HomeSummary
from intermezzo.node import files
from intermezzo.node.copying import Copy, Told
from intermezzo.node.identifiers import IDENTIFIER
from intermezzo.node.space import Space

COPYING = ".copying"


class VolumeUnavailable(IntermezzoError):
    """A volume that held files is not there now. It is waited for, and never made anew in its place."""

    code = VOLUME_UNAVAILABLE


class Volumes:
    """All home volumes of this node."""

    def __init__(self, folder: Path, uid: int, gid: int) -> None:
        self._folder = folder
        self._uid = uid
        self._gid = gid
        self.space = Space(lambda: self.disk)

    def path(self, volume_id: str) -> Path:
        """Where a volume lies. Raises Refused if that is not inside the volumes directory."""
        path = self._folder / volume_id
        if path.resolve() != self._folder.resolve() / volume_id:
            raise Refused(f"volume {volume_id} leads out of the data directory; it is not used")
        return path

    def ids(self) -> list[str]:
        """Of all that there are, in order; what was not made by us is not among them."""
        if not self._folder.is_dir():
            return []
        return sorted(entry.name for entry in self._folder.iterdir() if IDENTIFIER.fullmatch(entry.name))

    @property
    def disk(self) -> Path:
        """A path on the disk that holds the volumes."""
        self._folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        return self._folder

    def aside(self, volume_id: str) -> Path:
        """Where a copy is made before it is whole and gets its name."""
        return self.path(volume_id).with_name(volume_id + COPYING)

    def copy(self, volume_id: str, new_id: str, told: Told, cancelled: threading.Event) -> None:
        """Make the volume `new_id` a copy of another, as it is; one that has the name already is a whole copy.

        Raises NotFound, Cancelled or OSError, and then nothing is left of it.
        """
        aside, target = self.aside(new_id), self.path(new_id)
        files.remove_tree(aside)
        if target.is_dir():
            return
        try:
            Copy(told, cancelled).tree(self.existing(volume_id), aside)
        except BaseException:
            files.remove_tree(aside)
            raise
        aside.rename(target)
        files.sync(self._folder)

    def ensure(self, volume_id: str) -> Path:
        """The volume, made if it is not there. Raises Refused or OSError."""
        self._folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        path = self.path(volume_id)
        path.mkdir(mode=0o700, exist_ok=True)
        status = path.stat()
        if os.geteuid() == 0 and (status.st_uid, status.st_gid) != (self._uid, self._gid):
            os.chown(path, self._uid, self._gid)
        return path

    def is_there(self, volume_id: str) -> bool:
        """Whether it can be looked into now; a disk that does not answer is not there. Raises Refused."""
        try:
            return stat.S_ISDIR(self.path(volume_id).stat().st_mode)
        except OSError:
            return False

    def require(self, volume_ids: Iterable[str]) -> None:
        """Raises VolumeUnavailable, naming the first that is not there."""
        for volume_id in volume_ids:
            if not self.is_there(volume_id):
                raise VolumeUnavailable(
                    f"volume {volume_id} is not there now",
                    f"If this lasts, see whether the disk with {self._folder / volume_id} is mounted.",
                )

    def existing(self, volume_id: str) -> Path:
        """Where a volume lies that is there. Raises NotFound or Refused."""
        path = self.path(volume_id)
        if not path.is_dir():
            raise NotFound(f"there is no volume {volume_id}")
        return path

    def summary(self, volume_id: str) -> HomeSummary:
        """Read from the disk now. Raises NotFound."""
        return files.summary(self.existing(volume_id))

    def remove(self, volume_id: str) -> None:
        """Delete a volume with all it holds. Raises OSError if some stays."""
        path = self.path(volume_id)
        files.remove_tree(self.aside(volume_id))
        files.remove_tree(path)
        with contextlib.suppress(FileNotFoundError):
            files.sync(self._folder)
