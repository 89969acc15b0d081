"""Tells owners of pauses and resumes that failed, whoever asked for them: they may have left, or be asleep.

It looks at how each workspace's last operation ended, and takes back what a later one has mended.
"""

from collections.abc import Iterable, Iterator, Mapping

from intermezzo.control.context import Context, new_id
from intermezzo.domain.notice import KEPT_MS, Notice, Sort
from intermezzo.domain.workspace import FinishedOperation, OperationKind, Outcome, Workspace

SORTS = {OperationKind.PAUSE: Sort.PAUSE_FAILED, OperationKind.RESUME: Sort.RESUME_FAILED}


class Failures:
    """Notices of what failed."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def look(self) -> None:
        """Make what is told true once. Raises `Unreachable`."""
        now = self._context.clock.now()
        records = {record.uid: record for record in await self._context.store.workspaces()}
        told = [n for sort in SORTS.values() for n in await self._context.store.notices.in_force(now, sort)]
        mended = [notice for notice in told if _is_mended(notice, records)]
        await self._context.store.notices.withdraw([notice.id for notice in mended], now)
        known = {(notice.workspace_uid, notice.occasion) for notice in told}
        failed = [each for each in _failed(records.values(), now) if (each[0].uid, each[1].id) not in known]
        given = await self._context.store.notices.add([_notice(record, each, now) for record, each in failed], now)
        for notice in (*mended, *given):
            self._context.changes.touch(notice.workspace_uid)


def _failed(records: Iterable[Workspace], now: int) -> Iterator[tuple[Workspace, FinishedOperation]]:
    """What failed lately, with nothing under way since."""
    for record in records:
        last = record.last_operation
        if last is None or record.operation is not None or last.kind not in SORTS:
            continue
        if last.outcome is Outcome.FAILED and last.ended_at > now - KEPT_MS:
            yield record, last


def _is_mended(notice: Notice, records: Mapping[str, Workspace]) -> bool:
    record = records.get(notice.workspace_uid)
    if record is None:
        return True
    last = record.last_operation
    return last is not None and last.outcome is Outcome.SUCCEEDED and last.ended_at > notice.created_at


def _notice(record: Workspace, last: FinishedOperation, now: int) -> Notice:
    return Notice(
        id=new_id(),
        sort=SORTS[last.kind],
        occasion=last.id,
        subject=record.owner,
        message=last.message,
        created_at=now,
        workspace_uid=record.uid,
        key=record.key,
        expires_at=now + KEPT_MS,
    )
