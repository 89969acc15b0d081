"""Sees that no more bytes of snapshots are kept than quotas allow, where some can be spared: the oldest go first, never
one that is pinned, the newest of its workspace, or what a resume would bring back.
"""

import asyncio
from typing import Protocol

import structlog

from intermezzo.control.context import Context
from intermezzo.control.pacing import attempted
from intermezzo.control.quotas.stored import Homes, rules_of, snapshot_bytes, snapshots_of, spare
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound
from intermezzo.domain.quota import SNAPSHOTS, Quota
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import Workspace, WorkspaceKey

BY = "quota"
EVERY_S = 30.0
AT_MOST_EVERY_S = 2.0

log = structlog.get_logger(__name__)


class Deleting(Protocol):
    """What deletes a snapshot."""

    async def delete_snapshot(self, key: WorkspaceKey, snapshot_id: str, by: str) -> None:
        """As in `Snapshots`."""
        ...


class SnapshotRoom:
    """Sees that no more snapshots are kept than quotas allow, where some can be spared."""

    def __init__(self, context: Context, commands: Deleting) -> None:
        self._context = context
        self._commands = commands
        self.homes = Homes(context)

    async def run(self) -> None:
        """Look again and again until cancelled; measures homes too."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.homes.run())
            group.create_task(self._keep())

    async def tidy(self) -> None:
        """Delete what is too much once, as far as it can be spared. Raises `Unreachable`."""
        if not any(each.snapshot_bytes is not None for p in self._context.policies for each in p.quotas.values()):
            return
        rules = await rules_of(self._context)
        workspaces = await self._context.store.workspaces()
        there = dict(await snapshots_of(self._context, workspaces))
        for quota, counted in rules.counted(workspaces).items():
            if SNAPSHOTS in quota.allowed:
                await self._tidy(quota, counted, there)

    async def _tidy(self, quota: Quota, workspaces: list[Workspace], there: dict[str, tuple[Manifest, ...]]) -> None:
        """What goes is taken out of `there`, so that no other quota has more go on its account."""
        used = snapshot_bytes(workspaces, there)
        if used <= quota.allowed[SNAPSHOTS]:
            return
        may_go = [(manifest, each) for each in workspaces for manifest in spare(each, there.get(each.uid, ()))]
        for manifest, workspace in sorted(may_go, key=lambda pair: (pair[0].created_at, pair[0].id)):
            if used <= quota.allowed[SNAPSHOTS]:
                return
            try:
                await self._commands.delete_snapshot(workspace.key, manifest.id, BY)
            except (Conflict, InvalidInput, NotFound) as kept:
                log.info("snapshot_kept", workspace=str(workspace.key), reason=kept.message)
            else:
                used -= manifest.bytes
                there[workspace.uid] = tuple(left for left in there[workspace.uid] if left.id != manifest.id)

    async def _keep(self) -> None:
        count = 0
        while True:
            await attempted(self.tidy, "quotas")
            await asyncio.sleep(AT_MOST_EVERY_S)
            count, _ = await self._context.changes.wait(count, EVERY_S)
