"""One trial under contention from beginning to end: an installation of its own, the story, the report on disk."""

from dataclasses import dataclass
from pathlib import Path

from intermezzo.config.settings import Settings
from intermezzo.domain.errors import InvalidInput
from intermezzo.reports import contention_page
from intermezzo.reports.contention import ContentionReport
from intermezzo.trials import paper
from intermezzo.trials.contention import account
from intermezzo.trials.contention.story import Story
from intermezzo.trials.ending import ends_on_sigterm
from intermezzo.trials.ground import Ground, Needs
from intermezzo.trials.installation import narrated
from intermezzo.trials.voice import Voice

FEWEST, MOST = 2, 40
MOST_PLACES = 8
WORK_S = 2.0


@dataclass(frozen=True, slots=True)
class Options:
    """How many come back, and where the report goes. `keep` leaves everything up."""

    people: int
    output: Path = Path("trial")
    keep: bool = False


def run(settings: Settings, options: Options, voice: Voice) -> ContentionReport:
    """Run the trial and write `report.json` and `report.html`. Raises `InvalidInput` before anything is made."""
    needs = Needs(accelerators=places_for(options.people))
    paper.prepare(options.output)
    with ends_on_sigterm(), narrated(settings, needs, options.keep, voice) as ground:
        return on(ground, options, voice)


def on(ground: Ground, options: Options, voice: Voice, work_s: float = WORK_S) -> ContentionReport:
    """The same on a given ground, where everybody works for `work_s` seconds."""
    report = account.report(Story(ground, options.people, places_for(options.people), work_s, voice).run())
    report_json = report.model_dump_json(indent=2) + "\n"
    paper.write(options.output, {paper.JSON_NAME: report_json, paper.PAGE_NAME: contention_page.render(report)})
    return report


def places_for(people: int) -> int:
    """How many places there are for so many: about half, so that most have to wait. Raises `InvalidInput`."""
    if not FEWEST <= people <= MOST:
        problem = f"must be from {FEWEST} to {MOST}"
        raise InvalidInput(f"contention {problem}", fields={"contention": problem})
    return max(2, min(people // 2, MOST_PLACES))
