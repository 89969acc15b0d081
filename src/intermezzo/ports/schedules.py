"""What the control plane needs from a database for schedules: which there are, and how far each was dealt with.

Every method is one transaction. A schedule goes with its workspace. Methods raise `Unreachable` if the database does
not answer.
"""

from collections.abc import Sequence
from typing import Protocol

from intermezzo.domain.ledger import Entry
from intermezzo.domain.schedule import Schedule


class Schedules(Protocol):
    """The schedules of all workspaces."""

    async def of(self, workspace_uid: str) -> list[Schedule]:
        """Those of one workspace, in the order in which they were set."""
        ...

    async def page(self, after: str = "", limit: int = 500) -> list[Schedule]:
        """All of them, in order of their ids, beginning after that one."""
        ...

    async def add(self, schedule: Schedule, entries: Sequence[Entry] = ()) -> None:
        """Store a new one, and append entries with it. Raises `NotFound` if its workspace is gone."""
        ...

    async def mark(self, schedule_id: str, done_until: int, held_until: int, entries: Sequence[Entry] = ()) -> None:
        """Store how far it was dealt with, and append entries with it; for one that is gone, the entries alone."""
        ...

    async def drop(self, schedule_id: str, entries: Sequence[Entry] = ()) -> None:
        """Forget it and append entries with that; nothing at all if there is none."""
        ...

    async def resumed(self, workspace_uid: str) -> list[int]:
        """How long each resume of it that ended well took from being asked for, in milliseconds, oldest first."""
        ...
