"""The command that runs code or a notebook in a live kernel and shows its output as it comes."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.cli.workspaces import NAME
from intermezzo.client.run_models import CellShape, RunShape
from intermezzo.domain.errors import InvalidInput, Unreachable

IN_HOME = "home:"


@click.command(
    cls=Command,
    examples=[
        "run exp-17 -c 'print(model)'",
        "run exp-17 train.ipynb",
        "run exp-17 home:work/train.ipynb --timeout 600 --json",
    ],
)
@NAME
@click.argument("file", metavar="[FILE.ipynb]", default="")
@click.option("-c", "--code", default=None, help="Run this code instead of a notebook.")
@click.option("--to", "target", default="", metavar="PATH", help="Where in home to put it; its own name if left out.")
@click.option("--kernel", "kernel_id", default="", help="Run code in this kernel; the newest if left out.")
@click.option("--timeout", "timeout_s", type=click.FloatRange(min=0), default=0, help="Seconds for a cell; 0: none.")
@click.option("--no-wait", is_flag=True, help="Return as soon as it runs.")
@pass_session
def run(
    session: Session,
    workspace: str,
    file: str,
    code: str | None,
    target: str,
    kernel_id: str,
    timeout_s: float,
    no_wait: bool,
) -> Exit:
    """Run a notebook, or code with -c, in the live session. FILE is put into home first; home:PATH is there already."""
    if code is not None and not code.strip():
        raise InvalidInput("-c is empty: there is no code to run", fields={"code": "is empty"})
    if bool(file) == bool(code):
        raise InvalidInput("give either a notebook or -c CODE", fields={"file": "either this", "code": "or this"})
    if code:
        started = session.client.run_code(workspace, code, kernel_id=kernel_id, timeout_s=timeout_s)
    elif file.startswith(IN_HOME):
        started = session.client.run_notebook(workspace, file.removeprefix(IN_HOME), timeout_s=timeout_s)
    else:
        notebook = _notebook(Path(file))
        path = target or Path(file).name
        started = session.client.run_notebook(workspace, path, notebook, timeout_s=timeout_s)
    if no_wait:
        session.output.data(started)
        session.output.say(f"Run {started.id} is under way.")
        return Exit.OK
    return _watched(session, started)


def _notebook(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except OSError as error:
        hint = f"for a notebook that is in the workspace, {IN_HOME}{file}"
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", hint, {"file": "cannot be read"}) from None
    except ValueError:
        raise InvalidInput(f"{file} is not a notebook", fields={"notebook": "is not JSON"}) from None
    if not isinstance(content, dict):
        raise InvalidInput(f"{file} is not a notebook", fields={"notebook": "is not a JSON object"})
    return content


def _watched(session: Session, started: RunShape) -> Exit:
    cells: list[CellShape] = []
    ended: RunShape | None = None
    with Progress(
        TextColumn("cell"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=session.output.remarks,
        transient=True,
        disable=session.output.as_json or not session.output.remarks.is_terminal,
    ) as bar:
        task = bar.add_task("cell", total=None)
        try:
            for update in session.client.updates(started.id):
                if isinstance(update, RunShape):
                    ended = update
                    break
                cells.append(update)
                bar.update(task, completed=update.index + (update.state in {"done", "failed"}), total=update.total)
                if update.output and not session.output.as_json:
                    _print(update.output)
        except KeyboardInterrupt:
            session.output.remark(f"No longer watching; run {started.id} goes on.")
            raise
    if ended is None:
        raise Unreachable("the updates ended before the run did", "the kernel may still be at work")
    session.output.data({"run": ended, "updates": cells})
    if ended.state == "succeeded":
        return Exit.OK
    at = f" at cell {ended.cell + 1} of {ended.cells}" if ended.cells else ""
    session.output.remark(f"Error: the run {ended.state}{at}: {ended.problem}")
    return Exit.FAILED


def _print(output: dict[str, Any]) -> None:
    """One nbformat output, as a terminal can show it."""
    match output.get("output_type"):
        case "stream":
            stream = sys.stderr if output.get("name") == "stderr" else sys.stdout
            stream.write(_text(output.get("text", "")))
        case "error":
            sys.stderr.write("\n".join(output.get("traceback", [])) + "\n")
        case "execute_result" | "display_data":
            sys.stdout.write(_text(output.get("data", {}).get("text/plain", "")) + "\n")
    sys.stdout.flush()


def _text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)
