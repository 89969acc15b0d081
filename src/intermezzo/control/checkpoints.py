"""Application checkpoints: asking a session's programs to save one, and what a home tells of those that are there.

It decides nothing and stores nothing: what is there is read from the home each time.
"""

from intermezzo.control.context import Context
from intermezzo.domain.errors import Conflict, NotFound, Unreachable
from intermezzo.domain.home_record import HomeRecord, SaveAnswer
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey


class Checkpoints:
    """Answers for one workspace at a time."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def save(self, key: WorkspaceKey) -> list[SaveAnswer]:
        """Have every program of the session that keeps checkpoints save one now; nothing is paused or changed.

        Raises `NotFound`, `Conflict` without a session or while an operation is under way, or `Unreachable`.
        """
        workspace = await self._context.store.get(key)
        if workspace.phase is not Phase.RUNNING:
            raise Conflict(f"{key} is {workspace.phase.value.lower()}, not running", f"intermezzo resume {key.typed}")
        return await self._context.cluster.checkpoint(workspace.uid)

    async def recorded(self, workspace: Workspace) -> HomeRecord | None:
        """What its home tells, in whatever phase it is; nothing for a home that was not made yet, None where its node
        cannot be asked."""
        try:
            return await self._context.cluster.home_record(workspace.volume_id)
        except NotFound:
            return HomeRecord()
        except Unreachable:
            return None
