"""What the public API says about changes of a workspace that are under way or have ended."""

from intermezzo.client.shape import Shape
from intermezzo.domain.workspace import OperationKind, Outcome, Phase


class OperationShape(Shape):
    """One attempt at a change, under way."""

    id: str
    kind: OperationKind
    asked_by: str
    asked_at: int
    came_from: Phase
    snapshot_id: str = ""
    attempt: int = 0


class FinishedOperationShape(Shape):
    """How an operation ended."""

    id: str
    kind: OperationKind
    outcome: Outcome
    message: str
    ended_at: int


class OperationStatus(Shape):
    """Where an operation is: `running`, or how it ended."""

    id: str
    kind: OperationKind
    state: str
    message: str = ""
    asked_at: int = 0
    ended_at: int = 0


class ProgressShape(Shape):
    """How far a long step is; `total` is 0 where nobody knows."""

    step: str
    done: int = 0
    total: int = 0
    unit: str = "bytes"
