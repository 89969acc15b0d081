"""One trial from beginning to end: a private installation (or the one that is up), the story, the report on disk."""

import contextlib
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from intermezzo.client import Intermezzo
from intermezzo.config.settings import Settings
from intermezzo.domain.errors import InvalidInput
from intermezzo.reports import page
from intermezzo.reports.trial import TrialReport
from intermezzo.trials import account, notebook
from intermezzo.trials.installation import installation, stop_command
from intermezzo.trials.story import Story
from intermezzo.trials.voice import Voice
from intermezzo.trials.workspaces import Choice, Workspaces

PACKAGED = Path(__file__).with_name("experiment.ipynb")
IN_REPOSITORY = Path(__file__).parents[3] / "examples" / "experiment.ipynb"
JSON_NAME = "report.json"
PAGE_NAME = "report.html"


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
    _prepare(options.output)
    with _ends_on_sigterm(), _installation(settings, options, voice) as client:
        workspaces = Workspaces(client, Choice(options.pod, options.env), voice)
        with workspaces.cleared(options.keep or not options.here):
            found = Story(client, workspaces, chosen, voice).run()
    report = account.report(found)
    write(report, options.output)
    return report


def write(report: TrialReport, folder: Path) -> None:
    """Put the report into a folder, each file whole or not at all."""
    contents = {JSON_NAME: report.model_dump_json(indent=2) + "\n", PAGE_NAME: page.render(report)}
    for name, content in contents.items():
        aside = folder / f".{name}.new"
        aside.write_text(content, "utf-8")
        aside.replace(folder / name)


def _prepare(folder: Path) -> None:
    """The report of an earlier trial goes first: what is there afterwards is this trial's or nothing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (JSON_NAME, PAGE_NAME):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot be written to: {error.strerror}"
        raise InvalidInput(f"output: {folder} {problem}", fields={"output": problem}) from None


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


@contextlib.contextmanager
def _ends_on_sigterm() -> Iterator[None]:
    """A trial that is told to end takes down what it made, as it does on Ctrl-C."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
