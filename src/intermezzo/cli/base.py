"""What every command shares: `--json`, examples in its help, errors as one line with a hint, exit codes.

No command prints a stack trace, and with `--json` nothing but JSON goes to standard output.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import click

from intermezzo.cli.exits import Exit, exit_of
from intermezzo.cli.output import Output
from intermezzo.client import Intermezzo
from intermezzo.client.connection import NOT_RUNNING, of_environment
from intermezzo.config.loading import Loaded, load
from intermezzo.domain.errors import IntermezzoError, InvalidInput, Unreachable
from intermezzo.supervisor import running

WHOLE = 1000  # characters


@dataclass
class Session:
    """One invocation: where its settings come from, how it speaks, and the Intermezzo it talks to."""

    config: Path | None = None
    flags: dict[str, Any] = field(default_factory=dict)
    output: Output = field(default_factory=Output)

    @cached_property
    def loaded(self) -> Loaded:
        """The settings. Raises `InvalidInput` naming each wrong key."""
        return load(self.config, self.flags)

    @cached_property
    def client(self) -> Intermezzo:
        """The running Intermezzo. Raises `Unreachable` if there is none."""
        return Intermezzo.local(self.loaded.settings.connection_file)

    def close(self) -> None:
        """Let go of what was opened."""
        if "client" in self.__dict__:
            self.client.close()


def explained(error: IntermezzoError, session: Session) -> IntermezzoError:
    """The error, unless it says to start what is up here: then a part of it is only just being started again."""
    if error.hint != NOT_RUNNING or of_environment() or running(session.loaded.settings) is None:
        return error
    return Unreachable("Intermezzo is up here but does not answer just now", "it is coming back: try again in a moment")


pass_session = click.make_pass_decorator(Session)


class Command(click.Command):
    """A command with `--json` and, in its help, examples. `fields` has its options by the fields of the API that they
    become."""

    def __init__(
        self,
        *arguments: Any,
        examples: Sequence[str] = (),
        fields: Mapping[str, str] = MappingProxyType({}),
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.examples = tuple(examples)
        self.fields = fields
        self.params.append(click.Option(["--json"], is_flag=True, expose_value=False, help="Print JSON only."))

    def invoke(self, ctx: click.Context) -> Any:
        """Run it; what is wrong is told in the words that it was asked in."""
        session = ctx.find_object(Session)
        assert session is not None
        session.output.options = self.fields
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the examples last."""
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write_text(f"intermezzo {example}")


class Group(click.Group):
    """A group of such commands."""

    command_class = Command
    group_class = type

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with its whole first sentence; click would cut it where the line ends."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [(name, each.get_short_help_str(WHOLE)) for name, each in commands.items() if each and not each.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Root(Group):
    """The whole command line: turns every outcome into an exit code, and every error into one line and a hint."""

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        """Run and exit."""
        session = Session()
        # Looked for here and not by the commands, so that even a command that does not exist is answered in JSON.
        session.output.as_json = "--json" in _given(arguments, options)
        options["standalone_mode"] = False
        try:
            status = super().main(*arguments, obj=session, **options)
        except IntermezzoError as error:
            session.output.error(explained(error, session))
            status = exit_of(error)
        except click.ClickException as error:
            session.output.error(InvalidInput(error.format_message(), _usage_hint(error)))
            status = Exit.USAGE
        except TimeoutError as error:
            session.output.error(IntermezzoError(str(error)))
            status = Exit.FAILED
        except (click.Abort, KeyboardInterrupt):
            status = Exit.INTERRUPTED
        except BrokenPipeError:
            sys.stdout = None  # whoever read it has left; nothing more can be said
            status = Exit.FAILED
        finally:
            session.close()
        sys.exit(int(status) if isinstance(status, int) else Exit.OK)


def _given(arguments: tuple[Any, ...], options: dict[str, Any]) -> Sequence[str]:
    found: Sequence[str] | None = arguments[0] if arguments else options.get("args")
    return sys.argv[1:] if found is None else found


def _usage_hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"`{context.command_path} --help` shows how" if context else ""
