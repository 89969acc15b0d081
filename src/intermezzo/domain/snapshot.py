"""Snapshots: the saved live state of a workspace.

A snapshot exists when its manifest does; a manifest is written last, under its final name. This module
describes snapshots and never touches a disk.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from intermezzo.domain.held import ChangedFile, HeldFile

FROM_STORE = "The store has it too, and the node puts it in place from there by itself: try again in a moment."
"""What is to be done about a damaged snapshot that mends itself."""


class SnapshotState(StrEnum):
    """Where a snapshot is in its life."""

    WRITING = "writing"
    COMPLETE = "complete"
    CORRUPT = "corrupt"
    INCOMPATIBLE = "incompatible"
    DELETING = "deleting"


class Place(StrEnum):
    """Where the bytes of a complete snapshot can lie."""

    NODE = "node"
    STORE = "store"


class Confirmation(StrEnum):
    """What the one who deletes a snapshot accepts to lose with it."""

    NOTHING = ""
    LIVE_STATE = "live-state"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a complete snapshot says about itself. `bytes` is its whole size on disk; times are epoch milliseconds.

    `files` maps file name to size in bytes. `checksums` maps file name to a checksum by `algorithm` and is filled in
    after the capacity is free, so that it never lengthens a pause. `pinned` to `damage` are what became of it since:
    `damage` is one sentence, empty while nothing wrong was found; a verification is due while it was asked for later
    than done.

    `here` is false once only the store has its bytes. `stored_in` is the address of the store that has some of them,
    written before the first is sent; `stored_at` is when that store had them all, `store_checked_at` when they were
    last read back from it, 0 before. `encrypted_bytes` is the size of what lies encrypted in place of `files`, here and
    in the store; 0 while the files lie as they were saved.
    """

    id: str
    workspace_uid: str
    operation_id: str
    created_at: int
    bytes: int
    files: dict[str, int] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)
    algorithm: str = "sha256"  # of the checksums; what those are whose manifest names none
    engine: str = ""
    engine_version: str = ""
    platform: str = ""
    kernel: str = ""
    cpu_features: tuple[str, ...] = ()
    environment: str = ""  # digest of the environment or image the session runs on
    spec_digest: str = ""  # digest of the parts of the sandbox's specification that the engine compares
    specification: dict[str, tuple[str, ...]] = field(default_factory=dict)  # those parts, by name
    accelerator: str = ""  # model and driver, empty without one
    accelerators: int = 0  # how many; 0 too in manifests of versions that did not record it
    volumes: tuple[str, ...] = ()  # ids of the volumes that the session has files on
    held: tuple[HeldFile, ...] = ()  # files on those volumes that the session holds open
    held_left_out: int = 0  # how many more it holds open that are not recorded
    pinned: bool = False
    verify_asked_at: int = 0
    verified_at: int = 0
    damage: str = ""
    here: bool = True
    stored_in: str = ""
    stored_at: int = 0
    store_checked_at: int = 0
    encrypted_bytes: int = 0

    @property
    def places(self) -> tuple["Place", ...]:
        """Where all of it lies."""
        held = {Place.NODE: self.here, Place.STORE: self.stored_at > 0}
        return tuple(place for place, whole in held.items() if whole)

    @property
    def mends_itself(self) -> bool:
        """Whether a store has all of what lies here, so that damage here is mended from there."""
        return self.here and self.stored_at > 0

    @property
    def kept_bytes(self) -> int:
        """What it takes in each of its places."""
        return self.encrypted_bytes or self.bytes

    @property
    def verification_due(self) -> bool:
        """Whether somebody asked for its files to be compared with their checksums, and nobody has done so yet."""
        return self.verify_asked_at > self.verified_at


@dataclass(frozen=True, slots=True)
class Examined:
    """What is found of a snapshot without reading it: `damage` in one sentence, empty where none is seen, and the files
    that its session holds open and that are not what they were."""

    damage: str = ""
    changed: tuple[ChangedFile, ...] = ()


def made_after(others: Iterable[Manifest], now: int) -> int:
    """When a snapshot is made that is newer than these, in epoch milliseconds: now, or right after the newest of them
    where the clock was set back meanwhile. Else the one just made would be taken for an old one."""
    return max(now, *(manifest.created_at + 1 for manifest in others), 0)


def newest_first(snapshots: Iterable[Manifest]) -> list[Manifest]:
    """In order of age; the id decides between those of one millisecond."""
    return sorted(snapshots, key=lambda m: (m.created_at, m.id), reverse=True)
