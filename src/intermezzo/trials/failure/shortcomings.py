"""What was not so in a failure, one plain clause each. The trial passes only if there is nothing to say here."""

from intermezzo.domain.continuity import Verdict
from intermezzo.reports.failure import FailureReport, Stored
from intermezzo.trials.failure.findings import Findings


def shortcomings(found: Findings, made: FailureReport) -> tuple[str, ...]:
    """Everything that keeps the trial from passing, the most telling first."""
    if found.problem:
        return (found.problem.rstrip("."),)
    without, recovered, back = made.without, made.recovered, made.back
    states = {shown.state for shown in without.shown}
    messages = {shown.message for shown in without.shown if shown.message}
    said = (
        (not without.why, "nothing said why the snapshot does not fit"),
        (without.attempts > 0, f"{without.attempts} restores were begun though nothing could restore it"),
        (without.operations > 1, f"{without.operations} operations competed for the session"),
        (without.held, "it held capacity while it waited"),
        (len(states) != 1, f"it showed more than one state: {', '.join(sorted(states)) or 'none'}"),
        (len(messages) != 1, f"it did not give one reason: {'; '.join(sorted(messages)) or 'none'}"),
        (bool(recovered.problem), f"the recovery from files failed: {recovered.problem}"),
        (recovered.verdict is not Verdict.FRESH, f"a fresh start was called {recovered.verdict.value}"),
        (not recovered.value_gone, "a fresh session knew what was only in the memory of another"),
        (recovered.came_from == "nothing", "the recovery found no checkpoint"),
        (recovered.steps_before != recovered.steps_after, "the work is not what it was before"),
        (back.verdict is not Verdict.RESTORED, f"the verdict of the resume is {back.verdict.value}, not restored"),
        (not back.value_kept, "the value in memory is not the same after the resume"),
        *((not stored.agrees, _told(stored)) for stored in made.stored),
        (bool(made.stored) and bool(made.stored[-1].listed), "deleted snapshots are still listed"),
        (bool(made.left_over), f"{len(made.left_over)} files are left over: {', '.join(made.left_over[:5])}"),
    )
    return tuple(text for is_so, text in said if is_so)


def _told(stored: Stored) -> str:
    listed, there = sum(stored.listed.values()), sum(stored.on_disk.values())
    audit = "" if stored.audited else ", and the audit does not agree"
    return f"{stored.when} {listed} bytes were listed and {there} were on the disk{audit}"
