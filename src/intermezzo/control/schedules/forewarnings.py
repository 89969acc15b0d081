"""Tells owners a while before a schedule pauses their workspace, and takes that back where it will not.

It pauses nothing and nothing waits for it: a schedule is its owner's own word. Looks at what is, again and again, until
what is told is true.
"""

from collections.abc import Mapping

from intermezzo.control.context import Context, new_id
from intermezzo.domain.notice import KEPT_MS, Notice, Sort
from intermezzo.domain.workspace import Phase, Workspace

MESSAGE = "A schedule asks for it, whatever runs in it then."


class Forewarnings:
    """Notices of scheduled pauses that come soon."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def look(self, pauses: Mapping[str, int]) -> None:
        """Make what is told true once. `pauses` is by workspace uid when a schedule will next pause it (epoch
        milliseconds). Raises `Unreachable`."""
        now = self._context.clock.now()
        told = await self._context.store.notices.in_force(now, Sort.SCHEDULED_PAUSE)
        if not told and not pauses:
            return
        leases = await self._context.store.leases.leases()
        awake_until = {uid: lease.until for uid, lease in leases.items()}
        coming = {
            (record.uid, pauses[record.uid]): record
            for record in await self._context.store.workspaces()
            if record.uid in pauses
            and record.phase is Phase.RUNNING
            and awake_until.get(record.uid, 0) <= pauses[record.uid]
            and now >= pauses[record.uid] - self._warn_before_ms(record)
        }
        known = {(notice.workspace_uid, notice.moment) for notice in told}
        ended = [notice.id for notice in told if (notice.workspace_uid, notice.moment) not in coming]
        if ended:
            await self._context.store.notices.withdraw(ended, now)
        fresh = [self._notice(*each) for each in coming.items() if each[0] not in known]
        given = await self._context.store.notices.add(fresh, now)
        for uid in {notice.workspace_uid for notice in told if notice.id in ended} | {n.workspace_uid for n in given}:
            self._context.changes.touch(uid)

    def _notice(self, occasion: tuple[str, int], record: Workspace) -> Notice:
        uid, moment = occasion
        return Notice(
            id=new_id(),
            sort=Sort.SCHEDULED_PAUSE,
            occasion=str(moment),
            subject=record.owner,
            message=MESSAGE,
            created_at=self._context.clock.now(),
            workspace_uid=uid,
            key=record.key,
            moment=moment,
            expires_at=moment + KEPT_MS,
        )

    def _warn_before_ms(self, record: Workspace) -> int:
        return (self._context.said(record).rules.warn_before_s or 0) * 1000
