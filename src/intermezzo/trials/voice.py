"""How a trial speaks while it goes on: a spinner with the time on a terminal, plain lines elsewhere, always on stderr.

Standard output is left to the result.
"""

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

SHOWN = 100


class Voice:
    """One trial's voice."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._last = ""

    def step(self, title: str) -> None:
        """The title of what comes now."""
        self._console.print(f"\n[bold]{escape(title)}[/bold]")

    def say(self, text: str) -> None:
        """A fact that was found."""
        self._console.print(f"  {escape(text)}")

    def doing(self, text: str) -> None:
        """What is going on inside `working`; said again only when it changes."""
        if text == self._last:
            return
        self._last = text
        if self._progress is not None:
            self._progress.update(self._task, description=escape(text[:SHOWN]))
        else:
            self._console.print(f"  [dim]{escape(text)} ...[/dim]")

    def printed(self, text: str) -> None:
        """What the notebook printed."""
        for line in text.splitlines():
            if line.strip():
                self._console.print(f"  [dim]| {escape(line[: 2 * SHOWN])}[/dim]")

    @contextlib.contextmanager
    def working(self, text: str) -> Iterator[None]:
        """Show that something goes on until it has ended."""
        self._last = ""
        if not self._console.is_terminal:
            self.doing(text)
            yield
            return
        columns = (TextColumn(" "), SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self._console, transient=True) as progress:
            self._progress, self._task = progress, progress.add_task(escape(text), total=None)
            try:
                yield
            finally:
                self._progress = None
