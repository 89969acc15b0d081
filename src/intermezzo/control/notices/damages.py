"""Tells owners of snapshots that are damaged, and what can be brought back in their place.

It looks at what the nodes found, and takes back what has become whole again or is gone. It deletes nothing.
"""

import asyncio
from collections.abc import Sequence

from intermezzo.control.context import Context, new_id
from intermezzo.control.pacing import attempted
from intermezzo.domain.notice import KEPT_MS, Notice, Sort
from intermezzo.domain.snapshot import Manifest, newest_first
from intermezzo.domain.workspace import Workspace

EVERY_S = 30.0
NOTHING_ELSE = "There is no other one; the files are as they were."


class Damages:
    """Notices of damage."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def run(self) -> None:
        """Look again and again until cancelled."""
        while True:
            await attempted(self.look, "damage")
            await asyncio.sleep(EVERY_S)

    async def look(self) -> None:
        """Make what is told true once. Raises `Unreachable`."""
        now = self._context.clock.now()
        seen = await self._context.cluster.observe_all()
        told = await self._context.store.notices.in_force(now, Sort.SNAPSHOT_DAMAGED)
        records = await self._context.store.workspaces()
        true = {
            (record.uid, manifest.id): _notice(record, manifest, there, now)
            for record in records
            for there in [_wanted(record, seen[record.uid].snapshots if record.uid in seen else ())]
            for manifest in there
            if manifest.damage
        }
        known = {(notice.workspace_uid, notice.snapshot_id) for notice in told}
        mended = [notice for notice in told if (notice.workspace_uid, notice.snapshot_id) not in true]
        await self._context.store.notices.withdraw([notice.id for notice in mended], now)
        given = await self._context.store.notices.add([true[each] for each in true if each not in known], now)
        for notice in (*mended, *given):
            self._context.changes.touch(notice.workspace_uid)


def _wanted(record: Workspace, snapshots: Sequence[Manifest]) -> list[Manifest]:
    return [manifest for manifest in newest_first(snapshots) if manifest.id not in record.unwanted]


def _notice(record: Workspace, manifest: Manifest, there: Sequence[Manifest], now: int) -> Notice:
    other = next((each for each in there if not each.damage), None)
    typed = record.key.typed
    instead = f"To resume another one: `intermezzo resume {typed} --snapshot {other.id}`." if other else NOTHING_ELSE
    return Notice(
        id=new_id(),
        sort=Sort.SNAPSHOT_DAMAGED,
        occasion=manifest.id,
        subject=record.owner,
        message=f"What is wrong: {manifest.damage}. It is not resumed, and stays as it is. {instead}",
        created_at=now,
        workspace_uid=record.uid,
        key=record.key,
        since=manifest.created_at,
        expires_at=now + KEPT_MS,
    )
