"""Commands that look at what happened: logs, events."""

import sys
import time

import click

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.words import moment
from intermezzo.cli.workspaces import NAME
from intermezzo.client.installation_models import EntryShape

LOOK_S = 1.0
LONGEST_TAIL = 10_000


@click.command(cls=Command, examples=["logs exp-17", "logs exp-17 -f", "logs exp-17 --tail 1000"])
@NAME
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on.")
@click.option("--tail", type=click.IntRange(1, LONGEST_TAIL), default=200, show_default=True, help="Newest lines.")
@pass_session
def logs(session: Session, workspace: str, follow: bool, tail: int) -> None:
    """Print the log of the server in a workspace."""
    shown = session.client.logs(workspace, tail)
    _print_log(session, shown)
    while follow:
        time.sleep(LOOK_S)
        now = session.client.logs(workspace, LONGEST_TAIL)
        fresh = new_lines(shown, now)
        if fresh:
            _print_log(session, fresh)
        shown = now


def new_lines(before: str, now: str) -> str:
    """The end of a log that was not there before, found by the last line that both have in common."""
    old, new = before.splitlines(), now.splitlines()
    if not old:
        return now
    for at in range(len(new), 0, -1):
        overlap = min(at, len(old))
        if new[at - overlap : at] == old[-overlap:]:
            return "\n".join(new[at:])
    return now


@click.command(cls=Command, examples=["events", "events exp-17", "events -f --json"])
@click.argument("workspace", metavar="[NAME]", default="")
@click.option("-f", "--follow", is_flag=True, help="Go on with what happens from now on.")
@pass_session
def events(session: Session, workspace: str, follow: bool) -> None:
    """Print the ledger: what happened to a workspace (or to all), when, and by whom. With -f --json, a line each."""
    # What a node saw is recorded after the end of its operation, with the time at which it was seen.
    found = sorted(session.client.ledger(workspace or None), key=lambda entry: (entry.at, entry.seq))
    if not follow:
        session.output.data(found)
        for entry in found:
            _print_entry(session, entry)
        return
    uids = {entry.workspace_uid for entry in found}
    for entry in found:
        _print_line(session, entry)
    for entry in session.client.events(max((entry.seq for entry in found), default=0)):
        if not workspace or entry.workspace_uid in uids:
            _print_line(session, entry)


def _print_log(session: Session, text: str) -> None:
    session.output.data({"text": text})
    if not session.output.as_json and text:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()


def _print_line(session: Session, entry: EntryShape) -> None:
    session.output.data(entry)
    _print_entry(session, entry)


def _print_entry(session: Session, entry: EntryShape) -> None:
    details = ", ".join(f"{key}={value}" for key, value in entry.details.items() if value not in ("", None))
    who = f" by {entry.actor}" if entry.actor else ""
    session.output.say(
        f"{moment(entry.at)}  {entry.namespace}/{entry.name}  {entry.event.value}{who}  {details}".rstrip()
    )
