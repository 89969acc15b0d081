"""Why a workspace is as it is: every condition that a person can be shown, in one place.

Each says what happened and what is safe, in one plain sentence, and names the ways out, safest first. No
sentence promises what was not checked; the engine's own words go to `detail`, folded away.
"""

from dataclasses import replace

from intermezzo.domain.continuity import Continuity, Verdict
from intermezzo.domain.orders import VOLUME_UNAVAILABLE, Observed, Problem
from intermezzo.domain.workspace import Condition, Operation, OperationKind, Workspace

NODE_SILENT = "node_silent"
SESSION_LOST = "session_lost"
RECORD_REPAIRED = "record_repaired"
NOT_RESTORED = "not_restored"
WAITING = "waiting_for_capacity"
ITS_TURN = "its_turn"
OVER_QUOTA = "waiting_for_quota"
CANCELLED = "no_longer_waiting"
RESUME_FAILED = "resume_failed"
START_FAILED = "start_failed"
PAUSE_FAILED = "pause_failed"
DELETE_FAILED = "delete_failed"
FORK_FAILED = "fork_failed"
SHUT_DOWN = "shut_down"
FILES_ONLY = "files_only"

SNAPSHOT_MISSING = "snapshot_missing"

RETRY = "try again"
OLDER_SNAPSHOT = "resume the last snapshot"
ANOTHER_SNAPSHOT = "resume an older snapshot"
FRESH_START = "start fresh from the files and the last application checkpoint"
EXPORT = "export the files to go on elsewhere"

NOT_PAUSED = "Not paused: "
RUNS_ON = ". The session runs on; nothing was lost."
NO_REASON = Problem("unknown", "no reason was given")
NOTHING_SEEN = Observed()


def _ways_out(workspace: Workspace) -> tuple[str, ...]:
    return (RETRY, OLDER_SNAPSHOT, FRESH_START) if workspace.snapshot is not None else (RETRY, FRESH_START)


def node_silent() -> Condition:
    """The node cannot be asked; nothing is known and nothing is done."""
    return Condition(
        NODE_SILENT, "The node does not answer; the session is left as it is until it does.", "Check the node agent."
    )


def session_lost(workspace: Workspace) -> Condition:
    """The sandbox is gone although nobody asked for it."""
    ways_out = (OLDER_SNAPSHOT, FRESH_START) if workspace.snapshot is not None else (FRESH_START,)
    return Condition(
        SESSION_LOST,
        "The live session ended without a pause, so what was only in memory is gone; the files are safe.",
        "Resume the last snapshot, or start fresh from the files."
        if workspace.snapshot is not None
        else "Start fresh from the files.",
        ways_out,
    )


def record_repaired() -> Condition:
    """The record made no sense and was settled by what was seen."""
    return Condition(RECORD_REPAIRED, "The record was incomplete and was settled by what is really there.")


def paused_since() -> Condition:
    """The record is older than what is there, as after a backup was put back."""
    return Condition(
        RECORD_REPAIRED,
        "The record was older than what is there: it was paused since, and its newest snapshot is what a resume brings "
        "back.",
        "Whether it is the same session cannot be proven: what was planted for that is not in the record.",
    )


def not_restored(continuity: Continuity | None) -> Condition:
    """The session answers, but it was not proven to be the same one."""
    if continuity is not None and continuity.verdict is Verdict.FRESH:
        message = "This is a fresh session, not the one that was paused: " + "; ".join(continuity.evidence) + "."
    else:
        why = "; ".join(continuity.evidence) if continuity is not None else "nothing could be compared"
        message = f"It could not be proven that this is the session that was paused: {why}."
    return Condition(
        NOT_RESTORED,
        message,
        "The files and the snapshot are untouched.",
        (OLDER_SNAPSHOT, FRESH_START),
    )


def not_brought_up(
    workspace: Workspace, operation: Operation, problem: Problem | None, seen: Observed = NOTHING_SEEN
) -> Condition:
    """A start or resume failed; nothing is left running and nothing was lost. `seen` tells of other snapshots."""
    problem = problem or NO_REASON
    what = problem.message.rstrip(".")
    if operation.kind is OperationKind.RESUME:
        message = f"The resume failed: {what}. The snapshot and the files are untouched."
        if problem.code == SNAPSHOT_MISSING:
            message = f"The resume failed: {what}. The files are untouched."
        others = any(m.id != operation.snapshot_id and not m.damage for m in seen.snapshots)
        ways_out = (RETRY, ANOTHER_SNAPSHOT, FRESH_START) if others else (RETRY, FRESH_START)
        return Condition(RESUME_FAILED, message, problem.hint, ways_out, detail=problem.detail)
    if operation.kind is OperationKind.FORK:
        return fork_failed(workspace, what, problem)
    message = f"The start failed: {what}. The files are untouched."
    return Condition(START_FAILED, message, problem.hint, _ways_out(workspace), detail=problem.detail)


