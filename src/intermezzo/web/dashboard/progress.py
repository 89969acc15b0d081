"""How far a long step is: how much, how fast, how long still. Pure; it never guesses where nothing is known."""

from dataclasses import dataclass

from intermezzo.domain.orders import Observed
from intermezzo.domain.workspace import Workspace

LEAST_TIME_MS = 500


@dataclass(frozen=True, slots=True)
class Pace:
    """`total`, `rate` (bytes a second) and `left_ms` are 0 where nobody can say; `elapsed_ms` is of the operation."""

    step: str
    done: int
    total: int
    rate: int
    left_ms: int
    elapsed_ms: int


def pace(workspace: Workspace, seen: Observed, now: int) -> Pace | None:
    """Of the operation under way, as its node reports it; None where there is none."""
    operation = workspace.operation
    if operation is None:
        return None
    elapsed = max(0, now - operation.asked_at)
    report = seen.report
    if report is None or report.operation_id != operation.id or report.progress is None:
        return Pace("", 0, 0, 0, 0, elapsed)
    progress = report.progress
    done, total = (progress.done, progress.total) if progress.unit == "bytes" else (0, 0)
    step_ms = now - max(report.times.values(), default=operation.asked_at)
    rate = done * 1000 // step_ms if step_ms >= LEAST_TIME_MS else 0
    left = max(0, total - done) * 1000 // rate if rate and total else 0
    return Pace(progress.step, done, total, rate, left, elapsed)
