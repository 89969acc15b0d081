"""The end of a trial on a terminal: both results side by side, and what was and was not so."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from intermezzo.reports.figures import compute, seconds, size, times
from intermezzo.reports.trial import TrialReport, Way


def show(report: TrialReport, console: Console) -> None:
    """Print it."""
    console.print()
    console.print(_facts(report))
    console.print()
    console.print(_ways(report))
    console.print()
    mark = "[bold green]✓[/bold green]" if report.passed else "[bold red]✗[/bold red]"
    console.print(f"{mark} {escape(headline(report))}")
    if report.accelerator and report.released and report.released.virtual:
        console.print(f"  {escape(report.accelerator)}")


def headline(report: TrialReport) -> str:
    """The result in one sentence."""
    if not report.passed:
        return f"Not shown: {'; '.join(report.shortcomings)}."
    took = seconds(report.timings_s.resume_to_next_cell)
    faster = times(report.timings_s.recovery_from_files, report.timings_s.resume_to_next_cell)
    beside = f", {faster} as fast as from files and checkpoint" if faster else ""
    return f"Restored: the same process ran the next cell {took} after the resume was asked for{beside}."


def _facts(report: TrialReport) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    taken, timings = report.taken_by_other, report.timings_s
    facts = (
        ("verdict", report.verdict.value),
        ("same process", f"pid {_yes(report.same_pid)}, value in memory {_yes(report.same_nonce)}"),
        ("same files", _yes(report.files_equal)),
        ("released", compute(report.released) if report.released else "nothing"),
        ("free after", seconds(timings.pause_to_free)),
        ("taken by", taken.name if taken else "nobody"),
        ("stayed stored", f"home {size(report.kept_bytes.home)}, snapshot {size(report.kept_bytes.snapshot)}"),
        ("resume to ready", seconds(timings.resume_to_ready)),
    )
    for name, text in facts:
        table.add_row(name, escape(text))
    return table


def _ways(report: TrialReport) -> Table:
    table = Table(pad_edge=False)
    for column in ("way to the next cell", "seconds", "came back", "did not"):
        table.add_column(column, overflow="fold", justify="right" if column == "seconds" else "left")
    for way in report.ways:
        table.add_row(*(escape(text) for text in _row(way)))
    return table


def _row(way: Way) -> tuple[str, ...]:
    return way.name, seconds(way.seconds), "\n".join(way.came_back), "\n".join(way.missing)


def _yes(is_so: bool) -> str:
    return "the same" if is_so else "NOT the same"
