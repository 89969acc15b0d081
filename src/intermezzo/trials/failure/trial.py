"""One failure trial from beginning to end: an installation of its own, the story, the report on disk."""

from dataclasses import dataclass
from pathlib import Path

from intermezzo.config.settings import Settings
from intermezzo.reports import failure_page
from intermezzo.reports.failure import FailureReport
from intermezzo.trials import paper
from intermezzo.trials.ending import ends_on_sigterm
from intermezzo.trials.failure import account
from intermezzo.trials.failure.story import Story
from intermezzo.trials.ground import Ground, Needs
from intermezzo.trials.installation import narrated
from intermezzo.trials.voice import Voice

WATCH_S = 3.0


@dataclass(frozen=True, slots=True)
class Options:
    """Where the report goes. `keep` leaves everything up."""

    output: Path = Path("trial")
    keep: bool = False


def run(settings: Settings, options: Options, voice: Voice) -> FailureReport:
    """Run the trial and write `report.json` and `report.html`. Raises `InvalidInput` before anything is made."""
    paper.prepare(options.output)
    with ends_on_sigterm(), narrated(settings, Needs(keep_snapshots=2), options.keep, voice) as ground:
        return on(ground, options, voice)


def on(ground: Ground, options: Options, voice: Voice, watch_s: float = WATCH_S) -> FailureReport:
    """The same on a given ground, where what is shown is watched for `watch_s` seconds."""
    report = account.report(Story(ground, watch_s, voice).run())
    report_json = report.model_dump_json(indent=2) + "\n"
    paper.write(options.output, {paper.JSON_NAME: report_json, paper.PAGE_NAME: failure_page.render(report)})
    return report
