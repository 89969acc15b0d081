"""What keeps a release check from passing, one plain clause each."""

from intermezzo.domain.continuity import Verdict
from intermezzo.reports.release import Expiry, Outcome, Session
from intermezzo.trials.release.findings import Findings


def shortcomings(found: Findings, outcome: Outcome, session: Session, expiry: Expiry) -> tuple[str, ...]:
    """Everything, the most telling first."""
    if found.problem:
        return (found.problem.rstrip("."),)
    said = (*_of_the_session(outcome, session), *_of_the_expiry(expiry))
    return tuple(text for is_so, text in said if is_so)


def _of_the_session(outcome: Outcome, session: Session) -> list[tuple[bool, str]]:
    why = "; ".join(session.differences) or session.shown
    evidence = f" ({session.evidence[0]})" if session.evidence else ""
    fresh = outcome is Outcome.FRESH
    return [
        (outcome is Outcome.UNUSABLE, f"a session saved under the old conditions cannot come back: {why}"),
        (outcome is Outcome.FAILED, f"the resume failed: {session.problem or 'no reason was given'}"),
        (fresh and session.verdict is not Verdict.RESTORED, f"the verdict is {session.verdict.value}{evidence}"),
        (fresh and not session.value_kept, "the value in its memory is not the same"),
        (fresh and not session.same_pid, "it is not the same process"),
        (fresh and session.record_kept is False, "the file that its process holds open is not the same"),
    ]


def _of_the_expiry(expiry: Expiry) -> list[tuple[bool, str]]:
    if expiry.problem or not expiry.expired:
        return [(True, f"expiry: {expiry.problem or 'no snapshot has expired'}")]
    return [
        (not expiry.gone, f"bytes of the expired snapshot {expiry.expired} are still on the disk"),
        (not expiry.others_kept, "other snapshots are not what they were after one expired"),
        (not expiry.newest_restored, "the newest snapshot did not come back after an old one expired"),
        *((not stored.agrees, f"{stored.when} the disk is not as listed") for stored in expiry.stored),
    ]
