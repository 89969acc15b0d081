"""Commands that change what a workspace is doing: pause, resume, restart, wait."""

import shlex

import click

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.cli.following import follow
from intermezzo.cli.verdicts import not_up, report_pause, report_resume, report_start
from intermezzo.cli.words import compute, moment, size
from intermezzo.cli.workspaces import NAME, NO_WAIT, say_layers
from intermezzo.client.operation_models import OperationShape
from intermezzo.client.snapshot_models import SavedShape
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.errors import InvalidInput, NotFound
from intermezzo.domain.held import Acceptance
from intermezzo.domain.workspace import SETTLED, Phase

STATES: dict[str, frozenset[Phase]] = {
    "ready": frozenset({Phase.RUNNING}),
    "paused": frozenset({Phase.PAUSED}),
    "waiting": frozenset({Phase.QUEUED}),
    "starting": frozenset({Phase.STARTING}),
    "pausing": frozenset({Phase.PAUSING}),
    "resuming": frozenset({Phase.RESUMING}),
    "needs-you": frozenset({Phase.FAILED}),
    "settled": SETTLED,
    "deleted": frozenset(),
}


@click.command(cls=Command, examples=["pause exp-17", "pause team-a/exp-17 --no-wait", "pause exp-17 --json"])
@NAME
@NO_WAIT
@pass_session
def pause(session: Session, workspace: str, no_wait: bool) -> Exit:
    """Save the live session and give the compute back. Says what is kept as it begins, and after what came free."""
    before = session.client.workspace(workspace)
    operation = session.client.pause(workspace)
    say_layers(session, before)
    if no_wait:
        return _accepted(session, operation)
    return report_pause(session, before, follow(session, workspace, operation), operation.asked_at)


@click.command(
    cls=Command,
    examples=["resume exp-17", "resume exp-17 --snapshot i3f9", "resume exp-17 --accept-changed-files"],
)
@NAME
@click.option("--snapshot", "snapshot_id", default="", help="An older snapshot; the newest if left out.")
@click.option(
    "--accept-changed-files",
    "accept",
    flag_value=Acceptance.CHANGED_FILES,
    type=Acceptance,
    default=Acceptance.NOTHING,
    help="Also if files that the session holds open were changed, replaced or removed meanwhile.",
)
@NO_WAIT
@pass_session
def resume(session: Session, workspace: str, snapshot_id: str, accept: Acceptance, no_wait: bool) -> Exit:
    """Bring the live session back, and prove that it is the same one (exit code 1 if it is not)."""
    _say_what_comes_back(session, session.client.workspace(workspace), snapshot_id)
    operation = session.client.resume(workspace, snapshot_id, accept)
    if no_wait:
        return _accepted(session, operation)
    return report_resume(session, follow(session, workspace, operation), operation)


@click.command(cls=Command, examples=["restart exp-17 --fresh", "restart exp-17 --fresh --json"])
@NAME
@click.option("--fresh", is_flag=True, help="Begin afresh from the files: what is only in memory is lost.")
@NO_WAIT
@pass_session
def restart(session: Session, workspace: str, fresh: bool, no_wait: bool) -> Exit:
    """Start afresh from the files. Snapshots stay, so that an earlier session can still be resumed."""
    if not fresh:
        again = f"intermezzo restart {shlex.quote(workspace)} --fresh"
        raise InvalidInput(
            "a restart loses what is only in memory, so it must be asked for with --fresh",
            f"`{again}`; to keep the session, `intermezzo pause` and `resume` it",
        )
    operation = session.client.restart_fresh(workspace)
    if no_wait:
        return _accepted(session, operation)
    return report_start(session, follow(session, workspace, operation))


@click.command(cls=Command, examples=["wait exp-17 --for ready", "wait exp-17 --for paused --timeout 60"])
@NAME
@click.option("--for", "state", type=click.Choice(sorted(STATES)), default="ready", show_default=True)
@click.option("--timeout", "timeout_s", type=click.FloatRange(min=0), default=600, show_default=True, help="Seconds.")
@pass_session
def wait(session: Session, workspace: str, state: str, timeout_s: float) -> Exit:
    """Wait until a workspace is in a state. Ends early, with code 6, when it needs its owner instead."""
    found: WorkspaceDetail | None = None
    try:
        for found in session.client.follow(workspace, timeout_s):
            if found.phase in STATES[state]:
                session.output.data(found)
                session.output.say(f"{found.symbol} {found.state}")
                return Exit.OK
            if found.phase is Phase.FAILED and state != "deleted":
                session.output.data(found)
                return not_up(session, found)
    except NotFound:
        if state != "deleted":
            raise
        session.output.data({"workspace": workspace, "state": "deleted"})
        session.output.say("deleted")
        return Exit.OK
    raise TimeoutError(f"{workspace} is {found.state if found else 'unknown'} after {timeout_s:g} s")


def _accepted(session: Session, operation: OperationShape) -> Exit:
    session.output.data(operation)
    session.output.say(f"Accepted: {operation.kind.value}, operation {operation.id}.")
    return Exit.OK


def _say_what_comes_back(session: Session, found: WorkspaceDetail, snapshot_id: str) -> None:
    if found.phase not in {Phase.PAUSED, Phase.FAILED}:
        return
    wanted: SavedShape | None = found.snapshot
    if snapshot_id:
        there = session.client.snapshots(f"{found.namespace}/{found.name}")
        wanted = next((snapshot for snapshot in there if snapshot.id == snapshot_id), None)
    if wanted is not None:
        saved = f"the session of {moment(wanted.created_at)}, {size(wanted.bytes)}"
        session.output.say(f"Comes back: {saved}, and the files as they are now.")
    elif not snapshot_id:
        session.output.say("There is no snapshot: this will be a fresh start from the files.")
    session.output.say(f"Needs {compute(found.demand)}.")
