"""What workspaces have on disks: their snapshots as they are there now, their homes as they were measured last.

A home is read whole to be measured, so that is done in the background, one after the other, and only while a quota
counts homes. One that was never measured is not counted.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping

import structlog

from intermezzo.control.context import Context
from intermezzo.control.pacing import attempted
from intermezzo.control.queue.rulebook import Rulebook
from intermezzo.domain.errors import IntermezzoError, Unreachable
from intermezzo.domain.quota import HOME, SNAPSHOTS, Quota
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import Workspace

MEASURED_EVERY_S = 300.0

Snapshots = Mapping[str, tuple[Manifest, ...]]
"""Complete snapshots by workspace uid."""

log = structlog.get_logger(__name__)


class Homes:
    """How large homes are, by the id of their volume."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def run(self) -> None:
        """Measure again and again until cancelled."""
        while True:
            if any(each.home_bytes is not None for policy in self._context.policies for each in policy.quotas.values()):
                await attempted(self.measure, "homes")
            await asyncio.sleep(MEASURED_EVERY_S)

    async def measure(self) -> None:
        """Measure all of them once. Raises `Unreachable` if the store does not answer."""
        for workspace in await self._context.store.workspaces():
            try:
                found = await self._context.cluster.home(workspace.volume_id)
            except IntermezzoError as unknown:
                log.info("home_not_measured", workspace=str(workspace.key), reason=unknown.message)
            else:
                self._context.home_bytes[workspace.volume_id] = found.bytes


async def snapshots_of(context: Context, workspaces: Iterable[Workspace]) -> Snapshots:
    """Their complete snapshots, by workspace uid. Raises `Unreachable`."""
    seen = await context.cluster.observe_all()
    wanted = {workspace.uid: frozenset(workspace.unwanted) for workspace in workspaces}
    return {
        uid: tuple(manifest for manifest in seen[uid].snapshots if manifest.id not in unwanted)
        for uid, unwanted in wanted.items()
        if uid in seen
    }


async def snapshots_if_counted(
    context: Context, quotas: Iterable[Quota], workspaces: Iterable[Workspace]
) -> Snapshots | None:
    """Their snapshots where one of the quotas counts any; None where the nodes do not answer."""
    if not any(SNAPSHOTS in quota.allowed for quota in quotas):
        return {}
    try:
        return await snapshots_of(context, workspaces)
    except Unreachable:
        return None


def bytes_used(
    context: Context, quota: Quota, counted: Collection[Workspace], there: Snapshots | None
) -> dict[str, int]:
    """What those that count against the quota have on disks of what it counts, as far as that is known."""
    used: dict[str, int] = {}
    if HOME in quota.allowed:
        used[HOME] = sum(context.home_bytes.get(volume, 0) for volume in {each.volume_id for each in counted})
    if SNAPSHOTS in quota.allowed and there is not None:
        used[SNAPSHOTS] = snapshot_bytes(counted, there)
    return used


def snapshot_bytes(workspaces: Iterable[Workspace], there: Snapshots) -> int:
    """What the snapshots of these take."""
    return sum(manifest.bytes for each in workspaces for manifest in there.get(each.uid, ()))


async def rules_of(context: Context) -> Rulebook:
    """The policies and teams of this moment."""
    return Rulebook(context.policies, await context.store.accounts.teams())