def fork_failed(workspace: Workspace, what: str, problem: Problem = NO_REASON) -> Condition:
    """A fork did not come to be: nothing of it is left, and the original is as it was."""
    original = workspace.origin.key if workspace.origin else "the original"
    message = f"The fork failed: {what}. Nothing of it is left; {original}, its snapshot and its files are untouched."
    return Condition(FORK_FAILED, message, problem.hint, (RETRY,), detail=problem.detail)


def not_forked(workspace: Workspace) -> Condition:
    """The session came up, and was ended because it was not proven to be what a fork has to be."""
    evidence = workspace.continuity.evidence if workspace.continuity else ()
    why = "; ".join(evidence) or "nothing could be compared"
    return fork_failed(workspace, f"it could not be proven to be a session of its own ({why})")


def volume_awaited(problem: Problem) -> Condition:
    """The files are not there yet; the start or resume goes on by itself once they are."""
    return Condition(
        VOLUME_UNAVAILABLE, f"Waiting for its files: {problem.message.rstrip('.')}. It goes on by itself.", problem.hint
    )


def ended_at_once(workspace: Workspace, operation: Operation, seen: Observed = NOTHING_SEEN) -> Condition:
    """The sandbox was up and is gone again."""
    return not_brought_up(workspace, operation, Problem("ended", "the session ended as soon as it was up"), seen)


def took_too_long(workspace: Workspace, operation: Operation, seen: Observed = NOTHING_SEEN) -> Condition:
    """The deadline passed."""
    return not_brought_up(workspace, operation, Problem("timeout", "it took longer than allowed and was stopped"), seen)


def pause_failed(problem: Problem | None) -> Condition:
    """The pause was given up and the session runs on."""
    problem = problem or NO_REASON
    message = f"{NOT_PAUSED}{problem.message.rstrip('.')}{RUNS_ON}"
    return Condition(PAUSE_FAILED, message, problem.hint, (RETRY,), detail=problem.detail)


def delete_failed(problem: Problem | None) -> Condition:
    """Something could not be removed yet; it is tried again."""
    what = (problem or NO_REASON).message.rstrip(".")
    return Condition(DELETE_FAILED, f"Deleting is not finished: {what}. It is tried again by itself.")


def waiting(position: int, why: str) -> Condition:
    """There is no capacity for it now."""
    return Condition(WAITING, f"Waiting for capacity: {why}. Position {position} in the queue.")


def its_turn() -> Condition:
    """Capacity is free for it and is about to be taken: it waits for nothing."""
    return Condition(ITS_TURN, "It is its turn: capacity is free and is being taken.")


def over_quota(position: int, why: str) -> Condition:
    """A quota holds it back; capacity would not help."""
    message = f"Waiting for the quota: {why}. Position {position} in the queue."
    return Condition(OVER_QUOTA, message, "Pause another one of yours, or ask an administrator for a larger quota.")


def fits_nowhere(position: int, why: str, mend: str) -> Condition:
    """The snapshot that it wants fits no node; it waits for one that it fits."""
    hint = f"{mend} Or take it out of the queue and choose an older snapshot, or a fresh start from the files."
    return replace(waiting(position, why), hint=hint)


def files_only() -> Condition:
    """Its last snapshot was deleted."""
    return Condition(
        FILES_ONLY,
        "Its last snapshot was deleted, so the live session is gone; the files are safe.",
        "Start fresh from the files.",
        (FRESH_START,),
    )


def cancelled() -> Condition:
    """Its owner took it out of the queue."""
    return Condition(CANCELLED, "Taken out of the queue; nothing was started.", "", (RETRY,))


def shut_down(workspace: Workspace) -> Condition:
    """Intermezzo was stopped and ended the session, as it is configured to."""
    return _ended_by_a_shutdown(workspace, "as configured, it did not pause this session")


def shut_down_unpaused(workspace: Workspace) -> Condition:
    """Intermezzo was stopped and ended the session, of which the pause had just been refused."""
    refused = workspace.condition.message if workspace.condition else ""
    why = refused.removeprefix(NOT_PAUSED).removesuffix(RUNS_ON) or NO_REASON.message
    return _ended_by_a_shutdown(workspace, f"this session could not be paused: {why}")


def _ended_by_a_shutdown(workspace: Workspace, why: str) -> Condition:
    return Condition(
        SHUT_DOWN,
        f"Intermezzo was shut down; {why}. What was only in memory is lost, the files are safe.",
        "Start fresh from the files.",
        (OLDER_SNAPSHOT, FRESH_START) if workspace.snapshot is not None else (FRESH_START,),
    )
