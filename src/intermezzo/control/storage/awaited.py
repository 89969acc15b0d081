"""Which snapshots forks are to be made from and have not been yet: they must not be collected meanwhile. Reads only."""

from intermezzo.control.context import Context
from intermezzo.domain.workspace import OperationKind, WorkspaceKey


async def awaited(context: Context) -> dict[tuple[str, str], WorkspaceKey]:
    """By the original's uid and the snapshot's id, the fork that waits for it or is being made from it."""
    found = {}
    for workspace in await context.store.workspaces():
        operation, origin = workspace.operation, workspace.unmade
        if origin is not None and operation is not None and operation.kind is OperationKind.FORK:
            found[origin.workspace_uid, operation.snapshot_id] = workspace.key
    return found
