"""Commands for when something went wrong: the ways back of a workspace, and its files as one archive to take along."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.cli.following import follow
from intermezzo.cli.verdicts import report_pause, report_resume, report_start
from intermezzo.cli.words import counted, moment, size
from intermezzo.cli.workspaces import NAME, NO_WAIT
from intermezzo.client.recovery_models import WayShape
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.errors import Conflict, InvalidInput
from intermezzo.domain.lifecycle import Command as Asked
from intermezzo.domain.recovery import Way
from intermezzo.domain.workspace import Phase

TARGET = click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The archive's file, or a folder to put it in; this folder if left out.",
)


@click.command(
    cls=Command,
    examples=[
        "recover exp-17",
        "recover exp-17 --json",
        "recover exp-17 --with retry",
        "recover exp-17 --with older",
        "recover exp-17 --with fresh",
        "recover exp-17 --with export -o /mnt/usb",
    ],
)
@NAME
@click.option("--with", "way", type=click.Choice([way.value for way in Way]), default=None, help="Take this way.")
@TARGET
@NO_WAIT
@pass_session
def recover(session: Session, workspace: str, way: str | None, target: Path, no_wait: bool) -> Exit:
    """Show the ways back to work: what each brings back, what it loses, what to type. Takes one only with --with."""
    if target != Path() and way != Way.EXPORT.value:
        raise InvalidInput("-o names the archive of an export", f"`intermezzo recover {workspace} --with export -o …`")
    ways = session.client.recovery.ways(workspace)
    if way is None:
        session.output.data(ways)
        for found in ways:
            _say(session, found)
        return Exit.OK
    chosen = _open(ways, Way(way))
    before = session.client.workspace(workspace)
    if before.phase is Phase.RUNNING and chosen.command is Asked.RESTART and not chosen.offered:
        raise Conflict("nothing is to be recovered: a session runs, and this would end it", f"`{chosen.typed}`")
    session.output.say(f"Loses: {chosen.loses}")
    if chosen.way is Way.EXPORT:
        return _exported(session, workspace, target)
    return _taken(session, before, chosen, no_wait)


@click.command(cls=Command, examples=["export exp-17", "export exp-17 -o exp-17.tar.gz", "export exp-17 --json"])
@NAME
@TARGET
@pass_session
def export(session: Session, workspace: str, target: Path) -> Exit:
    """Take the files along: the home as one archive, with the exact list of packages. Changes nothing."""
    session.output.remark(f"Loses: {_open(session.client.recovery.ways(workspace), Way.EXPORT).loses}")
    return _exported(session, workspace, target)


def _open(ways: Sequence[WayShape], wanted: Way) -> WayShape:
    """That way. Raises `Conflict` where it is not open now."""
    found = next(found for found in ways if found.way is wanted)
    if not found.possible:
        raise Conflict(f"{wanted.value} is not possible now: {found.obstacle}", found.mend)
    return found


def _say(session: Session, found: WayShape) -> None:
    of = f" (the session of {moment(found.snapshot.created_at)})" if found.snapshot else ""
    session.output.say(f"{found.way.value}: {found.words}{of}")
    session.output.say(f"    brings back: {found.brings_back}")
    session.output.say(f"    loses:       {found.loses}")
    if found.possible:
        session.output.say(f"    type:        {found.typed}")
    else:
        session.output.say(f"    not now:     {f'{found.obstacle} {found.mend}'.strip()}")


def _taken(session: Session, before: WorkspaceDetail, chosen: WayShape, no_wait: bool) -> Exit:
    client, workspace = session.client, f"{before.namespace}/{before.name}"
    match chosen.command:
        case Asked.RESUME:
            operation = client.resume(workspace, chosen.snapshot.id if chosen.snapshot else "")
        case Asked.PAUSE:
            operation = client.pause(workspace)
        case _:
            operation = client.restart_fresh(workspace)
    if no_wait:
        session.output.data(operation)
        session.output.say(f"Accepted: {operation.kind.value}, operation {operation.id}.")
        return Exit.OK
    found = follow(session, workspace, operation)
    if chosen.command is Asked.PAUSE:
        return report_pause(session, before, found, operation.asked_at)
    if chosen.command is Asked.RESUME:
        return report_resume(session, found, operation)
    return report_start(session, found)


def _exported(session: Session, workspace: str, target: Path) -> Exit:
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=session.output.remarks,
        transient=True,
        disable=session.output.as_json or not session.output.remarks.is_terminal,
    ) as bar:
        task = bar.add_task("exporting", total=None)

        def seen(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None)

        try:
            made = session.client.recovery.export(workspace, target, seen)
        except OSError as error:
            raise InvalidInput(f"the archive cannot be written: {error}", "Name another place with -o.") from None
    session.output.data(
        {
            "workspace": workspace,
            "file": str(made.path),
            "bytes": made.bytes,
            "unpacked_bytes": made.unpacked_bytes,
            "files": made.files,
            "skipped": made.skipped,
            "uncertain": made.uncertain,
        }
    )
    unpacked = f"{counted(made.files, 'file')}, {size(made.unpacked_bytes)} unpacked"
    session.output.say(f"{made.path}: {size(made.bytes)}; {unpacked}.")
    if made.skipped:
        session.output.say(f"Left out: {made.skipped}. Its manifest.json names them, with the reason.")
    if made.uncertain:
        session.output.say(f"Changed while they were read: {counted(made.uncertain, 'file')}, named in manifest.json.")
    session.output.say("Its README.md says how to go on with it on any machine; `tar -xzf` unpacks it.")
    return Exit.OK
