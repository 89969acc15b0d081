"""Files on a volume that a saved session holds open, and whether each is still what the session left. Pure.

An engine opens them again by their paths and believes what it finds: a program that comes back then goes on in a file
that is not the one it knows. So they are recorded when the session is saved, and compared before it is restored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum

NAMED = 3
PUT_BACK = "Put them back; a session cannot come back to a file that is not there."
MOST = 200
"""So many are recorded for one session; how many were left out is recorded too."""


class Acceptance(StrEnum):
    """What the one who asks for a resume accepts to find different."""

    NOTHING = ""
    CHANGED_FILES = "changed-files"


class Fate(StrEnum):
    """What became of a file. `replaced`: there is another file under its name; `displaced`: something that is no file,
    such as a link or a pipe."""

    CHANGED = "changed"
    REPLACED = "replaced"
    DISPLACED = "displaced"
    MISSING = "missing"

    @property
    def acceptable(self) -> bool:
        """Whether a session can come back to it at all: an engine opens the file again, and there must be one."""
        return self in {Fate.CHANGED, Fate.REPLACED}


class Absence(Enum):
    """How a file is not there: nothing has its name, or something that is no file."""

    MISSING = "missing"
    DISPLACED = "displaced"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a file stands on its disk: bytes, the time of its last change in nanoseconds since the epoch, its inode."""

    size: int
    modified_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file that a session holds open or mapped. `path` is that on the volume, which the session has at `mount`."""

    volume_id: str
    mount: str
    path: str
    standing: Standing

    @property
    def name(self) -> str:
        """What the session calls it."""
        return f"{self.mount.rstrip('/')}/{self.path}"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A held file that is not what it was: its name in the session, what became of it, and a sentence without a dot."""

    name: str
    fate: Fate
    message: str


def change(held: HeldFile, now: Standing | Absence) -> ChangedFile | None:
    """What became of a file that now stands like this, or is not there; nothing if it is as it was."""
    then = held.standing
    if now == then:
        return None
    name = held.name
    if now is Absence.DISPLACED:
        what = f"{name}, which the session holds open, was replaced by something that is no file"
        return ChangedFile(name, Fate.DISPLACED, what)
    if now is Absence.MISSING:
        return ChangedFile(name, Fate.MISSING, f"{name}, which the session holds open, is missing")
    if now.inode != then.inode:
        return ChangedFile(name, Fate.REPLACED, f"{name}, which the session holds open, was replaced by another file")
    if now.size == then.size:
        what = f"{name}, which the session holds open, was written to: its size is as it was, its time is not"
    else:
        what = f"{name}, which the session holds open, was written to: it had {then.size} bytes and has {now.size} now"
    return ChangedFile(name, Fate.CHANGED, what)


def refused(changed: Sequence[ChangedFile], accepted: Acceptance) -> list[ChangedFile]:
    """Those that keep a session from being restored, after what its owner accepts."""
    accepts = accepted is Acceptance.CHANGED_FILES
    return [each for each in changed if not (accepts and each.fate.acceptable)]


def advice(found: Sequence[ChangedFile], accepting: str = "") -> str:
    """What can be done about files that keep a session from being restored, one sentence; `accepting` is what can be
    typed to accept them."""
    if not all(each.fate.acceptable for each in found):
        return PUT_BACK
    if accepting:
        return f"Put them back, or go on all the same: {accepting}."
    return "Put them back, or resume all the same and accept that."


def told(changed: Sequence[ChangedFile]) -> str:
    """The first few in words, and how many more there are."""
    named = "; ".join(each.message for each in changed[:NAMED])
    return f"{named}; and {len(changed) - NAMED} more" if len(changed) > NAMED else named
