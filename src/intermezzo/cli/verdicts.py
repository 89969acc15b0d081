"""What to say, and with which exit code to end, when a start, a resume or a pause has ended.

Only a proven restore is called a resume; everything else is called what it was.
"""

from intermezzo.cli.base import Session
from intermezzo.cli.exits import Exit
from intermezzo.cli.ways import ways_out
from intermezzo.cli.words import compute, duration, moment, reason, size, typed
from intermezzo.client.operation_models import OperationShape
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.errors import NotFound
from intermezzo.domain.workspace import Phase


def report_start(session: Session, found: WorkspaceDetail | None) -> Exit:
    """A start from the files has ended."""
    present = _present(found)
    session.output.data(present)
    if present.phase is not Phase.RUNNING:
        return not_up(session, present)
    session.output.say(f"{present.symbol} {present.state}: {present.name}, on {present.node}.")
    if present.recorded and present.recorded.checkpoints:
        newest = present.recorded.checkpoints[0]
        what = f"{newest.label or newest.series}, {moment(newest.saved_at)}"
        session.output.say(f"You can go on from the checkpoint {what}: `{newest.loaded_by}`.")
    session.output.say(f"Open it with `intermezzo open {typed(present)}`.")
    return Exit.OK


def report_resume(session: Session, found: WorkspaceDetail | None, operation: OperationShape) -> Exit:
    """A resume has ended: restored with the proof, or what it was instead."""
    present = _present(found)
    session.output.data(present)
    if present.phase is not Phase.RUNNING:
        return not_up(session, present)
    continuity = present.continuity
    took = duration(present.phase_since - operation.asked_at)
    restored = continuity is not None and continuity.verdict is Verdict.RESTORED
    if restored:
        session.output.say(f"{present.symbol} ready: restored, same process, after {took}.")
    elif continuity is not None and continuity.verdict is Verdict.FRESH:
        session.output.say(f"{present.symbol} ready: a FRESH START, not the session that was paused ({took}).")
    else:
        session.output.say(f"{present.symbol} ready, but NOT PROVEN to be the session that was paused ({took}).")
    for line in continuity.evidence if continuity else ():
        session.output.say(f"  - {line}")
    if restored:
        return Exit.OK
    session.output.remark(reason(present.condition) or "The files are untouched.")
    return Exit.FAILED


def report_fork(session: Session, found: WorkspaceDetail | None, operation: OperationShape) -> Exit:
    """A fork has ended: there, with the proof that it is itself, or nothing of it."""
    present = _present(found)
    session.output.data(present)
    continuity = present.continuity
    if present.phase is not Phase.RUNNING or continuity is None or continuity.verdict is not Verdict.FORKED:
        return not_up(session, present)
    took = duration(present.phase_since - operation.asked_at)
    of = f" of {present.origin.namespace}/{present.origin.name}" if present.origin else ""
    session.output.say(f"{present.symbol} ready: a fork{of}, with an identity of its own, after {took}.")
    for line in continuity.evidence:
        session.output.say(f"  - {line}")
    session.output.say(f"Open it with `intermezzo open {typed(present)}`.")
    return Exit.OK


def report_pause(session: Session, before: WorkspaceDetail, found: WorkspaceDetail | None, asked_at: int) -> Exit:
    """A pause has ended: what came free and what stays stored, or that the session runs on and why."""
    present = _present(found)
    paused = present.phase is Phase.PAUSED
    freed = before.reservation if paused else None
    session.output.data(
        {
            "workspace": present,
            "paused": paused,
            "freed": freed.amount if freed else None,
            "node": freed.node if freed else None,
            "stored": {"snapshot_bytes": present.snapshot.bytes if present.snapshot else 0},
        }
    )
    if not paused:
        return not_up(session, present)
    session.output.say(f"{present.symbol} paused after {duration(present.phase_since - asked_at)}.")
    if freed:
        session.output.say(f"Freed: {compute(freed.amount)} on {freed.node}.")
    if present.snapshot:
        session.output.say(f"Stored: a snapshot of {size(present.snapshot.bytes)}, and the files of home.")
    else:
        session.output.say("Stored: the files of home. There is NO snapshot: a resume will be a fresh start.")
    session.output.say(f"Go on with `intermezzo resume {typed(present)}`.")
    return Exit.OK


def not_up(session: Session, present: WorkspaceDetail) -> Exit:
    """It ended elsewhere than was asked for: why, and the ways out."""
    session.output.remark(f"{present.symbol} {present.state}: {reason(present.condition) or 'no reason was given'}")
    for way in ways_out(session, present):
        session.output.remark(f"  - {way}")
    return Exit.NEEDS_YOU if present.phase is Phase.FAILED else Exit.FAILED


def _present(found: WorkspaceDetail | None) -> WorkspaceDetail:
    if found is None:
        raise NotFound("the workspace was deleted meanwhile")
    return found
