"""Commands about when a workspace is paused and resumed by itself: set, list, remove."""

import os
from pathlib import Path

import click

from intermezzo.cli.base import Group, Session, pass_session
from intermezzo.cli.words import moment
from intermezzo.cli.workspaces import NAME
from intermezzo.client.schedule_models import ScheduleShape
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.schedule import Action

ZONES = "/zoneinfo/"
WORDS = {Action.PAUSE: "paused at", Action.RESUME: "resumed at", Action.READY: "ready by"}

AT = "TIME"
DAYS = "Days of the week: mon-fri, sat,sun; every day if left out."


class SetByDefault(Group):
    """A group that takes a name where a command is expected for a wish to set something."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `set` before anything that is neither a command nor a wish for help."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["set", *args]
        return super().parse_args(ctx, args)


@click.group(cls=SetByDefault)
def schedule() -> None:
    """Have a workspace paused and resumed by itself; `schedule NAME --pause-at 20:00` sets that."""


@schedule.command(
    "set",
    examples=[
        "schedule exp-17 --pause-at 20:00 --ready-by 09:00 --days mon-fri --zone Europe/Warsaw",
        "schedule exp-17 --pause-at 2026-12-01T20:00",
        "schedule set exp-17 --resume-at 08:30 --json",
    ],
)
@NAME
@click.option("--pause-at", metavar=AT, default="", help="Pause it then.")
@click.option("--resume-at", metavar=AT, default="", help="Resume it then.")
@click.option("--ready-by", metavar=AT, default="", help="Resume it so early that the session answers by then.")
@click.option("--days", default="", help=DAYS)
@click.option("--zone", default="", help="A time zone such as Europe/Warsaw; this machine's if left out.")
@pass_session
def set_(session: Session, workspace: str, pause_at: str, resume_at: str, ready_by: str, days: str, zone: str) -> None:
    """Set one or more. TIME is 20:00 (on --days, or every day) or 2026-12-01T20:00 (once)."""
    wanted = {Action.PAUSE: pause_at, Action.RESUME: resume_at, Action.READY: ready_by}
    if not any(wanted.values()):
        hint = "Say --pause-at, --resume-at or --ready-by; `intermezzo schedule list NAME` shows what is set."
        raise InvalidInput("nothing was said that could be set", hint)
    found = [
        session.client.schedules.set(workspace, action, at, zone or own_zone(), days)
        for action, at in wanted.items()
        if at
    ]
    session.output.data(found)
    for each in found:
        session.output.say(f"{workspace} will be {_words(each)}; next: {moment(each.next_at)}.")


@schedule.command("list", examples=["schedule list exp-17", "schedule list exp-17 --json"])
@NAME
@pass_session
def list_(session: Session, workspace: str) -> None:
    """List what is set, with when it comes next."""
    found = session.client.schedules.of(workspace)
    session.output.data(found)
    if not found:
        session.output.say("Nothing is set: it is paused and resumed when somebody asks, or by the idle rule.")
        return
    rows = [(each.id, _words(each), moment(each.next_at), _held(each), each.set_by) for each in found]
    session.output.table(("ID", "WILL BE", "NEXT", "", "SET BY"), rows)


@schedule.command("remove", examples=["schedule remove exp-17 i3f9"])
@NAME
@click.argument("schedule_id", metavar="ID")
@pass_session
def remove(session: Session, workspace: str, schedule_id: str) -> None:
    """Remove one; `schedule list NAME` shows the ids."""
    session.client.schedules.remove(workspace, schedule_id)
    session.output.data({"workspace": workspace, "schedule_id": schedule_id, "state": "removed"})
    session.output.say(f"{schedule_id}: removed.")


def own_zone() -> str:
    """The time zone of whoever asks, by TZ or by this machine's settings; UTC where neither names one."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if named:
        return named
    return str(Path("/etc/localtime").resolve()).partition(ZONES)[2] or "UTC"


def _words(shown: ScheduleShape) -> str:
    return f"{WORDS[shown.action]} {shown.rule} {shown.zone}"


def _held(shown: ScheduleShape) -> str:
    return f"held back by keep awake until {moment(shown.held_until)}" if shown.held_until else ""
