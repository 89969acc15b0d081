"""From what a trial found to its report: reckoning over findings and ledger; nothing is measured or guessed here."""

from intermezzo.domain.continuity import Verdict
from intermezzo.domain.cycles import Cycle, Taking, cycles, takings
from intermezzo.domain.intervals import Hold, holds, stays
from intermezzo.domain.ledger import Entry
from intermezzo.reports.trial import (
    CycleNote,
    Files,
    Holding,
    Kept,
    NotebookNote,
    Result,
    Staying,
    Taken,
    TrialReport,
)
from intermezzo.trials import machine, shortcomings
from intermezzo.trials.amounts import labelled
from intermezzo.trials.comparison import ways
from intermezzo.trials.files import differences, is_complete
from intermezzo.trials.findings import Findings
from intermezzo.trials.layers import layers
from intermezzo.trials.moments import moments_of
from intermezzo.trials.proof import proof, same_nonce, same_pid
from intermezzo.trials.timings import timings_of


def report(found: Findings) -> TrialReport:
    """The report. It passes only if everything that the trial is about was seen to be so."""
    ledger = [Entry(**entry.model_dump()) for entry in found.entries if entry.at >= found.created_at]
    cycle = _cycle(found, ledger)
    taking = next(iter(takings(cycle, holds(ledger))), None) if cycle else None
    timings = timings_of(found, cycle)
    result = Result(
        verdict=found.continuity.verdict if found.continuity else Verdict.UNKNOWN,
        same_pid=same_pid(found),
        same_nonce=same_nonce(found),
        files_equal=_files_equal(found),
        taken_by_other=_taken(taking, found) if taking else None,
        released=labelled(cycle.freed_amount, found.node) if cycle and cycle.freed and not found.still_held else None,
    )
    missing = shortcomings.of(found, result)
    return TrialReport(
        **vars(result),
        passed=not missing,
        shortcomings=missing,
        hint=shortcomings.hint(found),
        kept_bytes=Kept(
            home=found.home_paused.bytes if found.home_paused else None,
            snapshot=cycle.snapshot_bytes if cycle and cycle.freed else None,
        ),
        timings_s=timings,
        began_at=found.began_at,
        ended_at=found.ended_at,
        notebook=NotebookNote(
            name=found.notebook.name,
            sha256=found.notebook.sha256,
            cells_before=found.notebook.cells_before,
            next_cell=found.notebook.next_cell,
        ),
        proof=proof(found),
        ways=ways(found, timings),
        waiting=found.waiting,
        layers=layers(found, cycle, result.files_equal),
        files=_files(found),
        moments=moments_of(found, cycle, taking),
        holds=tuple(_holding(hold, found) for hold in holds(ledger)),
        stays=_stays(ledger),
        cycles=tuple(_note(c) for c in cycles(e for e in ledger if _is_first(e, found))),
        accelerator=_accelerator(found),
        machine=machine.machine(found.node),
        versions=machine.versions(found.node),
    )


def _is_first(entry: Entry, found: Findings) -> bool:
    return found.before is not None and entry.workspace_uid == found.before.uid


def _cycle(found: Findings, ledger: list[Entry]) -> Cycle | None:
    return next(iter(cycles(entry for entry in ledger if _is_first(entry, found))), None)


def _files_equal(found: Findings) -> bool:
    """All of home is the same; or every visible file is, where a server that started anew wrote its own hidden ones."""
    return _home_equal(found) or (
        is_complete(found.files_after) and not differences(found.files_before, found.files_after)
    )


def _home_equal(found: Findings) -> bool:
    digests = [home.digest for home in (found.home_before, found.home_paused, found.home_after) if home]
    return len(digests) == 3 and len(set(digests)) == 1


def _files(found: Findings) -> Files:
    return Files(
        before_pause=found.home_before.digest if found.home_before else "",
        while_paused=found.home_paused.digest if found.home_paused else "",
        after_resume=found.home_after.digest if found.home_after else "",
        count=found.home_before.files if found.home_before else 0,
        listed=found.files_before,
        changed=differences(found.files_before, found.files_after) if found.files_after else (),
        hidden_changed=_files_equal(found) and not _home_equal(found),
    )


def _taken(taking: Taking, found: Findings) -> Taken:
    return Taken(
        name=taking.name,
        namespace=taking.namespace,
        at=taking.interval.start,
        until=taking.interval.end,
        amount=labelled(taking.amount, found.node),
        said=found.second_said,
    )


def _holding(hold: Hold, found: Findings) -> Holding:
    held = labelled(hold.amount, found.node)
    return Holding(name=hold.name, amount=held, start=hold.interval.start, end=hold.interval.end)


def _stays(ledger: list[Entry]) -> tuple[Staying, ...]:
    names = {entry.workspace_uid: entry.name for entry in ledger}
    return tuple(
        Staying(name=name, state=stay.state.value, start=stay.interval.start, end=stay.interval.end)
        for uid, name in names.items()
        for stay in stays(entry for entry in ledger if entry.workspace_uid == uid)
    )


def _note(cycle: Cycle) -> CycleNote:
    returns = tuple(r.verdict or ("fresh" if r.fresh else "unknown") for r in cycle.returns)
    return CycleNote(asked=cycle.asked, outcome=cycle.outcome.value if cycle.outcome else "under way", returns=returns)


def _accelerator(found: Findings) -> str:
    accelerators = found.node.accelerators if found.node else ()
    if not accelerators:
        return "This machine has no accelerator and none is declared."
    if all(a.virtual for a in accelerators):
        return "The accelerator is virtual: it is declared for capacity and queueing; there is no such hardware here."
    return ", ".join(sorted({f"{a.model} ({a.driver})" for a in accelerators if not a.virtual}))
