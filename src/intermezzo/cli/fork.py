"""The command that makes a new workspace of a snapshot of another one."""

import click

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.cli.following import follow
from intermezzo.cli.naming import OF_A_WORKSPACE
from intermezzo.cli.verdicts import report_fork
from intermezzo.cli.workspaces import NAME, NO_WAIT
from intermezzo.domain.held import Acceptance


@click.command(
    cls=Command,
    examples=[
        "fork exp-17 exp-17-b",
        "fork exp-17 team-b/exp-17 --snapshot i3f9",
        "fork exp-17 exp-17-b --pod large --no-wait --json",
    ],
    fields=OF_A_WORKSPACE,
)
@NAME
@click.argument("new", metavar="NEW")
@click.option("--snapshot", "snapshot_id", default="", help="An older snapshot; the newest if left out.")
@click.option("--pod", default="", help="Another size with the same accelerators; the original's if left out.")
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
def fork(
    session: Session, workspace: str, new: str, snapshot_id: str, pod: str, accept: Acceptance, no_wait: bool
) -> Exit:
    """Begin a new workspace NEW with the saved session of NAME and a copy of its files. The original is left as it is.

    Identity, tokens and random numbers of the fork are its own, which is proven before it runs (exit code 6 if it
    cannot be, and then nothing of the fork is left)."""
    made = session.client.fork(workspace, new, snapshot_id=snapshot_id, pod=pod, accept=accept)
    if no_wait or made.operation is None:
        session.output.data(made)
        session.output.say(f"{made.namespace}/{made.name} is {made.state}.")
        return Exit.OK
    return report_fork(session, follow(session, f"{made.namespace}/{made.name}", made.operation), made.operation)
