"""The end of a failure trial on a terminal: what was shown, what came back, what is on the disk."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from intermezzo.reports.failure import FailureReport
from intermezzo.reports.figures import seconds, size


def show(report: FailureReport, console: Console) -> None:
    """Print it."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, text in _facts(report):
        table.add_row(name, escape(text))
    console.print()
    console.print(table)
    console.print()
    mark = "[bold green]✓[/bold green]" if report.passed else "[bold red]✗[/bold red]"
    console.print(f"{mark} {escape(headline(report))}")


def headline(report: FailureReport) -> str:
    """The result in one sentence."""
    if not report.passed:
        return f"Not shown: {'; '.join(report.shortcomings)}."
    return (
        "One clear state and no restore while nothing could restore it; the work came back from files and checkpoint "
        f"in {seconds(report.recovered.seconds)}, and the session itself once it could; nothing is left over."
    )


def _facts(report: FailureReport) -> list[tuple[str, str]]:
    without, shown = report.without, report.without.shown
    stored = [
        f"{each.when} {size(sum(each.on_disk.values()))}{'' if each.agrees else ' (NOT as listed)'}"
        for each in report.stored
    ]
    return [
        ("taken away", without.why or "nothing"),
        ("shown", shown[-1].message or shown[-1].state if shown else "nothing"),
        ("asked for", f"{len(without.asked)} times, {without.operations} operation, {without.attempts} restores begun"),
        ("from files", f"{seconds(report.recovered.seconds)}, {report.recovered.verdict.value}"),
        ("resumed later", f"{seconds(report.back.seconds)}, {report.back.verdict.value}"),
        ("stored", "; ".join(stored) or "nothing"),
        ("left over", ", ".join(report.left_over) or "nothing"),
    ]
