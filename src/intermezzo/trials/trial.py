"""One trial from beginning to end: a private installation (or the one that is up), the story, the report on disk."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from intermezzo.client import Intermezzo
from intermezzo.config.settings import Settings
from intermezzo.reports import page
from intermezzo.reports.trial import TrialReport
from intermezzo.trials import account, notebook, paper
from intermezzo.trials.ending import ends_on_sigterm
from intermezzo.trials.installation import installation, stop_command
from intermezzo.trials.story import Story
from intermezzo.trials.voice import Voice
from intermezzo.trials.workspaces import Choice, Workspaces

PACKAGED = Path(__file__).with_name("experiment.ipynb")
IN_REPOSITORY = Path(__file__).parents[3] / "examples" / "experiment.ipynb"


@dataclass(frozen=True, slots=True)
class Options:
    """What to try and where to put the report. `here` uses the installation that is up; `keep` leaves everything."""

    notebook: Path | None = None
    output: Path = Path("trial")
    pod: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    here: bool = False
    keep: bool = False


def run(settings: Settings, options: Options, voice: Voice) -> TrialReport:
    """Run the trial and write `report.json` and `report.html`.

    Raises `InvalidInput` for what is no notebook or no place for a report, before anything is made, and the errors of
    the API if not even a workspace could be made.
    """
    chosen = notebook.read(options.notebook or (PACKAGED if PACKAGED.is_file() else IN_REPOSITORY))
    paper.prepare(options.output)
    with ends_on_sigterm(), _installation(settings, options, voice) as client:
        workspaces = Workspaces(client, Choice(options.pod, options.env), voice)
        with workspaces.cleared(options.keep or not options.here):
            found = Story(client, workspaces, chosen, voice).run()
    report = account.report(found)
    write(report, options.output)
    return report


def write(report: TrialReport, folder: Path) -> None:
    """Put the report into a folder, each file whole or not at all."""
    report_json = report.model_dump_json(indent=2) + "\n"
    paper.write(folder, {paper.JSON_NAME: report_json, paper.PAGE_NAME: page.render(report)})


@contextlib.contextmanager
def _installation(settings: Settings, options: Options, voice: Voice) -> Iterator[Intermezzo]:
    if options.here:
        with Intermezzo.local(settings.connection_file) as client:
            yield client
        return
    voice.step("0  An installation of its own for this trial")
    with contextlib.ExitStack() as stack:
        with voice.working("bringing it up"):
            client = stack.enter_context(installation(settings, options.keep))
        yield client
        voice.step("Done")
        if options.keep:
            voice.say(f"The installation stays up. Stop it with: {stop_command(settings)}")
        else:
            voice.doing("taking the installation down")
