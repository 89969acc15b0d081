"""Commands about workspaces as such: create, list, show, open, delete."""

import os
import shlex
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from intermezzo.cli.asking import confirm
from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.cli.following import follow
from intermezzo.cli.naming import OF_A_WORKSPACE
from intermezzo.cli.verdicts import report_start
from intermezzo.cli.ways import ways_out
from intermezzo.cli.words import compute, counted, estimate, idleness, moment, reason, size
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.mounts import DATA_FIELD

NAME = click.argument("workspace", metavar="NAME")
READ_ONLY = "ro"
NO_WAIT = click.option("--no-wait", is_flag=True, help="Return as soon as it is accepted.")


@click.command(
    cls=Command,
    examples=[
        "create exp-17",
        "create team-a/exp-17 --kind jupyterlab --pod large",
        "create exp-17 --data corpus:ro --data results:/mnt/results",
        "create exp-17 --no-wait --json",
    ],
    fields=OF_A_WORKSPACE,
)
@NAME
@click.option("--kind", default="jupyterlab", show_default=True, help="The sort of workspace.")
@click.option("--image", default="", help="Which of the kind's images; the kind's default if left out.")
@click.option("--pod", default="", help="Which of the kind's sizes; the kind's default if left out.")
@click.option("--display-name", default="", help="A name for people.")
@click.option("--env", "env", multiple=True, metavar="KEY=VALUE", help="A variable for the session; may be repeated.")
@click.option("--home", default="", help="A home of yours to use again, or the name of a new one.")
@click.option("--data", "data", multiple=True, metavar="NAME[:PATH][:ro]", help="A data volume; may be repeated.")
@NO_WAIT
@pass_session
def create(
    session: Session, /, workspace: str, env: tuple[str, ...], data: tuple[str, ...], no_wait: bool, **spec: Any
) -> Exit:
    """Make a workspace and start it. NAME is NAME or NAMESPACE/NAME."""
    made = session.client.create(workspace, env=_variables(env), data=[data_volume(each) for each in data], **spec)
    if no_wait or made.operation is None:
        session.output.data(made)
        session.output.say(f"{made.namespace}/{made.name} is {made.state}.")
        return Exit.OK
    return report_start(session, follow(session, workspace, made.operation))


@click.command("list", cls=Command, examples=["list", "list --namespace team-a", "list --json"])
@click.option("--namespace", default=None, help="Only this namespace.")
@pass_session
def list_(session: Session, namespace: str | None) -> None:
    """List workspaces: the state each is in, what it holds, and why."""
    found = session.client.workspaces(namespace)
    session.output.data(found)
    if not found:
        session.output.say("No workspaces yet. Try it all with `intermezzo trial`, or `intermezzo create NAME`.")
        return
    rows = [
        (
            f"{w.namespace}/{w.name}",
            f"{w.symbol} {w.state}",
            f"{w.spec.kind} {w.spec.pod}",
            compute(w.reservation.amount) if w.reservation else "nothing",
            w.reservation.node if w.reservation else "",
            reason(w.condition),
        )
        for w in found
    ]
    session.output.table(("NAME", "STATE", "KIND", "HOLDS", "NODE", "REASON"), rows)


@click.command(cls=Command, examples=["show exp-17", "show exp-17 --json"])
@NAME
@pass_session
def show(session: Session, workspace: str) -> None:
    """Show one workspace: its state and why, when it would be paused, what a pause keeps, and the proof of a resume."""
    found = session.client.workspace(workspace)
    session.output.data(found)
    say = session.output.say
    say(f"{found.symbol} {found.state}   {found.namespace}/{found.name}   {found.spec.kind} · {found.spec.pod}")
    say(f"since {moment(found.phase_since)}")
    if found.condition:
        say(reason(found.condition))
        for way in ways_out(session, found):
            say(f"  - {way}")
        if found.condition.ways_out and found.recovery_text:
            say(found.recovery_text)
    if found.queue:
        say(f"Position {found.queue.position} in the queue: {found.queue.reason}")
        say(f"Estimated wait: {estimate(found.queue)}.")
    say(
        f"Holds {compute(found.reservation.amount)} on {found.reservation.node}."
        if found.reservation
        else "Holds no compute."
    )
    if found.idle:
        say(idleness(found.idle))
    if found.snapshot:
        say(f"Snapshot of {moment(found.snapshot.created_at)}, {size(found.snapshot.bytes)}.")
    if found.origin:
        say(f"Fork of: {found.origin.namespace}/{found.origin.name}, snapshot {found.origin.snapshot_id}")
    if found.continuity:
        say(f"Session: {found.continuity.verdict.value}")
        for line in found.continuity.evidence:
            say(f"  - {line}")
    say_layers(session, found)


