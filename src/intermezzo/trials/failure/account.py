"""From what a failure trial found to its report: reckoning over findings and ledger; nothing is guessed."""

from intermezzo.domain.continuity import Verdict
from intermezzo.domain.intervals import Hold, holds
from intermezzo.domain.ledger import Entry, Event
from intermezzo.reports.failure import Back, FailureReport, Recovered, Without
from intermezzo.reports.trial import Holding
from intermezzo.trials import machine
from intermezzo.trials.amounts import labelled
from intermezzo.trials.failure.findings import Findings
from intermezzo.trials.failure.shortcomings import shortcomings

BEGUN = frozenset({Event.CAPACITY_ACQUIRED, Event.RESTORED})


def report(found: Findings) -> FailureReport:
    """The report. It passes only if everything that the trial is about was seen to be so."""
    ledger = [Entry(**entry.model_dump()) for entry in found.entries if entry.workspace_uid == found.uid]
    made = FailureReport(
        passed=False,
        shortcomings=(),
        hint=found.hint,
        without=_without(found, ledger),
        recovered=_recovered(found),
        back=_back(found),
        stored=tuple(found.stored),
        left_over=found.left_over or (),
        holds=tuple(_holding(hold, found) for hold in holds(ledger)),
        began_at=found.began_at,
        ended_at=found.ended_at,
        machine=machine.machine(found.node),
        versions=machine.versions(found.node),
    )
    missing = shortcomings(found, made)
    return made.model_copy(update={"passed": not missing, "shortcomings": missing})


def _without(found: Findings, ledger: list[Entry]) -> Without:
    """Judged by the ledger alone: what anybody was told may be late, what was written down is what was done."""
    meanwhile = [entry for entry in ledger if found.gone_at and found.gone_at <= entry.at <= found.cancelled_at]
    asked = {entry.operation_id for entry in meanwhile if entry.event is Event.RESUME_ASKED}
    return Without(
        why="; ".join(found.why),
        asked=tuple(found.asked),
        shown=tuple(found.shown),
        operations=len(asked | {each.operation_id for each in found.asked if each.operation_id}),
        attempts=sum(entry.event in BEGUN for entry in meanwhile),
        held=found.held,
    )


def _recovered(found: Findings) -> Recovered:
    before, after = found.values(found.before), found.values(found.again)
    again, recalled = found.again, found.recalled_afresh
    answered = again is not None and again.answer.ran and found.restart is not None
    return Recovered(
        verdict=found.started.verdict if found.started else Verdict.UNKNOWN,
        seconds=_seconds(found.restart.asked_at, again.run.ended_at) if answered and found.restart and again else None,
        steps_before=before.get("steps"),
        steps_after=after.get("steps"),
        came_from=str(after.get("came_from", "")),
        value_gone=recalled is not None and not recalled.answer.ran,
        problem=again.answer.problem if again else "",
    )


def _back(found: Findings) -> Back:
    return Back(
        verdict=found.continuity.verdict if found.continuity else Verdict.UNKNOWN,
        seconds=_seconds(found.resume.asked_at, found.ready_at) if found.resume and found.ready_at else None,
        value_kept=bool(found.value) and found.values(found.recalled).get("value") == found.value,
        files_changed=found.files_changed,
        problem=found.recalled.answer.problem if found.recalled else "",
    )


def _holding(hold: Hold, found: Findings) -> Holding:
    held = labelled(hold.amount, found.node)
    return Holding(name=hold.name, amount=held, start=hold.interval.start, end=hold.interval.end)


def _seconds(start: int, end: int) -> float:
    return round((end - start) / 1000, 3)
