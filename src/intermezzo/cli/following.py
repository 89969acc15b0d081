"""Watching an operation to its end: what step it is in, how many bytes, how fast. It only looks.

Leaving (Ctrl-C) ends the watching, never the operation.
"""

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)

from intermezzo.cli.base import Session
from intermezzo.client.operation_models import OperationShape
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.errors import NotFound
from intermezzo.domain.workspace import OperationKind


def follow(session: Session, workspace: str, operation: OperationShape) -> WorkspaceDetail | None:
    """The workspace once the operation has ended; None if it is gone by then, as after a delete."""
    found: WorkspaceDetail | None = None
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
        console=session.output.remarks,
        transient=True,
        disable=session.output.as_json or not session.output.remarks.is_terminal,
    ) as bar:
        task = bar.add_task(operation.kind.value, total=None)
        try:
            for found in session.client.settled(workspace, operation.id):
                _show(bar, task, found)
        except NotFound:
            if operation.kind is not OperationKind.DELETE:
                raise
            return None
        except KeyboardInterrupt:
            session.output.remark(f"No longer watching; the {operation.kind.value} goes on.")
            raise
    return found


def _show(bar: Progress, task: TaskID, found: WorkspaceDetail) -> None:
    waiting = f"position {found.queue.position}: {found.queue.reason}" if found.queue else ""
    step = found.progress.step if found.progress else ""
    description = " · ".join(part for part in (found.state, waiting or step) if part)
    done = found.progress.done if found.progress else 0
    total = found.progress.total if found.progress else 0
    bar.update(task, description=description, completed=done, total=total or None)
