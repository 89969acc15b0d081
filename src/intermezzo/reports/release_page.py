"""The report of a release check as one HTML page."""

from intermezzo.reports.release import Outcome, ReleaseReport
from intermezzo.reports.sheet import sheets

HEADLINES = {
    Outcome.RESTORED: "Restored: the session came back under the new conditions",
    Outcome.FRESH: "Fresh: what answered is not the session that was saved",
    Outcome.UNUSABLE: "Unusable: what is saved under the old conditions cannot come back",
    Outcome.FAILED: "Failed: the check did not come to a good end",
}


def render(report: ReleaseReport) -> str:
    """The whole page."""
    template = sheets().get_template("release.html.jinja")
    return template.render(report=report, heading=HEADLINES[report.outcome])
