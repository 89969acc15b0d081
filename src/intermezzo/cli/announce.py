"""Commands to tell everybody something, such as that an upgrade comes."""

from datetime import datetime

import click

from intermezzo.cli.base import Command, Group, Session, pass_session
from intermezzo.cli.words import moment
from intermezzo.domain.errors import InvalidInput


@click.command(
    cls=Command,
    examples=[
        'announce "Upgrade at six; workspaces are paused and come back as they were."',
        'announce "VS Code is upgraded tonight." --kind vscode --until 2026-12-01T20:00',
        'announce "Upgrade at six." --json',
    ],
)
@click.argument("text")
@click.option("--kind", default="", help="Only whoever has a workspace of that kind.")
@click.option("--until", metavar="TIME", default="", help="2026-12-01T20:00, in this machine's zone; else a week.")
@pass_session
def announce(session: Session, text: str, kind: str, until: str) -> None:
    """Tell everybody TEXT, on their pages, in their notebooks and where they are written to, until they dismiss it."""
    made = session.client.notices.announce(text, kind, milliseconds(until) if until else 0)
    session.output.data(made)
    session.output.say(f"Told until {moment(made.until)}. Take it back with `intermezzo announcements end {made.id}`.")


@click.group(cls=Group)
def announcements() -> None:
    """What everybody is told now: list, end."""


@announcements.command("list", examples=["announcements list", "announcements list --json"])
@pass_session
def list_announcements(session: Session) -> None:
    """List the announcements in force."""
    found = session.client.notices.announcements()
    session.output.data(found)
    rows = [(each.id, moment(each.created_at), moment(each.until), each.kind or "all", each.text) for each in found]
    session.output.table(("ID", "SINCE", "UNTIL", "KIND", "TEXT"), rows)


@announcements.command("end", examples=["announcements end i0123456789abcdef01234567"])
@click.argument("announcement_id", metavar="ID")
@pass_session
def end_announcement(session: Session, announcement_id: str) -> None:
    """Take an announcement back from everybody."""
    session.client.notices.end_announcement(announcement_id)
    session.output.data({"ended": announcement_id})
    session.output.say("Taken back.")


def milliseconds(text: str) -> int:
    """A moment as it is typed, in epoch milliseconds. Raises `InvalidInput`."""
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{text!r} is not a moment", "Write it as 2026-12-01T20:00.", {"until": "is not a moment"}
        ) from None
