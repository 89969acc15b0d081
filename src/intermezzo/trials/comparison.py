"""Three ways to the next cell side by side: the first start, the resume, the recovery from files and checkpoint."""

from intermezzo.domain.continuity import Verdict
from intermezzo.reports.trial import Answer, Timings, Way
from intermezzo.trials.checkpoints import checkpoints
from intermezzo.trials.findings import Findings

IDENTITY = frozenset({"pid", "nonce"})
MEASURED = frozenset({"seconds"})
"""How long a cell took is no result of it."""


def ways(found: Findings, timings: Timings) -> tuple[Way, ...]:
    """The ways that were gone."""
    cold = found.cold.answer if found.cold else None
    made = [Way(name="first start", explanation=_COLD, seconds=timings.cold_to_next_cell, answer=cold)]
    if found.resume_failed:
        made.append(_failed_resume(found))
    elif found.resumed is not None:
        made.append(_resume(found, timings, cold, found.resumed.answer))
    if found.recovered is not None:
        made.append(_recovery(found, timings, cold, found.recovered.answer))
    return tuple(made)


def agreement(before: Answer | None, after: Answer, ignored: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What of an answer is the same and what is not, by key; a text that is no JSON is compared whole."""
    if before is None or not before.ran or not after.ran:
        return (), ()
    if before.values is None or after.values is None:
        whole = ("the text that the next cell printed",)
        return (whole, ()) if before.text == after.text else ((), whole)
    keys = [key for key in before.values if key not in ignored]
    same = tuple(_value(key, after) for key in keys if key in after.values and before.values[key] == after.values[key])
    other = tuple(_change(key, before, after) for key in keys if before.values[key] != after.values.get(key))
    return same, other


def _resume(found: Findings, timings: Timings, cold: Answer | None, answer: Answer) -> Way:
    restored = found.continuity is not None and found.continuity.verdict is Verdict.RESTORED
    same, other = agreement(cold, answer, MEASURED)
    kept = ("the process with all its variables and models",) if restored else ()
    lost = () if restored else ("the process and everything in its memory",)
    failed = () if answer.ran else (f"the next cell did not run: {answer.problem}",)
    return Way(
        name="resume" if restored else "resume (it was a fresh start)",
        explanation=_RESUME if restored else _NOT_RESUMED,
        seconds=timings.resume_to_next_cell,
        answer=answer,
        came_back=(*kept, *same),
        missing=(*lost, *failed, *other),
    )


def _failed_resume(found: Findings) -> Way:
    return Way(
        name="resume (it failed)",
        explanation="The workspace stayed paused, with its snapshot and files untouched.",
        seconds=None,
        answer=None,
        missing=(found.resume_failed,),
    )


def _recovery(found: Findings, timings: Timings, cold: Answer | None, answer: Answer) -> Way:
    saved = checkpoints(found.before, found.files_before)
    same, other = agreement(cold, answer, MEASURED | IDENTITY)
    identity = _new_nonce(cold, answer)
    failed = () if answer.ran else (f"the next cell did not run: {answer.problem}",)
    return Way(
        name="recovery from files",
        explanation=_RECOVERY if saved else _RECOVERY_WITHOUT,
        seconds=timings.recovery_from_files,
        answer=answer,
        came_back=("the files of home", *(f"checkpoint {each}" for each in saved), *same),
        missing=(
            "the process and what was only in its memory",
            *(identity if cold and cold.values else ()),
            *failed,
            *other,
        ),
    )


def _new_nonce(before: Answer | None, after: Answer) -> tuple[str, ...]:
    """Only the nonce tells: a new sandbox may well count its pids as the old one did."""
    if not before or not before.values or not after.values or "nonce" not in before.values:
        return ()
    return (_change("nonce", before, after),) if before.values["nonce"] != after.values.get("nonce") else ()


def _value(key: str, answer: Answer) -> str:
    assert answer.values is not None
    return f"{key} = {answer.values[key]}"


def _change(key: str, before: Answer, after: Answer) -> str:
    assert before.values is not None and after.values is not None
    return f"{key} was {before.values[key]}, now {after.values.get(key, 'missing')}"


_COLD = "A new workspace: the server starts, the notebook loads its models and trains from nothing."
_RESUME = "The live session comes back from its snapshot. Nothing is loaded again and nothing is run again."
_NOT_RESUMED = "The session did not come back: what answered is a new kernel with an empty memory."
_RECOVERY = "A fresh start in the same home: the notebook runs from its top and finds its application checkpoint."
_RECOVERY_WITHOUT = "A fresh start in the same home: the notebook runs from its top, for it saved no checkpoint."
