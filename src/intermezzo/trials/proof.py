"""Same process or not: from what was planted in its memory, and independently from what the notebook itself printed.

Both must say so where both can. Nothing that was not read counts as proven.
"""

from intermezzo.client.continuity_models import WitnessReportShape, WitnessShape
from intermezzo.reports.trial import Proof
from intermezzo.trials.findings import Findings


def same_pid(found: Findings) -> bool:
    """Whether every kernel is the process that it was: same pid and same start time, and the notebook saw no other."""
    pairs = _pairs(found)
    same = bool(pairs) and all(a is not None and (a.pid, a.started) == (b.pid, b.started) for b, a in pairs)
    return same and _agrees(found, "pid") is not False


def same_nonce(found: Findings) -> bool:
    """Whether every kernel holds what was planted in its memory, and the notebook's own value is the same."""
    pairs = _pairs(found)
    same = bool(pairs) and all(a is not None and b.nonce != "" and a.nonce == b.nonce for b, a in pairs)
    return same and _agrees(found, "nonce") is not False


def proof(found: Findings) -> Proof:
    """The evidence in words."""
    continuity = found.continuity
    failed = (found.resume_failed,) if found.resume_failed else ()
    agreed = [_agrees(found, key) for key in ("pid", "nonce")]
    known = [agree for agree in agreed if agree is not None]
    return Proof(
        evidence=(*failed, *(continuity.evidence if continuity else ())),
        before=_told(continuity.before) if continuity else (),
        after=_told(continuity.after) if continuity else (),
        notebook_agrees=all(known) if known else None,
    )


def _pairs(found: Findings) -> list[tuple[WitnessShape, WitnessShape | None]]:
    """Each kernel before the pause with the same kernel after the resume."""
    if found.continuity is None or found.continuity.before is None or found.continuity.after is None:
        return []
    after = {w.id: w for w in found.continuity.after.witnesses if w.role == "kernel"}
    return [(w, after.get(w.id)) for w in found.continuity.before.witnesses if w.role == "kernel"]


def _agrees(found: Findings, key: str) -> bool | None:
    """Whether the notebook printed the same value before and after; None if it printed none."""
    before = found.cold.answer.values if found.cold else None
    after = found.resumed.answer.values if found.resumed and found.resumed.answer.ran else None
    if before is None or after is None or key not in before or key not in after:
        return None
    return bool(before[key] == after[key])


def _told(report: WitnessReportShape | None) -> tuple[str, ...]:
    if report is None:
        return ()
    return tuple(f"{w}: pid {w.pid}, started {w.started}, value {w.nonce[:12] or 'none'}" for w in report.witnesses)
