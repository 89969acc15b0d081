"""What was not so, one plain clause each. A trial passes only if there is nothing to say here."""

from intermezzo.domain.continuity import Verdict
from intermezzo.reports.trial import Result
from intermezzo.trials.findings import Findings


def of(found: Findings, result: Result) -> tuple[str, ...]:
    """Everything that keeps the trial from passing, the most telling first."""
    if found.problem:
        return (found.problem.rstrip("."),)
    resumed, recovered = found.resumed, found.recovered
    said = (
        (bool(found.resume_failed), found.resume_failed.rstrip(".")),
        (
            result.verdict is not Verdict.RESTORED,
            f"the verdict is {result.verdict.value}, not restored{_evidence(found)}",
        ),
        (not result.same_pid, "it is not the same process"),
        (not result.same_nonce, "the value in its memory is not the same"),
        (not result.files_equal, "the files of home are not the same after the resume"),
        (result.released is None, "nothing was released"),
        (result.taken_by_other is None, "nobody else took what came free"),
        (not found.second_said, "the second workspace ran no cell"),
        (resumed is None or not resumed.answer.ran, "the next cell did not run after the resume"),
        (recovered is None or not recovered.answer.ran, "the recovery from files did not reach the next cell"),
    )
    return tuple(text for is_so, text in said if is_so)


def hint(found: Findings) -> str:
    """How to get there."""
    engine = found.node.engine if found.node else None
    if engine is not None and not engine.keeps_process:
        return f"The engine `{engine.name}` keeps files only: {engine.limitation} {engine.hint}".strip()
    return found.hint


def _evidence(found: Findings) -> str:
    evidence = found.continuity.evidence if found.continuity else ()
    return f" ({evidence[0]})" if evidence else ""
