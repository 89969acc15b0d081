"""Every moment of the cycle, from the last activity to the next cell, as the ledger has it."""

from intermezzo.domain.cycles import Cycle, Taking
from intermezzo.reports.trial import Moment
from intermezzo.trials.cells import Ran
from intermezzo.trials.findings import Findings


def moments_of(found: Findings, cycle: Cycle | None, taking: Taking | None) -> tuple[Moment, ...]:
    """Every moment of the cycle that the ledger knows, each counted from the request it belongs to."""
    if cycle is None:
        return ()
    back = cycle.returns[0] if cycle.returns else None
    pause = (
        ("last activity", cycle.last_activity, "control"),
        ("pause asked", cycle.asked, "control"),
        ("session frozen", cycle.frozen, "node"),
        ("snapshot done", cycle.snapshot_done, "node"),
        ("process gone", cycle.process_gone, "node"),
        ("capacity free again", cycle.freed, "control"),
        (f"taken by {taking.name}" if taking else "", taking.interval.start if taking else None, "control"),
    )
    resume = (
        (
            ("resume asked", back.asked, "control"),
            ("capacity acquired", back.acquired, "control"),
            ("restored", back.restored, "node"),
            ("server answered", back.answered, "node"),
            ("a cell that does nothing ran", back.next_cell if back.ready and back.verdict else None, "control"),
            ("ready", back.ready, "control"),
        )
        if back
        else ()
    )
    recovery = (
        (
            ("fresh start asked", found.restart.asked_at, "control"),
            ("ready, with an empty memory", found.restarted_at or None, "control"),
            ("the next cell ran, from files", _answered(found.recovered), "control"),
        )
        if found.restart
        else ()
    )
    last = (("the next cell ran", _answered(found.resumed), "control"),) if back else ()
    return (
        *_counted(pause, cycle.asked),
        *_counted((*resume, *last), back.asked if back else 0),
        *_counted(recovery, found.restart.asked_at if found.restart else 0),
    )


def _answered(ran: Ran | None) -> int | None:
    return ran.run.ended_at if ran and ran.answer.ran else None


def _counted(moments: tuple[tuple[str, int | None, str], ...], origin: int) -> tuple[Moment, ...]:
    return tuple(
        Moment(name=name, at=at, after_s=round((at - origin) / 1000, 3), source=source)
        for name, at, source in moments
        if at is not None
    )
