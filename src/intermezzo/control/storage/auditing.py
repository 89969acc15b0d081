"""Compares what lies on the nodes' disks with what the records know, and clears away what nothing refers to.

Looking changes nothing. Before anything is cleared it is looked at anew, and only what is an orphan then goes: never a
snapshot of a workspace that is there, never what an operation may need, and never files in a volume.
"""

from dataclasses import dataclass

import structlog

from intermezzo.control.context import Context
from intermezzo.domain.errors import Conflict
from intermezzo.domain.storage import Audit, Known, StorageItem, audit
from intermezzo.domain.workspace import Workspace, WorkspaceKey

log = structlog.get_logger(__name__)

Key = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class StorageAudit:
    """What was found at `at` (epoch milliseconds), with the names of the workspaces that are there by uid."""

    found: Audit
    names: dict[str, WorkspaceKey]
    at: int


class Auditing:
    """Looking at the disks. Both raise `Unreachable` where a node or the store does not answer."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def audit_storage(self) -> StorageAudit:
        """Count everything now."""
        store = self._context.store
        volumes = await self._volume_ids(await store.workspaces())
        items = await self._context.cluster.stored(volumes)
        # The records are read after the disks: what has been made meanwhile must not look as if nobody knew it.
        records = await store.workspaces()
        known = _known(records, await self._volume_ids(records))
        return StorageAudit(audit(items, known), {each.uid: each.key for each in records}, self._context.clock.now())

    async def clear_storage(self, key: Key, by: str) -> StorageItem | None:
        """Delete one orphan for good; None where there is no such thing any more. Raises `Conflict` for what something
        refers to, and then it is as it was."""
        found = (await self.audit_storage()).found
        item = next((each.item for each in found.findings if each.item.key == key), None)
        if item is None:
            return None
        if item not in found.orphans:
            raise Conflict(f"{item.id} is no orphan: it is known, or in use just now", "Look again.")
        await self._context.cluster.clear(item)
        log.info("orphan_cleared", what=item.what.value, workspace=item.workspace_uid, id=item.id, by=by)
        return item

    async def _volume_ids(self, records: list[Workspace]) -> frozenset[str]:
        volumes = {volume.id for volume in await self._context.store.volumes.volumes(None)}
        return frozenset(volumes.union(*(each.volume_ids for each in records)))


def _known(records: list[Workspace], volume_ids: frozenset[str]) -> Known:
    operations = [each.operation for each in records if each.operation]
    referred = {each.snapshot.id for each in records if each.snapshot}
    referred |= {each.snapshot_id for each in operations} | {each.snapshot.id for each in operations if each.snapshot}
    return Known(
        workspace_uids=frozenset(each.uid for each in records),
        unwanted=frozenset(id_ for each in records for id_ in each.unwanted),
        referred=frozenset(referred - {""}),
        volume_ids=volume_ids,
    )
