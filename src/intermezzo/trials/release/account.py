"""From what a release check found to its report: reckoning over findings; nothing is guessed."""

from intermezzo.client.node_models import NodeShape
from intermezzo.domain.continuity import Verdict
from intermezzo.reports.release import (
    Announcement,
    Edition,
    Expiry,
    FilesBack,
    Outcome,
    ReleaseReport,
    Session,
)
from intermezzo.trials import machine
from intermezzo.trials.cells import Ran
from intermezzo.trials.release import edition
from intermezzo.trials.release.findings import Findings
from intermezzo.trials.release.shortcomings import shortcomings


def report(found: Findings, announcement: Announcement) -> ReleaseReport:
    """The report. It passes only if the session was restored and an old snapshot expired as it should."""
    outcome = outcome_of(found)
    session, expiry = _session(found), _expiry(found)
    missing = shortcomings(found, outcome, session, expiry)
    return ReleaseReport(
        passed=outcome is Outcome.RESTORED and not missing,
        outcome=outcome if outcome is not Outcome.RESTORED or not missing else Outcome.FAILED,
        shortcomings=missing,
        hint=found.hint or " ".join(dict.fromkeys(session.mends)),
        old=_edition(found.change.old, found.old_node),
        new=_edition(found.change.new, found.new_node),
        session=session,
        files_back=_files_back(found),
        expiry=expiry,
        losing=tuple(found.losing),
        not_looked=found.not_looked,
        announcement=announcement,
        began_at=found.began_at,
        ended_at=found.ended_at,
        machine=machine.machine(found.new_node or found.old_node),
        versions=machine.versions(found.new_node or found.old_node),
    )


def outcome_of(found: Findings) -> Outcome:
    """What became of the test session: told by the verdict, and independently by the value in its memory and the file
    that its process holds open. All that was looked at must say so for it to be called restored."""
    if found.refused or found.shown:
        return Outcome.UNUSABLE
    if found.recalled is None or found.continuity is None:
        return Outcome.FAILED
    restored = found.continuity.verdict is Verdict.RESTORED and _same(found, "value") and _same(found, "pid")
    return Outcome.RESTORED if restored and _record(found) is not False else Outcome.FRESH


def _session(found: Findings) -> Session:
    spec, continuity = found.spec, found.continuity
    return Session(
        kind=found.change.tested,
        pod=spec.pod if spec else found.change.pod,
        image=spec.image if spec else "",
        verdict=continuity.verdict if continuity else Verdict.UNKNOWN,
        same_pid=_same(found, "pid") if found.recalled else None,
        value_kept=_same(found, "value") if found.recalled else None,
        record_kept=_record(found),
        evidence=continuity.evidence if continuity else (),
        differences=tuple(each.message for each in found.differences) or ((found.refused,) if found.refused else ()),
        mends=tuple(each.mend for each in found.differences),
        shown=found.shown,
        snapshot_bytes=found.snapshot_bytes,
        pause_s=_seconds(found.pause.asked_at, found.paused_at) if found.pause and found.paused_at else None,
        resume_s=_seconds(found.resume.asked_at, found.ready_at) if found.resume and found.ready_at else None,
        problem=found.resume_failed or (found.recalled.answer.problem if found.recalled else ""),
    )


def _expiry(found: Findings) -> Expiry:
    expired = found.expired
    if expired is None:
        return Expiry(problem="it was not come to")
    before, after = expired.before, expired.after
    if not expired.id or before is None or after is None:
        return Expiry(pauses=expired.pauses, problem=expired.problem or "no snapshot has expired")
    others = {name: size for name, size in before.on_disk.items() if name != expired.id}
    return Expiry(
        expired=expired.id,
        pauses=expired.pauses,
        bytes_freed=before.on_disk.get(expired.id),
        gone=not any(name.startswith(expired.id) for name in after.on_disk),
        others_kept=all(after.on_disk.get(name) == size for name, size in others.items()),
        newest_restored=expired.continuity is not None and expired.continuity.verdict is Verdict.RESTORED,
        stored=(before, after),
        problem=expired.problem,
    )


def _files_back(found: Findings) -> FilesBack | None:
    if found.read is None:
        return None
    told = _values(found.read).get("record")
    return FilesBack(
        seconds=_seconds(found.restart.asked_at, found.restarted_at) if found.restart and found.restarted_at else None,
        record_kept=None if told is None else told == found.value,
        problem=found.read.answer.problem,
    )


def _edition(from_files: edition.Edition, node: NodeShape | None) -> Edition:
    return Edition(
        engine=node.engine.name if node else "",
        engine_version=node.engine.version if node else "",
        documents=tuple(each.name for each in from_files.conditions),
        source=from_files.source,
    )


def _same(found: Findings, key: str) -> bool:
    """Whether the cell printed the same before and after; what it never prints is not held against it."""
    before, after = _values(found.before), _values(found.recalled)
    return key not in before if key not in after else before.get(key) == after[key]


def _record(found: Findings) -> bool | None:
    told = _values(found.recalled).get("record")
    return None if told is None else told == found.value


def _values(ran: Ran | None) -> dict[str, object]:
    return (ran.answer.values or {}) if ran and ran.answer.ran else {}


def _seconds(start: int, end: int) -> float:
    return round((end - start) / 1000, 3)
