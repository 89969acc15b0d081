"""What people are told without having asked: that a workspace will be paused, that something went wrong at night, that
an upgrade comes. Pure values.

A notice is for one person. What it is about makes it one notice however often it is thought of: workspace, sort,
occasion and person. All times are epoch milliseconds, UTC.
"""

from dataclasses import dataclass
from enum import StrEnum

from intermezzo.domain.workspace import WorkspaceKey

ANNOUNCEMENT_LENGTH = 1000
KEPT_MS = 7 * 24 * 3600 * 1000
"""How long something is told where nothing says otherwise, and how long it is remembered after its end."""


class Sort(StrEnum):
    """What a notice is about."""

    IDLE_PAUSE = "idle-pause"
    SCHEDULED_PAUSE = "scheduled-pause"
    PREEMPTED = "preempted"
    PAUSE_FAILED = "pause-failed"
    RESUME_FAILED = "resume-failed"
    SNAPSHOT_EXPIRING = "snapshot-expiring"
    SNAPSHOT_DAMAGED = "snapshot-damaged"
    ANNOUNCEMENT = "announcement"


OF_A_SNAPSHOT = frozenset({Sort.SNAPSHOT_EXPIRING, Sort.SNAPSHOT_DAMAGED})
"""Those that speak of one snapshot; their occasion begins with its id."""

SAID_BY_THE_STATE = frozenset({Sort.PAUSE_FAILED, Sort.RESUME_FAILED})
"""What a workspace's row and page say anyway, with the reason and the ways out; for people who look at neither."""

OF_A_PAUSE = frozenset({Sort.IDLE_PAUSE, Sort.SCHEDULED_PAUSE})
"""Those that speak of a pause to come, which keeping awake puts off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that one person is told.

    `message` is a plain English sentence (of an announcement: the words of whoever announced it); `moment` is when
    what it speaks of comes or came, 0 where there is no such moment; `since` is what an idle pause is reckoned from.
    It is in force until `expires_at`, 0 meaning that it has no end; `dismissed_at` 0 means that it was not dismissed.
    `key` is None where it is about no workspace. An announcement with no `subject` is the original that each person's
    own is made from; `kind` then says whose it is: those with a workspace of that kind, or everybody if it is empty.
    """

    id: str
    sort: Sort
    occasion: str
    subject: str
    message: str
    created_at: int
    workspace_uid: str = ""
    key: WorkspaceKey | None = None
    kind: str = ""
    moment: int = 0
    since: int = 0
    expires_at: int = 0
    dismissed_at: int = 0

    @property
    def snapshot_id(self) -> str:
        """The snapshot that it speaks of; empty where it speaks of none."""
        return self.occasion.partition(" ")[0] if self.sort in OF_A_SNAPSHOT else ""

    def in_force(self, now: int) -> bool:
        """Whether it has not ended."""
        return self.expires_at == 0 or now < self.expires_at

    def shown(self, now: int) -> bool:
        """Whether its person still wants to see it."""
        return self.in_force(now) and self.dismissed_at == 0


class Fate(StrEnum):
    """What became of an attempt to bring a notice to somebody: it arrived, is tried again, or never will."""

    DELIVERED = "delivered"
    DELAYED = "delayed"
    UNDELIVERABLE = "undeliverable"


@dataclass(frozen=True, slots=True)
class Delivery:
    """How far a notice has come on one channel; not tried again before `not_before`. `problem` is why it did not
    arrive."""

    notice_id: str
    channel: str
    fate: Fate
    attempts: int
    not_before: int = 0
    problem: str = ""
