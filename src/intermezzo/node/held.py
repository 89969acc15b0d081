"""Looks at the files that a session holds open on its volumes. Opens none of them and follows no link.

The names come from inside a sandbox and the directories are a user's, who may put a link in any place at any moment:
every step of a path is taken from the directory that was reached, and none leads out of the volume.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from intermezzo.domain.errors import Refused
from intermezzo.domain.held import MOST, Absence, ChangedFile, HeldFile, Standing, change
from intermezzo.domain.orders import SandboxSpec
from intermezzo.domain.snapshot import Manifest
from intermezzo.node.volumes import Volumes

FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def record(volumes: Volumes, spec: SandboxSpec, names: Iterable[str]) -> tuple[HeldFile, ...]:
    """Those of the names, as a sandbox of that specification calls them, that are regular files on its volumes; at most
    `MOST`. Raises OSError."""
    found = []
    for volume_id, mount, path in _places(spec, names):
        standing = stands(volumes, volume_id, path)
        if isinstance(standing, Standing):
            found.append(HeldFile(volume_id, mount, path, standing))
        if len(found) == MOST:
            break
    return tuple(found)


def changed(volumes: Volumes, manifest: Manifest) -> tuple[ChangedFile, ...]:
    """The files that the saved session holds open and that are not what they were. Raises OSError."""
    # Of a volume that is not there nothing can be said; it is waited for.
    there = {volume_id: volumes.is_there(volume_id) for volume_id in {each.volume_id for each in manifest.held}}
    held = (each for each in manifest.held if there[each.volume_id])
    looked = (change(each, stands(volumes, each.volume_id, each.path)) for each in held)
    return tuple(found for found in looked if found is not None)


def stands(volumes: Volumes, volume_id: str, path: str) -> Standing | Absence:
    """How a file of a volume stands, or that there is no regular file of that path. Raises OSError."""
    try:
        status = _status(volumes.path(volume_id), PurePosixPath(path))
    except (FileNotFoundError, NotADirectoryError, Refused):
        return Absence.MISSING
    if not stat.S_ISREG(status.st_mode):
        return Absence.DISPLACED
    return Standing(status.st_size, status.st_mtime_ns, status.st_ino)


def _places(spec: SandboxSpec, names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Of each name that lies on a volume: the volume's id, where it is mounted, and the path on it."""
    mounts = [(spec.home_mount, spec.volume_id), *((mount.path, mount.volume_id) for mount in spec.mounts)]
    deepest_first = sorted(mounts, key=lambda mount: -len(PurePosixPath(mount[0]).parts))
    for name in dict.fromkeys(names):
        path = PurePosixPath(name)
        for mount, volume_id in deepest_first:
            if path.is_relative_to(mount) and ".." not in path.parts:
                yield volume_id, mount, str(path.relative_to(mount))
                break


def _status(volume: Path, path: PurePosixPath) -> os.stat_result:
    with ExitStack() as opened:
        folder = os.open(volume, FOLDER)
        opened.callback(os.close, folder)
        for name in path.parts[:-1]:
            folder = os.open(name, FOLDER, dir_fd=folder)
            opened.callback(os.close, folder)
        return os.stat(path.name, dir_fd=folder, follow_symlinks=False)
