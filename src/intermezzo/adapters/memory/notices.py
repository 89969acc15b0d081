"""Notices that live as long as their process: for tests and for a dry run.

It keeps every promise of the port but durability. Nothing in it awaits, so each method is one transaction.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from intermezzo.domain.names import fold
from intermezzo.domain.notice import Delivery, Fate, Notice, Sort


class MemoryNotices:
    """Implements `ports.notices.Notices`."""

    def __init__(self) -> None:
        self._notices: dict[str, Notice] = {}
        self._ids: dict[tuple[str, str, str, str], str] = {}
        self._deliveries: dict[tuple[str, str], Delivery] = {}

    async def add(self, notices: Sequence[Notice], now: int) -> list[Notice]:
        """Store those that are new or had ended."""
        stored = []
        for notice in notices:
            known = self._notices.get(self._ids.get(_identity(notice), ""))
            if known is None or not known.in_force(now):
                kept = replace(notice, id=known.id if known else notice.id)
                self._notices[kept.id] = kept
                self._ids[_identity(kept)] = kept.id
                if known is not None:
                    self._deliveries = {key: each for key, each in self._deliveries.items() if key[0] != kept.id}
                stored.append(kept)
        return stored

    async def in_force(self, now: int, sort: Sort | None = None) -> list[Notice]:
        """Those that have not ended."""
        return self._chosen(lambda notice: notice.in_force(now) and sort in (None, notice.sort))

    async def of_subject(self, subject: str, now: int) -> list[Notice]:
        """What one person is to be shown."""
        return self._chosen(lambda notice: notice.shown(now) and fold(notice.subject) == fold(subject))

    async def of_workspaces(self, workspace_uids: Collection[str], now: int) -> list[Notice]:
        """What is to be shown about these workspaces."""
        return self._chosen(lambda notice: notice.shown(now) and notice.workspace_uid in workspace_uids)

    async def find(self, notice_id: str) -> Notice | None:
        """By id."""
        return self._notices.get(notice_id)

    async def dismiss(self, ids: Collection[str], at: int) -> None:
        """Their person has seen enough of them."""
        for notice in self._of_ids(ids):
            if not notice.dismissed_at:
                self._notices[notice.id] = replace(notice, dismissed_at=at)

    async def withdraw(self, ids: Collection[str], at: int) -> None:
        """End those that are in force."""
        for notice in self._of_ids(ids):
            if notice.in_force(at):
                self._notices[notice.id] = replace(notice, expires_at=at)

    async def undelivered(self, channel: str, now: int, limit: int) -> list[tuple[Notice, int]]:
        """What is to be brought to people now."""
        due = []
        for notice in self._chosen(lambda notice: notice.shown(now) and bool(notice.subject)):
            tried = self._deliveries.get((notice.id, channel))
            if tried is None or (tried.fate is Fate.DELAYED and tried.not_before <= now):
                due.append((notice, tried.attempts if tried else 0))
        return due[:limit]

    async def note_delivery(self, delivery: Delivery) -> None:
        """What became of an attempt."""
        if delivery.notice_id in self._notices:
            self._deliveries[delivery.notice_id, delivery.channel] = delivery

    async def deliveries(self, notice_id: str) -> list[Delivery]:
        """How far it has come."""
        own = [delivery for delivery in self._deliveries.values() if delivery.notice_id == notice_id]
        return sorted(own, key=lambda delivery: delivery.channel)

    async def forget(self, before: int) -> None:
        """Delete what had ended."""
        self._notices = {id_: notice for id_, notice in self._notices.items() if notice.in_force(before)}
        self._ids = {_identity(notice): id_ for id_, notice in self._notices.items()}
        self._deliveries = {key: each for key, each in self._deliveries.items() if key[0] in self._notices}

    def _of_ids(self, ids: Collection[str]) -> list[Notice]:
        return [self._notices[notice_id] for notice_id in ids if notice_id in self._notices]

    def _chosen(self, wanted: Callable[[Notice], bool]) -> list[Notice]:
        found = [notice for notice in self._notices.values() if wanted(notice)]
        return sorted(found, key=lambda notice: (notice.created_at, notice.id))


def _identity(notice: Notice) -> tuple[str, str, str, str]:
    return notice.workspace_uid, notice.sort, notice.occasion, fold(notice.subject)
