"""What lies where snapshots and volumes are kept, and what of it is nobody's. Pure.

A node says what it found, file by file as far as that matters; whose it is can only be told beside the records. Bytes
are those that the files have, the manifests themselves aside, so that they can be compared with what is listed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class What(StrEnum):
    """What an item is, as far as a node can tell.

    A `partial` was begun and is not complete, a `withdrawn` snapshot has lost its name and not yet its bytes, an
    `extra-file` lies in a snapshot whose manifest does not know it. What is `foreign` was not made here: by something
    else, or by another installation. A `silent` place did not answer.
    """

    SNAPSHOT = "snapshot"
    PARTIAL = "partial"
    WITHDRAWN = "withdrawn"
    EXTRA_FILE = "extra-file"
    VOLUME = "volume"
    FOREIGN = "foreign"
    SILENT = "silent"


class Verdict(StrEnum):
    """What is to be thought of an item: it is listed; it is being deleted or written just now; it is an orphan, which
    nothing refers to; files in a volume that nobody owns; something that is not ours to judge; or nothing is known."""

    LISTED = "listed"
    LEAVING = "leaving"
    UNDER_WAY = "under-way"
    ORPHAN = "orphan"
    OWNERLESS = "ownerless"
    FOREIGN = "foreign"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StorageItem:
    """One thing on a node's disk or in a store. `place` is the node's name or the store's address, `id` that of the
    snapshot or volume, `file` the name of an extra file. `listed_bytes` is what its manifest tells; `in_use` says that
    the node is working with it."""

    place: str
    what: What
    workspace_uid: str
    id: str
    bytes: int
    listed_bytes: int = 0
    file: str = ""
    in_use: bool = False

    @property
    def key(self) -> tuple[str, What, str, str, str]:
        """What makes it this item, whatever its size."""
        return self.place, self.what, self.workspace_uid, self.id, self.file


@dataclass(frozen=True, slots=True)
class Known:
    """What the records refer to: workspaces, snapshots that are going, snapshots that a resume would read or an
    operation is using, and volumes."""

    workspace_uids: frozenset[str]
    unwanted: frozenset[str]
    referred: frozenset[str]
    volume_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """An item with what is to be thought of it."""

    item: StorageItem
    verdict: Verdict

    @property
    def agrees(self) -> bool:
        """Whether its bytes are those that are listed, where any are."""
        return self.verdict is not Verdict.LISTED or self.item.bytes == self.item.listed_bytes


@dataclass(frozen=True, slots=True)
class Line:
    """One workspace: its listed snapshots with their bytes, and every byte that lies under its name."""

    workspace_uid: str
    snapshots: int
    listed_bytes: int
    disk_bytes: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything that was found."""

    findings: tuple[Finding, ...] = field(default_factory=tuple)

    @property
    def agrees(self) -> bool:
        """Whether every byte is listed, or on its way in or out, and there are no others; a place that did not answer
        agrees with nothing."""
        return not self.orphans and not self.of(Verdict.UNKNOWN) and all(each.agrees for each in self.findings)

    @property
    def orphans(self) -> tuple[StorageItem, ...]:
        """What nothing refers to, and what may therefore be cleared away."""
        return self.of(Verdict.ORPHAN)

    def of(self, verdict: Verdict) -> tuple[StorageItem, ...]:
        """The items that are thought of so."""
        return tuple(each.item for each in self.findings if each.verdict is verdict)

    def lines(self) -> list[Line]:
        """Workspace by workspace, in order of uid; what is foreign, and volumes, aside."""
        aside = {Verdict.FOREIGN, Verdict.OWNERLESS, Verdict.UNKNOWN}
        counted = [each for each in self.findings if each.verdict not in aside]
        return [_line(uid, counted) for uid in sorted({each.item.workspace_uid for each in counted})]


def audit(items: Iterable[StorageItem], known: Known) -> Audit:
    """Each item beside what the records know."""
    return Audit(tuple(Finding(item, verdict(item, known)) for item in sorted(items, key=lambda each: each.key)))


def verdict(item: StorageItem, known: Known) -> Verdict:
    """What is to be thought of one item. Nothing that a record or an operation refers to is ever an orphan."""
    match item.what:
        case What.FOREIGN:
            return Verdict.FOREIGN
        case What.SILENT:
            return Verdict.UNKNOWN
        case What.VOLUME:
            return Verdict.LISTED if item.id in known.volume_ids else Verdict.OWNERLESS
        case What.SNAPSHOT if item.id in known.unwanted:
            return Verdict.LEAVING
        case What.SNAPSHOT:
            missed = item.workspace_uid in known.workspace_uids or item.in_use or item.id in known.referred
            return Verdict.LISTED if missed else Verdict.ORPHAN
        case What.WITHDRAWN:
            return Verdict.LEAVING if item.in_use or item.id in known.unwanted else Verdict.ORPHAN
        case What.PARTIAL | What.EXTRA_FILE:
            return Verdict.UNDER_WAY if item.in_use or _is_written(item, known) else Verdict.ORPHAN


def _is_written(item: StorageItem, known: Known) -> bool:
    return item.what is What.PARTIAL and item.id in known.referred


def _line(uid: str, findings: Iterable[Finding]) -> Line:
    own = [each for each in findings if each.item.workspace_uid == uid]
    listed = [each.item for each in own if each.verdict is Verdict.LISTED]
    snapshots = len({each.id for each in listed})  # each may be in two places
    return Line(uid, snapshots, sum(each.listed_bytes for each in listed), sum(each.item.bytes for each in own))