def say_layers(session: Session, found: WorkspaceDetail) -> None:
    """What a pause does with each of the four layers of state."""
    rows = [(x.name, "kept" if x.kept_by_pause else "not kept", x.statement, x.way_back) for x in found.layers]
    say_recorded(session, found)
    session.output.table(("A PAUSE AND", "", "WHAT IT MEANS", "HOW TO GET IT BACK"), rows)


def say_recorded(session: Session, found: WorkspaceDetail) -> None:
    """From what its work can be done again without the live session."""
    recorded = found.recorded
    for saved in recorded.checkpoints if recorded else ():
        what = f"{saved.label or saved.series}, {moment(saved.saved_at)}"
        session.output.say(f"Application checkpoint: {what}, {size(saved.bytes)} in {saved.path}.")
        session.output.say(f"  - load it in the notebook with `{saved.loaded_by}`")
    if recorded and (environment := recorded.environment):
        what = f"Python {environment.python}, {counted(environment.packages, 'package')}"
        session.output.say(f"Environment recorded {moment(environment.made_at)}: {what}, in ~/.intermezzo/record.")


@click.command("open", cls=Command, examples=["open", "open exp-17", "open exp-17 --no-browser"])
@click.argument("workspace", metavar="[NAME]", default="")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@pass_session
def open_(session: Session, workspace: str, no_browser: bool) -> None:
    """Open a workspace in the browser, or without NAME the dashboard, and print the address."""
    target = urlsplit(session.client.connect(workspace).url).path if workspace else "/"
    url = session.client.login_link(target).url
    session.output.data({"url": url})
    session.output.say(url)
    graphical = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if graphical and not no_browser and not session.output.as_json:
        webbrowser.open(_forwarding_page(url).as_uri())


@click.command(
    cls=Command, examples=["delete exp-17", "delete exp-17 --files --yes", "delete exp-17 --yes --no-wait --json"]
)
@NAME
@click.option("--files", is_flag=True, help="Delete its home volume too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@NO_WAIT
@pass_session
def delete(session: Session, workspace: str, files: bool, yes: bool, no_wait: bool) -> Exit:
    """Delete a workspace with its live session and snapshots; its files stay unless --files is given."""
    goes = "its live session, its snapshots" + (" and ALL ITS FILES" if files else "; its files stay")
    if not yes:
        confirm(f"Delete {workspace}: {goes}. This cannot be undone. Go on?")
    volume = session.client.workspace(workspace).volume
    operation = session.client.delete(workspace, files=files)
    left = None if no_wait else follow(session, workspace, operation)
    state = "deleting" if no_wait else "deleted" if left is None else left.state
    session.output.data(
        {"workspace": workspace, "operation": operation.id, "state": state, "files_deleted": files, "volume": volume}
    )
    session.output.say(f"{workspace}: {state} ({goes}).")
    if not files:
        session.output.say(f"A new workspace can use its files with `--home {shlex.quote(volume)}`.")
    return Exit.OK if left is None else Exit.FAILED


def _variables(pairs: tuple[str, ...]) -> dict[str, str]:
    wrong = [pair for pair in pairs if not pair.partition("=")[1] or not pair.partition("=")[0]]
    if wrong:
        raise InvalidInput(f"--env {wrong[0]!r} is not KEY=VALUE", fields={"spec.env": "must be KEY=VALUE"})
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}


def data_volume(typed: str) -> dict[str, Any]:
    """`NAME`, `NAME:PATH`, `NAME:ro` or `NAME:PATH:ro`. Raises `InvalidInput` for anything else."""
    name, *rest = typed.split(":")
    read_only = bool(rest) and rest[-1] == READ_ONLY
    paths = rest[:-1] if read_only else rest
    if not name or len(paths) > 1:
        raise InvalidInput(f"--data {typed!r} is not NAME[:PATH][:ro]", fields={DATA_FIELD: "must be NAME[:PATH][:ro]"})
    return {"volume": name, "path": "".join(paths), "read_only": read_only}


def _forwarding_page(url: str) -> Path:
    """A private page that leads on to `url`, so that its token is in no process's arguments."""
    descriptor, name = tempfile.mkstemp(prefix="intermezzo-", suffix=".html")
    with os.fdopen(descriptor, "w") as page:
        page.write(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(url)}"><title>Intermezzo</title>'
        )
    return Path(name)
