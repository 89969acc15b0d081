"""The command line. It speaks the public API and decides nothing; see docs/reference/cli.md."""

import importlib.metadata
import tomllib
from pathlib import Path
from typing import Any

import click

from intermezzo.cli import (
    accounts,
    announce,
    backup,
    checkpoints,
    credentials,
    doctor,
    fork,
    idle,
    kinds,
    lifecycle,
    namespaces,
    policies,
    queue,
    recovery,
    release,
    running,
    schedules,
    service,
    settings,
    snapshots,
    trial,
    volumes,
    watching,
    workspaces,
)
from intermezzo.cli.base import Root, Session
from intermezzo.domain.errors import InvalidInput


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(importlib.metadata.version("intermezzo"), prog_name="intermezzo")
@click.option("--config", type=click.Path(path_type=Path), default=None, help="The configuration file.")
@click.option("--data-dir", type=click.Path(path_type=Path), default=None, help="Where everything is kept (data_dir).")
@click.option("--set", "values", multiple=True, metavar="KEY=VALUE", help="Any setting, such as listen.port=8751.")
@click.pass_obj
def main(session: Session, config: Path | None, data_dir: Path | None, values: tuple[str, ...]) -> None:
    """Stop a notebook in the evening, give the hardware back, and run its next cell tomorrow."""
    session.config = config
    session.flags = flags_of(values)
    if data_dir is not None:
        session.flags["data_dir"] = str(data_dir)


for command in (
    service.up,
    service.down,
    backup.backup,
    backup.restore,
    doctor.doctor,
    workspaces.create,
    workspaces.list_,
    workspaces.show,
    workspaces.open_,
    lifecycle.pause,
    lifecycle.resume,
    lifecycle.restart,
    fork.fork,
    workspaces.delete,
    checkpoints.checkpoint,
    recovery.recover,
    recovery.export,
    running.run,
    watching.logs,
    watching.events,
    lifecycle.wait,
    queue.queue,
    queue.quota,
    idle.keep_awake,
    snapshots.snapshots,
    volumes.volumes,
    schedules.schedule,
    kinds.kinds,
    policies.policies,
    trial.trial,
    release.release_check,
    accounts.users,
    accounts.teams,
    namespaces.namespaces,
    credentials.tokens,
    credentials.audit,
    announce.announce,
    announce.announcements,
    settings.config,
    settings.completion,
):
    main.add_command(command)


def flags_of(pairs: tuple[str, ...]) -> dict[str, Any]:
    """`section.key=value` pairs as nested tables; a value is read as TOML, and as text where it is not TOML."""
    tables: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not key or not equals:
            raise InvalidInput(f"--set {pair!r} is not KEY=VALUE", fields={"set": "must be KEY=VALUE"})
        *above, last = key.split(".")
        table = tables
        for part in above:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise InvalidInput(f"--set {pair!r}: {part} has a value already", fields={part: "is no section"})
        table[last] = _value(text)
    return tables


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
