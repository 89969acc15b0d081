"""Snapshots: the saved live state of a workspace.

A snapshot exists when its manifest does; a manifest is written last, under its final name. This module
describes snapshots and never touches a disk.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class SnapshotState(StrEnum):
    """Where a snapshot is in its life."""

    WRITING = "writing"
    COMPLETE = "complete"
    CORRUPT = "corrupt"
    INCOMPATIBLE = "incompatible"
    DELETING = "deleting"


class Confirmation(StrEnum):
    """What the one who deletes a snapshot accepts to lose with it."""

    NOTHING = ""
    LIVE_STATE = "live-state"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a complete snapshot says about itself. `bytes` is its whole size on disk; times are epoch milliseconds.

    `files` maps file name to size in bytes. `checksums` maps file name to sha256 and is filled in after the
    capacity is free, so that it never lengthens a pause. `pinned` to `damage` are what became of it since: `damage`
    is one sentence, empty while nothing wrong was found; a verification is due while it was asked for later than done.
    """

    id: str
    workspace_uid: str
    operation_id: str
    created_at: int
    bytes: int
    files: dict[str, int] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)
    engine: str = ""
    engine_version: str = ""
    platform: str = ""
    kernel: str = ""
    cpu_features: tuple[str, ...] = ()
    environment: str = ""  # digest of the environment or image the session runs on
    spec_digest: str = ""  # digest of the parts of the sandbox's specification that the engine compares
    accelerator: str = ""  # model and driver, empty without one
    volumes: tuple[str, ...] = ()  # ids of the volumes that the session has files on
    pinned: bool = False
    verify_asked_at: int = 0
    verified_at: int = 0
    damage: str = ""

    @property
    def verification_due(self) -> bool:
        """Whether somebody asked for its files to be compared with their checksums, and nobody has done so yet."""
        return self.verify_asked_at > self.verified_at


def newest_first(snapshots: Iterable[Manifest]) -> list[Manifest]:
    """In order of age; the id decides between those of one millisecond."""
    return sorted(snapshots, key=lambda m: (m.created_at, m.id), reverse=True)


def surplus(snapshots: Iterable[Manifest], keep: int) -> list[Manifest]:
    """What need not be kept where the newest `keep` (at least one) are: never a pinned one, whatever its age.

    One that is damaged takes no place among those to keep, so that a whole one is never given up for it.
    """
    found, whole = [], 0
    for manifest in newest_first(snapshots):
        if whole >= max(keep, 1) and not manifest.pinned:
            found.append(manifest)
        whole += not manifest.damage
    return found
