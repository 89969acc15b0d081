"""What a release check found, in the shape in which it is written down and shown.

Durations are seconds, sizes bytes, moments epoch milliseconds (UTC). What was not reached is None, never an estimate.
"""

from enum import StrEnum

from pydantic import Field

from intermezzo.domain.continuity import Verdict
from intermezzo.reports.failure import Stored
from intermezzo.reports.trial import Part


class Outcome(StrEnum):
    """What becomes of a session that was saved under the old conditions and is wanted back under the new ones.

    `fresh`: something answers, and it is not that session. `unusable`: it was refused before anything was started.
    """

    RESTORED = "restored"
    FRESH = "fresh"
    UNUSABLE = "unusable"
    FAILED = "failed"


class Edition(Part):
    """The old or the new conditions: the engine as the node tells it, and where the documents came from."""

    engine: str = ""
    engine_version: str = ""
    documents: tuple[str, ...] = ()
    source: str = ""


class Session(Part):
    """The test session. `record_kept`: the file that its process holds open says through that process what was written
    before. `differences` is why it could not be restored, `shown` what it said. What was not looked at is None."""

    kind: str
    pod: str
    image: str = ""
    verdict: Verdict = Verdict.UNKNOWN
    same_pid: bool | None = None
    value_kept: bool | None = None
    record_kept: bool | None = None
    evidence: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    mends: tuple[str, ...] = ()
    shown: str = ""
    snapshot_bytes: int | None = None
    pause_s: float | None = None
    resume_s: float | None = None
    problem: str = ""


class FilesBack(Part):
    """Where the session could not come back: what a fresh start under the new conditions found of its files."""

    seconds: float | None = None
    record_kept: bool | None = None
    problem: str = ""


class Expiry(Part):
    """An old snapshot made to expire by newer ones, and what was on the disk then. `others_kept`: every other one is as
    it was, to the byte. `newest_restored`: the newest still comes back."""

    expired: str = ""
    pauses: int = 0
    bytes_freed: int | None = None
    gone: bool = False
    others_kept: bool = False
    newest_restored: bool = False
    stored: tuple[Stored, ...] = ()
    problem: str = ""


class Losing(Part):
    """A session of somebody's that could not come back any more. `snapshot_id` is empty for one that runs now: what its
    next pause saves under the old conditions could not."""

    namespace: str
    name: str
    owner: str
    kind: str
    snapshot_id: str
    why: str
    mend: str


class Announcement(Part):
    """What those concerned would be told, by language, and whom it goes to: everybody, or the owners of these kinds.
    `sent` has the ids of the announcements made, empty where none was."""

    texts: dict[str, str] = Field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    until: int = 0
    sent: tuple[str, ...] = ()


class ReleaseReport(Part):
    """Everything that one release check found. `passed` only if the outcome is `restored` and `shortcomings` is empty.

    `losing` is of the installation that people use; `not_looked` is why it was not asked, empty where it was.
    """

    passed: bool
    outcome: Outcome
    shortcomings: tuple[str, ...]
    hint: str = ""
    old: Edition
    new: Edition
    session: Session
    files_back: FilesBack | None = None
    expiry: Expiry
    losing: tuple[Losing, ...] = ()
    not_looked: str = ""
    announcement: Announcement
    began_at: int
    ended_at: int
    machine: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
