"""The command that keeps a workspace awake."""

import click

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.words import moment
from intermezzo.cli.workspaces import NAME
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.lease import LeaseSource, seconds_in


@click.command(
    "keep-awake",
    cls=Command,
    examples=[
        "keep-awake exp-17 2h",
        'keep-awake exp-17 1h30m --reason "demonstration at three"',
        "keep-awake exp-17 --release",
    ],
)
@NAME
@click.argument("duration", metavar="[DURATION]", default="")
@click.option("--reason", default="", help="Why, for those who wonder.")
@click.option("--release", is_flag=True, help="Let the idle rule hold again at once.")
@pass_session
def keep_awake(session: Session, workspace: str, duration: str, reason: str, release: bool) -> None:
    """Do not pause a workspace for being idle, for a DURATION such as 2h, 1h30m or 45m from now."""
    if release == bool(duration):
        raise InvalidInput(
            "a duration is needed, or --release, and not both",
            f"For example `intermezzo keep-awake {workspace} 2h`, or `intermezzo keep-awake {workspace} --release`.",
        )
    if release:
        session.client.idle.release(workspace, LeaseSource.CLI)
        session.output.data({"workspace": workspace, "kept_awake": None})
        session.output.say(f"{workspace} is not kept awake any more.")
        return
    lease = session.client.idle.keep_awake(workspace, seconds_in(duration), reason, LeaseSource.CLI)
    session.output.data({"workspace": workspace, "kept_awake": lease})
    session.output.say(f"{workspace} is kept awake until {moment(lease.until)}.")
