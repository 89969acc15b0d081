"""The end of a release check on a terminal."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from intermezzo.reports.figures import seconds, size
from intermezzo.reports.release import Edition, ReleaseReport, Session
from intermezzo.reports.release_page import HEADLINES


def show(report: ReleaseReport, console: Console) -> None:
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
    console.print(f"{mark} {escape(HEADLINES[report.outcome])}.")


def _facts(report: ReleaseReport) -> list[tuple[str, str]]:
    session, expiry = report.session, report.expiry
    losing = [f"{each.namespace}/{each.name} of {each.owner}: {each.why}" for each in report.losing]
    nobody = f"not looked at: {report.not_looked}" if report.not_looked else "nobody's"
    return [
        ("old", _edition(report.old)),
        ("new", _edition(report.new)),
        ("test session", f"{session.kind}, {_told(session)}"),
        ("in the way", "; ".join(session.differences) or "nothing"),
        ("expired", f"{expiry.expired or 'nothing'}, {size(expiry.bytes_freed)} gone"),
        ("unusable here", "\n".join(losing) or nobody),
    ]


def _told(session: Session) -> str:
    """What came of it: how soon it was there, or what it showed instead."""
    ready = f", ready after {seconds(session.resume_s)}" if session.resume_s is not None else ""
    return session.shown or session.problem or f"{session.verdict.value}{ready}"


def _edition(each: Edition) -> str:
    documents = f", {', '.join(each.documents)}" if each.documents else ""
    return f"{each.engine} {each.engine_version}{documents}{f' ({each.source})' if each.source else ''}"
