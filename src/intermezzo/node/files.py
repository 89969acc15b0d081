"""Files that are either whole or not there: written aside, made durable, then named.

It must never leave a half-written file under a final name.
"""

import contextlib
import hashlib
import os
import shutil
from pathlib import Path

from intermezzo import steps
from intermezzo.domain.orders import HomeSummary

CHUNK = 1 << 22
HALF = ".new"
# What Intermezzo itself renews before each pause is no change of the owner's files.
OWN_RECORD = Path(".intermezzo") / "record"


def write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file durably; after a crash there is the old or the new content. Raises OSError."""
    aside = path.with_name(f".{path.name}{HALF}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        os.fchmod(descriptor, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        steps.reached(f"aside {path.name}")
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    sync(path.parent)


def discard_halves(folder: Path) -> None:
    """Remove what a process that died left of files directly in a directory. Raises OSError."""
    for path in folder.glob(f".*{HALF}"):
        path.unlink(missing_ok=True)


def cap(path: Path, limit: int) -> None:
    """Empty a log that has grown over `limit` bytes but for its last part; whoever appends to it goes on."""
    try:
        grown = path.stat().st_size > limit
    except FileNotFoundError:
        return
    if grown:
        kept = tail(path, 1000)
        os.truncate(path, 0)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"... cut, the file was larger than {limit} bytes ...\n{kept}\n")


def sync(path: Path) -> None:
    """Make a file's content, or a directory's names, durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(path: Path) -> None:
    """Delete a directory with all it holds; nothing happens if it is not there. Raises OSError if some stays."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)


def empty(folder: Path) -> None:
    """Delete the files directly in a directory. Raises OSError."""
    for path in folder.iterdir():
        path.unlink()


def size(folder: Path) -> int:
    """Bytes in the files directly in a directory, 0 if it is not there. Files may vanish meanwhile."""
    total = 0
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            with contextlib.suppress(FileNotFoundError):
                total += entry.stat(follow_symlinks=False).st_size
    return total


def summary(folder: Path) -> HomeSummary:
    """Count and size of the regular files and links below a directory, and a digest of all but the environment record.
    Raises OSError."""
    count, total, digest, own = 0, 0, hashlib.sha256(), folder / OWN_RECORD
    for path in sorted(p for p in folder.rglob("*") if p.is_symlink() or p.is_file()):
        count += 1
        if own in path.parents:
            total += path.lstat().st_size
            continue
        digest.update(str(path.relative_to(folder)).encode() + b"\0")
        if path.is_symlink():
            digest.update(os.fsencode(path.readlink()) + b"\0")
        else:
            with open(path, "rb", opener=_not_through_links) as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
                total += os.fstat(file.fileno()).st_size
    return HomeSummary(count, total, digest.hexdigest())


def _not_through_links(path: str, flags: int) -> int:
    """The files are a user's, who may put a link or a pipe in a file's place at any moment."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def tail(path: Path, lines: int) -> str:
    """The last lines of a text file, at most 1 MiB of it; empty if it is not there."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - (1 << 20)))
            content = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(content.splitlines()[-lines:])
