"""How the command line speaks: people get tables and plain sentences, programs get JSON and nothing else.

Results go to standard output; progress, remarks and errors go to standard error.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from intermezzo.cli.naming import as_typed
from intermezzo.domain import errors

Content = BaseModel | Mapping[str, Any] | Sequence[Any]
PLAIN_WIDTH = 200


class Output:
    """One invocation's voice. `as_json` is set by `--json`; `options` are those of the command, by the API's fields."""

    def __init__(self) -> None:
        self.as_json = False
        self.options: Mapping[str, str] = {}

    @property
    def console(self) -> Console:
        """Standard output for people."""
        width = None if sys.stdout.isatty() else PLAIN_WIDTH
        return Console(width=width, highlight=False, soft_wrap=True, file=sys.stdout)

    @property
    def remarks(self) -> Console:
        """Standard error."""
        return Console(stderr=True, highlight=False, soft_wrap=True, file=sys.stderr)

    def say(self, text: str = "") -> None:
        """A line of the result for people; programs do not get it."""
        if not self.as_json:
            self.console.print(text, markup=False)

    def remark(self, text: str) -> None:
        """A line beside the result."""
        self.remarks.print(text, markup=False)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Rows for people."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(_literal(cell) for cell in row))
        if not self.as_json:
            self.console.print(table)

    def data(self, content: Content) -> None:
        """The result for programs, as one JSON document on a line of its own; people do not get it."""
        if self.as_json:
            print(json.dumps(content, default=_plain, ensure_ascii=False), flush=True)  # noqa: T201

    def error(self, error: errors.IntermezzoError) -> None:
        """One line and a hint on standard error, and for programs the same as JSON."""
        fields = error.fields if isinstance(error, errors.InvalidInput) else {}
        self.data({"error": {"code": error.code, "message": error.message, "hint": error.hint, "fields": fields}})
        message = as_typed(error.message, self.options)
        self.remark(f"Error: {message}")
        for name, problem in fields.items():
            if as_typed(name, self.options) not in message:
                self.remark(f"  {as_typed(name, self.options)}: {problem}")
        if error.hint:
            self.remark(f"Hint: {error.hint}")


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _literal(cell: str) -> str:
    return cell.replace("[", r"\[")
