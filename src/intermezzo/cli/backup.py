"""Commands that keep what the control plane knows and put it back: backup, restore.

They work on the installation of this machine itself, like `up` and `down`, since a backup holds secrets that no API
gives out.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import click

from intermezzo.backups.archive import Contents, reading
from intermezzo.cli.asking import confirm
from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.words import moment
from intermezzo.ports.clock import SystemClock
from intermezzo.supervisor import alone

FILE = click.argument("file", type=click.Path(path_type=Path))


@click.command(cls=Command, examples=["backup ../intermezzo.backup", "backup /backups/monday.backup --json"])
@FILE
@pass_session
def backup(session: Session, file: Path) -> None:
    """Write what the control plane knows to a new FILE: records, ledger, accounts, audit, kinds, schedules, keys.

    Intermezzo goes on meanwhile; what is written is one moment's. Homes and snapshots are not in it. FILE holds
    secrets.
    """
    from intermezzo.backups.making import back_up  # with it comes SQLAlchemy, for which no other command waits

    made = asyncio.run(back_up(session.loaded.settings, file.absolute(), SystemClock(), _told(session)))
    session.output.data({"file": str(file), **_figures(made), "bytes": file.stat().st_size})
    session.output.say(f"{file}: {_said(made)}. It holds secrets: keep it where only you can read it.")


@click.command(
    cls=Command, examples=["restore ../intermezzo.backup --check", "down", "restore ../intermezzo.backup --yes"]
)
@FILE
@click.option("--check", is_flag=True, help="Only read the backup and say what is in it.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def restore(session: Session, file: Path, check: bool, yes: bool) -> None:
    """Put FILE back in place of what the control plane knows; Intermezzo must be down. What it knew before is kept
    beside it, and no home and no snapshot is touched."""
    with reading(file) as found:
        made = found.contents
    if check:
        session.output.data({"file": str(file), **_figures(made)})
        session.output.say(f"{file} is whole: {_said(made)}.")
        return
    from intermezzo.backups.restoring import put_back

    settings = session.loaded.settings
    with alone(settings):
        if not yes:
            question = f"Put back what the control plane knew on {moment(made.made_at)}?"
            confirm(question, "restore asks first, and there is nobody to ask")
        asyncio.run(put_back(settings, file, SystemClock(), _told(session)))
    session.output.data({"file": str(file), **_figures(made)})
    session.output.say(f"Put back: {_said(made)}. What was known before lies beside it, as *.before-….")
    session.output.say("Start it with: intermezzo up")


def _told(session: Session) -> Callable[[str], None]:
    return lambda table: session.output.remark(f"  {table} ...")


def _figures(made: Contents) -> dict[str, object]:
    return {"version": made.version, "made_at": made.made_at, "rows": made.rows}


def _said(made: Contents) -> str:
    rows = made.rows
    return (
        f"{rows.get('workspaces', 0)} workspaces, {rows.get('ledger', 0)} lines of the ledger, "
        f"{rows.get('accounts', 0)} accounts, made on {moment(made.made_at)} by version {made.version}"
    )
