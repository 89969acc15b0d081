"""Whether the files in a folder are those of a manifest: their sizes at a glance, their contents by reading them all.

Anybody who has a folder and a manifest may ask, wherever the files came from. Nothing here changes a file or a
manifest, and nothing here decides what becomes of a snapshot.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from blake3 import blake3

from intermezzo.domain.snapshot import Manifest
from intermezzo.node import files

ALGORITHM = "blake3"
ENCRYPTED = "encrypted"
LOWEST_PRIORITY = 19
AHEAD = 64 << 20

Told = Callable[[int], None]
"""Is told how many bytes have been read so far."""


class Pace(StrEnum):
    """`gentle` is for work that nobody waits for: lowest priority, one core, and the page cache is left to others.
    `eager` is for somebody who waits: all cores, and what was read stays in the page cache for who reads it next."""

    GENTLE = "gentle"
    EAGER = "eager"


class Unknown(ValueError):
    """The manifest names an algorithm that this version cannot reckon."""


class Digest(Protocol):
    """What both kinds of checksum can do."""

    def update(self, data: bytes, /) -> object:
        """Take in some more."""
        ...

    def hexdigest(self) -> str:
        """The checksum of all that was taken in."""
        ...


def misfit(folder: Path, manifest: Manifest) -> str:
    """The first file that is missing or of another size, as a sentence; empty if all fit. No content is read.

    Of an encrypted snapshot only the sum is known; of one that only a store has, no file is here that could be wrong.
    """
    if not manifest.here:
        return ""
    if manifest.encrypted_bytes:
        size = files.size(folder / ENCRYPTED)
        wanted = manifest.encrypted_bytes
        return "" if size == wanted else f"its encrypted files have {size} bytes, they should have {wanted}"
    for name, expected in manifest.files.items():
        try:
            actual = (folder / name).stat().st_size
        except FileNotFoundError:
            return f"{name} is missing, it should have {expected} bytes"
        if actual != expected:
            return f"{name} has {actual} bytes, it should have {expected} bytes"
    return ""


def damage(
    folder: Path, manifest: Manifest, cancelled: threading.Event, pace: Pace = Pace.GENTLE, told: Told = lambda _: None
) -> str | None:
    """What is wrong with the files, as a sentence; empty if they are what was saved, None if it was cancelled.

    A manifest without checksums is compared by sizes alone.
    """
    try:
        wrong = misfit(folder, manifest)
        if wrong or not manifest.checksums:
            return wrong
        found = checksums(folder, manifest, manifest.algorithm, cancelled, pace, told)
    except Unknown as error:
        return str(error)
    except OSError as error:
        return f"its files cannot be read: {error.strerror or error}"
    if found is None:
        return None
    changed = [name for name, checksum in manifest.checksums.items() if found.get(name) != checksum]
    return f"the content of {', '.join(changed)} is not what was saved" if changed else ""


def checksums(
    folder: Path,
    manifest: Manifest,
    algorithm: str,
    cancelled: threading.Event,
    pace: Pace = Pace.GENTLE,
    told: Told = lambda _: None,
) -> dict[str, str] | None:
    """The checksum of every file that the manifest names; None if it was cancelled. Raises OSError or Unknown.

    A gentle reading lowers the priority of its thread for good: give it one of its own.
    """
    if pace is Pace.GENTLE:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
    found, before = {}, 0
    for name in manifest.files:
        digest = _digest(algorithm, pace)
        read = 0
        for chunk in _chunks(folder / name, pace):
            if cancelled.is_set():
                return None
            digest.update(chunk)
            read += len(chunk)
            told(before + read)
        before += read
        found[name] = digest.hexdigest()
    return found


def _digest(algorithm: str, pace: Pace) -> Digest:
    if algorithm == "sha256":
        return hashlib.sha256()
    if algorithm == ALGORITHM:
        return blake3(max_threads=blake3.AUTO if pace is Pace.EAGER else 1)
    raise Unknown(f"its checksums are {algorithm}, which this version of Intermezzo does not know")


def _chunks(path: Path, pace: Pace) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        offset = 0
        while chunk := file.read(files.CHUNK):
            if pace is Pace.EAGER:
                # The disk goes on reading while this chunk is reckoned; by itself it would not look far enough ahead.
                os.posix_fadvise(file.fileno(), offset + len(chunk), AHEAD, os.POSIX_FADV_WILLNEED)
            yield chunk
            if pace is Pace.GENTLE:
                # What is read here will not be needed soon: leave the page cache to the sandboxes.
                os.posix_fadvise(file.fileno(), offset, len(chunk), os.POSIX_FADV_DONTNEED)
            offset += len(chunk)
