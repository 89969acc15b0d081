"""What the control plane needs from a database for what people are told, and for how far it has come on each channel.

Every method is one transaction. All times are epoch milliseconds, UTC. Methods raise `Unreachable` if the database
does not answer.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from intermezzo.domain.notice import Delivery, Notice, Sort


class Notices(Protocol):
    """Notices by id. Two are the same one if workspace, sort, occasion and subject are the same, whatever the case of
    the subject."""

    async def add(self, notices: Sequence[Notice], now: int) -> list[Notice]:
        """Store those that are new, and put those that ended back in force with what is new about them; one that is in
        force at `now` is left as it is. One that comes back keeps its id and is brought to people anew. Returns what
        was stored."""
        ...

    async def in_force(self, now: int, sort: Sort | None = None) -> list[Notice]:
        """Those (of a sort) that have not ended, dismissed ones and the originals of announcements included, oldest
        first."""
        ...

    async def of_subject(self, subject: str, now: int) -> list[Notice]:
        """What one person is to be shown: in force and not dismissed, oldest first."""
        ...

    async def of_workspaces(self, workspace_uids: Collection[str], now: int) -> list[Notice]:
        """What is to be shown about these workspaces, oldest first."""
        ...

    async def find(self, notice_id: str) -> Notice | None:
        """By id, ended or not; None if there is none."""
        ...

    async def dismiss(self, ids: Collection[str], at: int) -> None:
        """Their person has seen enough of them. Idempotent: the first moment stays."""
        ...

    async def withdraw(self, ids: Collection[str], at: int) -> None:
        """End those that are in force at `at`. Idempotent."""
        ...

    async def undelivered(self, channel: str, now: int, limit: int) -> list[tuple[Notice, int]]:
        """What is to be brought to people on a channel now, oldest first, with the number of attempts so far: shown
        notices with a subject that have neither arrived nor been given up, and whose time to be tried has come."""
        ...

    async def note_delivery(self, delivery: Delivery) -> None:
        """Write down what became of an attempt; of two for the same notice and channel the later holds. Nothing if the
        notice is gone."""
        ...

    async def deliveries(self, notice_id: str) -> list[Delivery]:
        """How far it has come, by channel."""
        ...

    async def forget(self, before: int) -> None:
        """Delete what had ended before that moment, with its deliveries."""
        ...
