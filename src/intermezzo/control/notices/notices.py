"""What people are told about their workspaces, and what they have seen enough of.

Everything is kept in the store first; how it comes to people (pages, notebook, e-mail, webhook) is not decided here.
"""

import asyncio
from collections.abc import Collection

from intermezzo.control.context import Context, new_id
from intermezzo.control.notices.announcements import Announcements
from intermezzo.control.notices.failures import Failures
from intermezzo.control.notices.warnings import Decisions, Warnings
from intermezzo.control.pacing import attempted
from intermezzo.domain.errors import NotFound
from intermezzo.domain.names import fold
from intermezzo.domain.notice import KEPT_MS, Notice, Sort
from intermezzo.domain.workspace import Workspace

EVERY_S = 5.0
AT_MOST_EVERY_S = 1.0


class Notices(Announcements):
    """Telling, and what was told. `decisions` is what the idle rule has decided about each workspace."""

    def __init__(self, context: Context, decisions: Decisions) -> None:
        super().__init__(context)
        self._context = context
        self.warnings = Warnings(context, decisions)
        self._failures = Failures(context)

    async def keep_told(self) -> None:
        """See that people are told what is true, again and again, until cancelled."""
        count = 0
        while True:
            await attempted(self.look_at_notices, "notices")
            await asyncio.sleep(AT_MOST_EVERY_S)
            # No seldomer than the idle rule looks: a pause waits for its warning.
            count, _ = await self._context.changes.wait(count, min(EVERY_S, self._context.idle.every_s))

    async def look_at_notices(self) -> None:
        """See to it once: warnings, failures, announcements, and what ended long ago. Raises `Unreachable`."""
        await self.warnings.look()
        await self._failures.look()
        await self.spread_announcements()
        await self._context.store.notices.forget(self._context.clock.now() - KEPT_MS)

    async def tell(self, workspace: Workspace, sort: Sort, occasion: str, message: str, moment: int = 0) -> None:
        """Tell the owner something about a workspace, for a week. `occasion` makes it one notice however often this is
        called; `message` is a plain English sentence, `moment` (epoch milliseconds) when what it speaks of comes."""
        now = self._context.clock.now()
        notice = Notice(
            id=new_id(),
            sort=sort,
            occasion=occasion,
            subject=workspace.owner,
            message=message,
            created_at=now,
            workspace_uid=workspace.uid,
            key=workspace.key,
            moment=moment,
            expires_at=now + KEPT_MS,
        )
        if await self._context.store.notices.add([notice], now):
            self._context.changes.touch(workspace.uid)

    async def notices_for(self, subject: str) -> list[Notice]:
        """What one person is to be shown, oldest first."""
        return await self._true(await self._context.store.notices.of_subject(subject, self._context.clock.now()))

    async def notices_about(self, workspace_uids: Collection[str]) -> list[Notice]:
        """What is to be shown about these workspaces, oldest first."""
        now = self._context.clock.now()
        return await self._true(await self._context.store.notices.of_workspaces(workspace_uids, now))

    async def dismiss(self, notice_id: str, subject: str) -> None:
        """Their person has seen enough of it. Raises `NotFound` unless it is theirs."""
        notice = await self._context.store.notices.find(notice_id)
        if notice is None or not notice.subject or fold(notice.subject) != fold(subject):
            raise NotFound(f"there is no notice {notice_id}")
        await self._context.store.notices.dismiss([notice.id], self._context.clock.now())
        if notice.workspace_uid:
            self._context.changes.touch(notice.workspace_uid)

    async def _true(self, notices: list[Notice]) -> list[Notice]:
        """Without warnings of what a lease has put off since the last look."""
        if not any(notice.sort is Sort.IDLE_PAUSE for notice in notices):
            return notices
        until = {uid: lease.until for uid, lease in (await self._context.store.leases.leases()).items()}
        return [n for n in notices if n.sort is not Sort.IDLE_PAUSE or n.moment >= until.get(n.workspace_uid, 0)]
