"""The ways back that a workspace has now, from what its node and its record say, and the export, which is one of them.

It reads only: the other ways are commands, and are taken as such.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

from intermezzo.archives import readme
from intermezzo.control.checkpoints import Checkpoints
from intermezzo.control.context import Context
from intermezzo.control.storage.snapshots import Snapshot, Snapshots
from intermezzo.domain.errors import Conflict, InvalidInput, Unreachable
from intermezzo.domain.export import Export, ExportRequest, folder_of
from intermezzo.domain.home_record import HomeRecord
from intermezzo.domain.recovery import MOVING, Known, Saved, WayBack, moves, ways_back
from intermezzo.domain.snapshot import SnapshotState
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey


class Recovery:
    """Answers for one workspace at a time. Raises `NotFound` for an unknown one; a silent node is an answer."""

    def __init__(self, context: Context, snapshots: Snapshots) -> None:
        self._context = context
        self._snapshots = snapshots

    async def ways(self, key: WorkspaceKey) -> tuple[WayBack, ...]:
        """All of them, whether open now or not, the one that loses least first."""
        workspace = await self._context.store.get(key)
        recorded = await Checkpoints(self._context).recorded(workspace)
        return self.of(workspace, await self._saved(workspace.key), recorded)

    def of(
        self, workspace: Workspace, found: Sequence[Snapshot] | None, recorded: HomeRecord | None
    ) -> tuple[WayBack, ...]:
        """The same from what was looked up already: its snapshots and what its home tells, None where its node is
        silent."""
        newest = recorded.newest if recorded is not None else None
        snapshots = None if found is None else tuple(map(_saved, found))
        return ways_back(workspace, Known(snapshots, newest.words if newest is not None else ""))

    async def request(self, key: WorkspaceKey) -> ExportRequest:
        """What an export of its home is to be. Raises `Conflict` for a workspace that is being deleted."""
        workspace = await self._context.store.get(key)
        if workspace.phase is Phase.DELETING:
            raise Conflict(f"{key} is being deleted")
        at = datetime.fromtimestamp(self._context.clock.now() / 1000, UTC)
        warnings = (MOVING,) if moves(workspace.phase) else ()
        return ExportRequest(
            workspace.volume_id,
            self._environment(workspace),
            folder_of(workspace.key, f"{at:%Y%m%d-%H%M%S}"),
            readme(workspace.key, f"{at:%Y-%m-%d %H:%M:%S} UTC", *warnings),
        )

    def export(self, request: ExportRequest) -> AbstractAsyncContextManager[Export]:
        """The archive, made while it is read. Raises `NotFound`, `Conflict` or `Unreachable`."""
        return self._context.cluster.export(request)

    def _environment(self, workspace: Workspace) -> str:
        try:
            return self._context.blueprint(workspace).environment
        except InvalidInput:
            return ""  # the kind or the image is gone; the files are not

    async def _saved(self, key: WorkspaceKey) -> list[Snapshot] | None:
        try:
            return await self._snapshots.snapshots(key)
        except Unreachable:
            return None


def _saved(found: Snapshot) -> Saved:
    deleting = found.state is SnapshotState.DELETING
    return Saved(found.manifest, found.compatible, found.differences, deleting)
