"""How long each way took, from the times that control plane and node wrote down; None where a step was not reached."""

from intermezzo.domain.cycles import Cycle
from intermezzo.reports.trial import Timings
from intermezzo.trials.findings import Findings


def timings_of(found: Findings, cycle: Cycle | None) -> Timings:
    """All durations in seconds."""
    back = cycle.returns[0] if cycle and cycle.returns else None
    resumed = found.resumed if found.resumed and found.resumed.answer.ran else None
    recovered = found.recovered if found.recovered and found.recovered.answer.ran else None
    restart = found.restart.asked_at if found.restart else 0
    return Timings(
        cold_to_ready=_seconds(found.created_at, found.ready_at or None),
        cold_to_next_cell=_seconds(found.created_at, found.cold.run.ended_at if found.cold else None),
        pause_to_free=_thousandth(cycle.pause_to_free_ms if cycle else None),
        frozen_to_saved=_thousandth(cycle.snapshot_ms if cycle else None),
        resume_waited=_thousandth(back.waited_ms if back else None),
        resume_to_ready=_thousandth(back.to_ready_ms if back else None),
        resume_to_next_cell=_next_cell(found, resumed.run.ended_at if resumed else None),
        recovery_to_ready=_seconds(restart, found.restarted_at or None),
        recovery_from_files=_seconds(restart, recovered.run.ended_at if recovered else None),
        inspection=round(found.inspection_s, 3),
    )


def _next_cell(found: Findings, ended_at: int | None) -> float | None:
    """Without the trial's own look at the files, which nobody who resumes has to wait for."""
    if found.resume is None or ended_at is None:
        return None
    return round(max(0.0, (ended_at - found.resume.asked_at) / 1000 - found.inspection_s), 3)


def _seconds(start: int, end: int | None) -> float | None:
    return None if end is None else _thousandth(end - start)


def _thousandth(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else round(milliseconds / 1000, 3)
