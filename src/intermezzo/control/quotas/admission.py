"""What quotas say to a request before anything is done: refused with the numbers, or let in.

Compute is not decided here but where it is taken, in the store; here only what could never be taken is refused. Bytes
on disks grow by themselves, so that a quota of them keeps from making more, and never costs anybody their work.
"""

from collections.abc import Mapping, Sequence

from intermezzo.control.context import Context
from intermezzo.control.quotas.stored import (
    bytes_used,
    rules_of,
    snapshot_bytes,
    snapshots_if_counted,
    snapshots_of,
)
from intermezzo.control.storage.holdings import holdings
from intermezzo.domain.amounts import amount_of, number
from intermezzo.domain.errors import Conflict, Refused, Unreachable
from intermezzo.domain.names import fold
from intermezzo.domain.quota import HOME, SNAPSHOTS, Quota, counted, exceeded, place_of
from intermezzo.domain.retention import Holding, spare
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.tally import NO_QUOTAS, Quotas
from intermezzo.domain.workspace import Workspace

WAYS_OUT = {
    HOME: "Delete files that are not needed any more, or a workspace with its files.",
    SNAPSHOTS: "Delete snapshots that are not needed any more; `intermezzo snapshots` lists those of a workspace.",
}


async def admit(context: Context, workspace: Workspace) -> Quotas:
    """The quotas that it counts against. Raises `Refused` for what could never be had under them, or while more bytes
    are on the disks than they allow."""
    quotas = (await rules_of(context)).quotas(workspace.owner, place_of(workspace))
    if not quotas:
        return NO_QUOTAS
    asked = counted(workspace.demand, {})
    for quota in quotas:
        if found := exceeded(quota, {}, asked):
            most = amount_of(found.item, quota.allowed[found.item])
            raise Refused(
                f"this needs {amount_of(found.item, found.asked)}; {quota.scope.who} may have {most} at a time "
                f"(policy {quota.policy})",
                "Choose a smaller size, or ask an administrator for a larger quota.",
            )
    await _require_bytes(context, quotas)
    return Quotas(quotas)


async def require_room(context: Context, workspace: Workspace) -> None:
    """Raises `Conflict`, before anything of a pause is done, where its snapshot would be more than a quota allows even
    if everything went that would not be missed."""
    quotas = (await rules_of(context)).quotas(workspace.owner, place_of(workspace))
    for quota in quotas:
        if SNAPSHOTS in quota.allowed:
            await _require_snapshot_fits(context, workspace, quota)


async def _require_bytes(context: Context, quotas: Sequence[Quota]) -> None:
    """What is not known is not held against anybody."""
    of_bytes = [quota for quota in quotas if {HOME, SNAPSHOTS} & quota.allowed.keys()]
    if not of_bytes:
        return
    workspaces = await context.store.workspaces()
    there = await snapshots_if_counted(context, of_bytes, workspaces)
    for quota in of_bytes:
        for item, amount in bytes_used(context, quota, _together(quota, workspaces), there).items():
            if amount > quota.allowed[item]:
                raise Refused(_told(quota, item, amount), WAYS_OUT[item])


async def _require_snapshot_fits(context: Context, workspace: Workspace, quota: Quota) -> None:
    everyone = await context.store.workspaces()
    together = _together(quota, everyone)
    try:
        sandbox = (await context.cluster.observe(workspace.uid)).sandbox
        there = await snapshots_of(context, together)
    except Unreachable:
        return
    coming = sandbox.memory_bytes if sandbox is not None else 0
    used = snapshot_bytes(together, there)
    may_go = [
        manifest
        for held in holdings(context, everyone, there)
        for manifest in (_replaceable(held) if held.workspace_uid == workspace.uid else spare(held))
    ]
    if used - sum(manifest.bytes for manifest in may_go) + coming > quota.allowed[SNAPSHOTS]:
        raise Conflict(
            f"the snapshot of {workspace.key} would take about {amount_of('memory', coming)}, and "
            f"{_told(quota, SNAPSHOTS, used)}; the session runs on",
            _deletable(workspace, together, there) or WAYS_OUT[SNAPSHOTS],
        )


def _together(quota: Quota, workspaces: Sequence[Workspace]) -> list[Workspace]:
    return [each for each in workspaces if quota.scope.covers(each.owner, place_of(each))]


def _replaceable(paused: Holding) -> list[Manifest]:
    """Which of its snapshots would not be missed once the new one is there."""
    return [manifest for manifest in paused.snapshots if not manifest.pinned]


def _deletable(paused: Workspace, together: Sequence[Workspace], there: Mapping[str, Sequence[Manifest]]) -> str:
    """The largest snapshot that its owner could delete to make room, as a command; empty where there is none."""
    own = [each for each in together if fold(each.owner) == fold(paused.owner)]
    found = [(manifest.bytes, manifest.id, each.key.typed) for each in own for manifest in there.get(each.uid, ())]
    if not found:
        return ""
    _, snapshot_id, typed = max(found)
    return f"Delete a snapshot, such as the largest: `intermezzo snapshots delete {typed} {snapshot_id}`."


def _told(quota: Quota, item: str, used: int) -> str:
    allowed = amount_of(item, quota.allowed[item])
    return f"{quota.scope.who} has {number(item, used)} of {allowed} allowed (policy {quota.policy})"
