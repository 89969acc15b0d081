"""The end of a trial under contention on a terminal: each person's wait, and what was and was not so."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from intermezzo.reports.contention import ContentionReport, Returning
from intermezzo.reports.figures import seconds


def show(report: ContentionReport, console: Console) -> None:
    """Print it."""
    table = Table(pad_edge=False)
    for column in ("who", "waited", "restored in", "next cell after", "verdict", "told first"):
        table.add_column(column, overflow="fold")
    for each in report.returning:
        table.add_row(*(escape(text) for text in _row(each)))
    console.print()
    console.print(table)
    console.print()
    mark = "[bold green]✓[/bold green]" if report.passed else "[bold red]✗[/bold red]"
    console.print(f"{mark} {escape(headline(report))}")
    if report.virtual:
        console.print(
            "  The accelerators are virtual: declared for capacity and queueing; there is no such hardware here."
        )


def headline(report: ContentionReport) -> str:
    """The result in one sentence."""
    if not report.passed:
        return f"Not shown: {'; '.join(report.shortcomings)}."
    return (
        f"{report.served} of {report.people} were served on {report.places} places, in order, never more than "
        f"{report.most_held} at a time; the longest wait was {seconds(report.longest_wait_s)}."
    )


def _row(each: Returning) -> tuple[str, ...]:
    told = f"place {each.told[0].position}: {each.told[0].reason}" if each.told else "there was room"
    value = "" if each.value_kept else ", value lost"
    times = (seconds(each.waited_s), seconds(each.restored_s), seconds(each.answered_s))
    return each.name, *times, f"{each.verdict.value}{value}", told
