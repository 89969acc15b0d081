"""What the public API says about runs of notebooks and of code."""

from typing import Any

from intermezzo.client.shape import Shape


class RunShape(Shape):
    """One run of a notebook or of code. `state`: running, succeeded, failed or interrupted."""

    id: str
    workspace_uid: str
    source: str
    state: str
    started_at: int
    ended_at: int = 0
    cell: int = 0
    cells: int = 0
    problem: str = ""


class CellShape(Shape):
    """Progress of a run: cell `index` of `total` is `running`, gave `output` (nbformat), or is `done` or `failed`."""

    index: int
    total: int
    state: str
    output: dict[str, Any] | None = None
    problem: str = ""
    execution_count: int | None = None
