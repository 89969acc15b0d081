"""Commands about the settings and the shell: config show, completion."""

import json
from typing import Any

import click
from click.shell_completion import get_completion_class

from intermezzo.cli.base import Command, Group, Session, pass_session
from intermezzo.config.loading import Source, shown
from intermezzo.config.settings import PREFIX


@click.group(cls=Group)
def config() -> None:
    """Look at the settings."""


@config.command("show", examples=["config show", "config show --json", "--set listen.port=8751 config show"])
@pass_session
def show_config(session: Session) -> None:
    """Print every setting, its value, and where the value came from. Secrets are masked."""
    loaded = session.loaded
    rows = [
        (key, value, _source(loaded.sources.get(key, Source.DEFAULT), key, str(loaded.file)))
        for key, value in shown(loaded.settings).items()
    ]
    session.output.data(
        {
            "file": str(loaded.file) if loaded.file else None,
            "settings": {key: {"value": value, "source": source} for key, value, source in rows},
        }
    )
    session.output.table(("SETTING", "VALUE", "FROM"), [(key, _written(value), source) for key, value, source in rows])


@click.command(
    cls=Command,
    examples=["completion bash >> ~/.bashrc", "completion fish > ~/.config/fish/completions/intermezzo.fish"],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes this command line in a shell."""
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, "intermezzo", "_INTERMEZZO_COMPLETE").source()
    session = context.ensure_object(Session)
    session.output.data({"shell": shell, "script": script})
    session.output.say(script)


def _source(source: Source, key: str, file: str) -> str:
    match source:
        case Source.ENVIRONMENT:
            return f"{source} {PREFIX}{key.upper().replace('.', '__')}"
        case Source.FILE:
            return f"{source} {file}"
    return source.value


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
