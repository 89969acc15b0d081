"""Copies a tree of files as it is: contents, holes, hard links, owners, modes, times and extended attributes.

The source is a user's, who may change it meanwhile and put a link or a pipe in any place: every step is taken from the
directory that was reached, no link is followed, and nothing but regular files is opened. Where the filesystem can,
files share their bytes until one of them is written to. Memory does not grow with what a file holds.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from intermezzo.domain.errors import Refused

CHUNK = 8 << 20
DEEPEST = 400
FICLONE = 0x40049409
CLONE_PROBE = 4096
CANNOT = {errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM, errno.ETXTBSY}
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
KEPT_ATTRIBUTES = ("user.", "system.posix_acl_")

Told = Callable[[int], None]
"""Is told now and then how many bytes more have been dealt with."""


class Cancelled(Exception):
    """Somebody wants the copying to end; what was made so far is half a copy."""


@dataclass
class Copy:
    """One copy under way. Its target's root is closed to all but its maker until it is whole."""

    told: Told
    cancelled: threading.Event
    _links: dict[tuple[int, int], str] = field(default_factory=dict)
    _root: int = -1

    def tree(self, source: Path, target: Path) -> None:
        """Make `target`, which must not be there, a copy of the directory `source`, durably.

        Raises Cancelled, Refused for a tree that is nested too deep, or OSError; `target` is then to be removed.
        """
        target.mkdir(mode=0o700)
        with _opened(os.open(source, FOLDER)) as old, _opened(os.open(target, FOLDER)) as new:
            self._root = new
            self._folder(old, new, "", 0)
            _sync(new)
            _same(old, new)

    def _folder(self, old: int, new: int, path: str, depth: int) -> None:
        if depth > DEEPEST:
            raise Refused(f"directories are nested more than {DEEPEST} deep, at {path[:80]}", "Move some of them up.")
        with os.scandir(old) as entries:
            for entry in entries:
                self._one(old, new, entry.name, f"{path}{entry.name}", depth)

    def _one(self, old: int, new: int, name: str, path: str, depth: int) -> None:
        """What has vanished or become something else since it was listed is left out."""
        self._continue()
        with _unless_changed():
            status = os.stat(name, dir_fd=old, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                with _opened(os.open(name, FOLDER, dir_fd=old)) as below:
                    os.mkdir(name, 0o700, dir_fd=new)
                    with _opened(os.open(name, FOLDER, dir_fd=new)) as made:
                        self._folder(below, made, f"{path}/", depth + 1)
                        _same(below, made)
            elif stat.S_ISREG(status.st_mode):
                self._file(old, new, name, path)
            else:
                _other(old, new, name, status)

    def _file(self, old: int, new: int, name: str, path: str) -> None:
        with _opened(os.open(name, READ, dir_fd=old)) as source:
            status = os.fstat(source)
            if not stat.S_ISREG(status.st_mode) or self._linked(new, name, path, status):
                return
            with _opened(os.open(name, WRITE, 0o600, dir_fd=new)) as target:
                if clones(source, target):
                    self.told(status.st_size)
                else:
                    self._content(source, target, status.st_size)
                _same(source, target)

    def _linked(self, new: int, name: str, path: str, status: os.stat_result) -> bool:
        """Whether it is another name of a file that is there already, and now has that name too."""
        if status.st_nlink < 2:
            return False
        first = self._links.setdefault((status.st_dev, status.st_ino), path)
        if first == path:
            return False
        os.link(first, name, src_dir_fd=self._root, dst_dir_fd=new, follow_symlinks=False)
        return True

    def _content(self, source: int, target: int, size: int) -> None:
        os.ftruncate(target, size)
        done = 0
        for start, end in _parts(source, size):
            self.told(start - done)
            done = self._part(source, target, start, end)
        self.told(size - done)

    def _part(self, source: int, target: int, start: int, end: int) -> int:
        while start < end:
            self._continue()
            count = _copied(source, target, start, min(CHUNK, end - start))
            if not count:  # it has become shorter meanwhile
                break
            start += count
            self.told(count)
        return start

    def _continue(self) -> None:
        if self.cancelled.is_set():
            raise Cancelled


def clones(source: int, target: int) -> bool:
    """Let `target` share the bytes of `source`; False where the filesystem cannot. Raises OSError."""
    try:
        fcntl.ioctl(target, FICLONE, source)
    except OSError as error:
        if error.errno in CANNOT:
            return False
        raise
    return True


def can_clone(folder: Path) -> bool:
    """Whether files in that directory can share their bytes. Raises OSError."""
    with tempfile.TemporaryFile(dir=folder) as one, tempfile.TemporaryFile(dir=folder) as other:
        one.write(bytes(CLONE_PROBE))
        one.flush()
        return clones(one.fileno(), other.fileno())


def _parts(source: int, size: int) -> Iterator[tuple[int, int]]:
    """From where to where there is data; what lies between reads as zeros and takes no room."""
    end = 0
    while end < size:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            raise
        end = min(os.lseek(source, start, os.SEEK_HOLE), size)
        yield start, end


def _copied(source: int, target: int, offset: int, count: int) -> int:
    try:
        return os.copy_file_range(source, target, count, offset, offset)
    except OSError as error:
        if error.errno not in CANNOT:
            raise
    return os.pwrite(target, os.pread(source, count, offset), offset)


def _other(old: int, new: int, name: str, status: os.stat_result) -> None:
    """Links as they are; pipes and sockets as empty places. Devices, which no sandbox could make, are left out."""
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(name, dir_fd=old), name, dir_fd=new)
    elif stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
        os.mknod(name, status.st_mode, dir_fd=new)
    else:
        return
    if os.geteuid() == 0:
        os.chown(name, status.st_uid, status.st_gid, dir_fd=new, follow_symlinks=False)
    os.utime(name, ns=(status.st_atime_ns, status.st_mtime_ns), dir_fd=new, follow_symlinks=False)


def _same(old: int, new: int) -> None:
    """Owner, attributes, mode and times, in the order in which one does not undo another."""
    status = os.fstat(old)
    if os.geteuid() == 0:
        os.fchown(new, status.st_uid, status.st_gid)
    with contextlib.suppress(OSError):  # where there are no attributes, there are none to keep
        for name in os.listxattr(old):
            if name.startswith(KEPT_ATTRIBUTES):
                os.setxattr(new, name, os.getxattr(old, name))
    os.fchmod(new, stat.S_IMODE(status.st_mode))
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))


def _sync(folder: int) -> None:
    """Everything on the filesystem there, at once: one file after the other would take minutes for many."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.syncfs(folder):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextlib.contextmanager
def _unless_changed() -> Iterator[None]:
    """A name that now stands for a link, for nothing, or for another sort of file than a moment ago."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}:
            raise


@contextlib.contextmanager
def _opened(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)
