"""The application checkpoints of a trial: those that the workspace tells, else files that are called so."""

from collections.abc import Iterable
from dataclasses import dataclass

from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.reports.trial import StoredFile


@dataclass(frozen=True, slots=True)
class Named:
    """One of them: where it lies below home, how many bytes it has, and what its program called it."""

    path: str
    bytes: int
    label: str = ""

    def __str__(self) -> str:
        return f"{self.path} ({self.label})" if self.label else self.path


def checkpoints(workspace: WorkspaceDetail | None, files: Iterable[StoredFile]) -> tuple[Named, ...]:
    """Newest first where that is known."""
    recorded = workspace.recorded if workspace is not None else None
    if recorded is not None and recorded.checkpoints:
        return tuple(Named(saved.path, saved.bytes, saved.label) for saved in recorded.checkpoints)
    return tuple(Named(file.path, file.bytes) for file in files if file.checkpoint)
