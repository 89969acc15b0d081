"""The ledger: an append-only record of what happened to each workspace, and when.

Entries are facts with a time and a source; intervals (paused for how long, restored in how long, capacity used by
whom meanwhile) are derived from them and never stored, so that a report made today and one made tomorrow agree.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Event(StrEnum):
    """What an entry records. `details` keys are named in docs/reference/ledger.md."""

    CREATED = "created"
    EDITED = "edited"
    START_ASKED = "start_asked"
    STARTED = "started"
    START_FAILED = "start_failed"
    QUEUED = "queued"
    CAPACITY_ACQUIRED = "capacity_acquired"
    CAPACITY_FREED = "capacity_freed"
    PAUSE_ASKED = "pause_asked"
    LAST_ACTIVITY = "last_activity"
    FROZEN = "frozen"
    SNAPSHOT_DONE = "snapshot_done"
    PROCESS_GONE = "process_gone"
    PAUSED = "paused"
    PAUSE_FAILED = "pause_failed"
    RESUME_ASKED = "resume_asked"
    RESTORED = "restored"
    SERVER_ANSWERED = "server_answered"
    PROVEN = "proven"
    NEXT_CELL_RAN = "next_cell_ran"
    RESUMED = "resumed"
    RESUME_FAILED = "resume_failed"
    FORK_ASKED = "fork_asked"
    COPIED = "copied"
    RENAMED = "renamed"
    FORKED = "forked"
    FORK_FAILED = "fork_failed"
    WAS_FORKED = "was_forked"
    CANCELLED = "cancelled"
    LOST = "lost"
    SNAPSHOT_DELETED = "snapshot_deleted"
    SNAPSHOT_EXPIRING = "snapshot_expiring"
    SNAPSHOT_EXPIRED = "snapshot_expired"
    SNAPSHOT_GONE = "snapshot_gone"
    SCHEDULE_SET = "schedule_set"
    SCHEDULE_REMOVED = "schedule_removed"
    SCHEDULE_MET = "schedule_met"
    SCHEDULE_HELD = "schedule_held"
    SCHEDULE_SKIPPED = "schedule_skipped"
    DELETE_ASKED = "delete_asked"
    DELETED = "deleted"
    WARNED = "warned"
    KEPT_AWAKE = "kept_awake"
    KEEP_AWAKE_ENDED = "keep_awake_ended"


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact. `seq` is given by the store and grows; `at` is epoch milliseconds, UTC; `source` is who saw it."""

    workspace_uid: str
    namespace: str
    name: str
    at: int
    event: Event
    operation_id: str = ""
    actor: str = ""
    source: str = "control"
    details: dict[str, Any] = field(default_factory=dict)
    seq: int = 0
