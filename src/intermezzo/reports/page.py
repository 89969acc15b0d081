"""The trial's report as one HTML page that needs nothing else: no other host, no script, light and dark, printable."""

from intermezzo.reports.sheet import sheets
from intermezzo.reports.timeline import timeline
from intermezzo.reports.trial import TrialReport

MARKED = ("pause asked", "resume asked", "fresh start asked")


def render(report: TrialReport) -> str:
    """The whole page. Every text in it is escaped: names and outputs come from users."""
    marks = [moment for moment in report.moments if moment.name in MARKED]
    first = min((hold.start for hold in report.holds), default=report.began_at)
    drawing = timeline(report.holds, marks, first, report.ended_at)
    longest = max((way.seconds or 0 for way in report.ways), default=0)
    return sheets().get_template("trial.html.jinja").render(report=report, drawing=drawing, longest=longest)
