"""The report of a failure trial as one HTML page."""

from intermezzo.reports.failure import FailureReport
from intermezzo.reports.sheet import sheets


def render(report: FailureReport) -> str:
    """The whole page."""
    return sheets().get_template("failure.html.jinja").render(report=report)
