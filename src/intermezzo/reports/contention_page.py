"""The report of a trial under contention as one HTML page, with who waited and who held drawn to scale."""

from intermezzo.reports.contention import ContentionReport
from intermezzo.reports.sheet import sheets
from intermezzo.reports.timeline import timeline


def render(report: ContentionReport) -> str:
    """The whole page."""
    names = {wait.name for wait in report.waits}
    held = sorted((hold for hold in report.holds if hold.name in names), key=lambda hold: _row(report, hold.name))
    first = min((wait.start for wait in report.waits), default=report.began_at)
    last = max((hold.end or report.ended_at for hold in report.holds), default=report.ended_at)
    waiting, holding = (timeline(spans, (), first, last) for spans in (report.waits, held))
    rows = {name: index for index, name in enumerate(waiting.rows)}
    template = sheets().get_template("contention.html.jinja")
    return template.render(report=report, waiting=waiting, holding=holding, rows=rows)


def _row(report: ContentionReport, name: str) -> int:
    return next(index for index, wait in enumerate(report.waits) if wait.name == name)
