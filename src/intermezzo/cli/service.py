"""Commands about Intermezzo itself: up, down."""

import contextlib
import sys

import click

from intermezzo import supervisor
from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit


@click.command(cls=Command, examples=["up", "up --detach", "up --detach --json", "up --port 0"])
@click.option("--detach", is_flag=True, help="Return once it is up; stop it with `intermezzo down`.")
@click.option("--host", default=None, help="The address to answer at (listen.host).")
@click.option("--port", type=click.IntRange(0, 65535), default=None, help="The port (listen.port); 0 takes a free one.")
@pass_session
def up(session: Session, detach: bool, host: str | None, port: int | None) -> Exit:
    """Start Intermezzo: prints its address and a login link. Ctrl-C stops all of it."""
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    if given:
        session.flags["listen"] = {**session.flags.get("listen", {}), **given}
    settings = session.loaded.settings
    with _spoken_aside(session):
        status = supervisor.up(settings, detach)
    found = supervisor.running(settings) if detach else None
    session.output.data({"pid": found["pid"], "url": found.get("url")} if found else {"state": "stopped"})
    return Exit(status)


@click.command(cls=Command, examples=["down", "down --json"])
@pass_session
def down(session: Session) -> Exit:
    """Stop Intermezzo. Workspaces that run are paused first (shutdown.workspaces)."""
    with _spoken_aside(session):
        supervisor.down(session.loaded.settings)
    lost = supervisor.lost(session.loaded.settings)
    session.output.data({"state": "stopped", "lost": lost})
    for sentence in supervisor.losses_told(lost):
        session.output.remark(sentence)
    session.output.say("Stopped.")
    return Exit.NEEDS_YOU if lost else Exit.OK


def _spoken_aside(session: Session) -> contextlib.AbstractContextManager[object]:
    """What others print is for people: with `--json` it goes to standard error."""
    return contextlib.redirect_stdout(sys.stderr) if session.output.as_json else contextlib.nullcontext()
