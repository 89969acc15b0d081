"""Files and directories that are either whole or not there: written aside, flushed, then named.

It must never leave something half-written under a final name, and never delete under one.
"""

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on every system; what a killed process left is then found by its age alone
    fcntl = None  # type: ignore[assignment]

ASIDE, GONE = ".partial-", ".gone-"
FORGOTTEN_S = 24 * 3600
CHUNK = 1 << 22


def write(path: Path, content: bytes) -> None:
    """Replace a small file durably. Raises OSError and then the old content stays."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make a file's content or a directory's names durable, where the system can do that."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no directories
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Make everything below a directory durable, and it itself."""
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            sync(Path(place) / name)
        sync(Path(place))


@contextlib.contextmanager
def folder(path: Path) -> Iterator[None]:
    """A directory, tidied. If what is done in it fails, what had to be made for it goes again while it is empty."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(parents=True, exist_ok=True)
    tidy(path)
    try:
        yield
    except BaseException:
        for each in missing:
            with contextlib.suppress(OSError):
                each.rmdir()
        raise


@contextlib.contextmanager
def aside(parent: Path) -> Iterator[Path]:
    """A new directory in `parent` that no reader takes for anything. It is deleted at the end unless it was renamed,
    and where this process is killed, by the next `tidy`."""
    folder, lock = _own(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove(folder: Path) -> None:
    """Take a directory's name away at once, then its content."""
    gone = folder.with_name(f"{GONE}{folder.name}-{os.urandom(4).hex()}")
    with contextlib.suppress(FileNotFoundError):
        folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def tidy(parent: Path) -> None:
    """Delete what killed processes left aside in `parent`; what another process still writes stays."""
    for entry in list(parent.iterdir()):
        if entry.name.startswith(GONE):
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name.startswith(ASIDE):
            _remove_abandoned(entry)


def digest(path: Path) -> str:
    """The sha256 of a file's content, hexadecimal."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(CHUNK):
            found.update(part)
    return found.hexdigest()


def _own(parent: Path) -> tuple[Path, int | None]:
    """A new directory and the lock that says that somebody is at work in it."""
    while True:
        folder = parent / f"{ASIDE}{os.getpid()}-{os.urandom(4).hex()}"
        folder.mkdir()
        try:
            lock = _locked(folder)
        except (BlockingIOError, FileNotFoundError):
            continue  # whoever tidies up here came between
        if folder.exists():
            return folder, lock
        if lock is not None:
            os.close(lock)


def _remove_abandoned(folder: Path) -> None:
    with contextlib.suppress(OSError):
        lock = _locked(folder)
        if lock is None and time.time() - folder.stat().st_mtime < FORGOTTEN_S:
            return
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """A lock that ends with this process; None where there are none. Raises BlockingIOError while another has it."""
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:  # not on every file system
        os.close(descriptor)
        return None
    return descriptor
