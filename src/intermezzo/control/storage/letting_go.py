"""Writes down that a snapshot is not wanted any more because of a rule. The reconciler then has it deleted.

It looks once more before it writes: whoever pinned the snapshot, or began to use it, meanwhile has come in time.
"""

from intermezzo.control import entries
from intermezzo.control.context import Context
from intermezzo.control.storage.holdings import holdings
from intermezzo.domain.errors import Conflict, StaleWrite
from intermezzo.domain.ledger import Event
from intermezzo.domain.retention import Expiry, spare
from intermezzo.domain.workspace import SETTLED, WorkspaceKey


async def let_go(context: Context, key: WorkspaceKey, expiry: Expiry, warned_at: int) -> bool:
    """Let one go, with the ledger telling why, and when its owner was warned (0: not at all); False where it was
    not wanted any more already. Raises `Conflict` where it is missed now, `NotFound`, or `Unreachable`."""
    manifest = expiry.manifest
    workspaces = await context.store.workspaces()
    record = await context.store.get(key)
    if manifest.id in record.unwanted:
        return False
    if record.uid != manifest.workspace_uid or record.phase not in SETTLED:
        raise Conflict(f"{key} is being changed")
    there = (await context.cluster.observe(record.uid)).snapshots
    held = holdings(context, [record, *(each for each in workspaces if each.uid != record.uid)], {record.uid: there})
    if manifest.id not in {each.id for each in spare(held[0])}:
        raise Conflict(f"snapshot {manifest.id} of {key} is kept, used or gone")
    fact = entries.entry(
        record,
        Event.SNAPSHOT_EXPIRED,
        context.clock.now(),
        snapshot_id=manifest.id,
        reason=expiry.why.value,
        bytes=manifest.bytes,
        taken_at=manifest.created_at,
        warned_at=warned_at,
    )
    try:
        await context.store.save(record.with_(unwanted=(*record.unwanted, manifest.id)), [fact])
    except StaleWrite as changed:
        raise Conflict(f"{key} was changed meanwhile") from changed
    context.changes.touch(record.uid)
    context.wake(record.uid)
    return True
