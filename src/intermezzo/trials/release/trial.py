"""One release check from beginning to end: an installation of its own, the story, whom it concerns, the report."""

from dataclasses import dataclass, replace
from pathlib import Path

from intermezzo.client import Intermezzo
from intermezzo.config.settings import Settings
from intermezzo.domain.errors import Forbidden, IntermezzoError, InvalidInput, Unreachable
from intermezzo.domain.notice import ANNOUNCEMENT_LENGTH
from intermezzo.reports import announcement, release_page
from intermezzo.reports.release import Announcement, Outcome, ReleaseReport
from intermezzo.trials import paper
from intermezzo.trials.ending import ends_on_sigterm
from intermezzo.trials.ground import Ground, Needs
from intermezzo.trials.installation import narrated
from intermezzo.trials.release import account, edition
from intermezzo.trials.release.concerned import losing
from intermezzo.trials.release.edition import Change
from intermezzo.trials.release.findings import Findings
from intermezzo.trials.release.story import Story
from intermezzo.trials.voice import Voice

WATCH_S = 3.0
TEXTS = tuple(f"announcement.{language}.txt" for language in announcement.LANGUAGES)


@dataclass(frozen=True, slots=True)
class Options:
    """What is to be checked and where the report goes. `at` is when the upgrade comes (epoch milliseconds), 0 where
    that is not known; `announce` tells those concerned; `keep` leaves the installation of the check up."""

    change: Change
    output: Path = Path("release-check")
    at: int = 0
    announce: bool = False
    keep: bool = False


def run(settings: Settings, options: Options, voice: Voice, here: Intermezzo | None) -> ReleaseReport:
    """Check and write `report.json`, `report.html` and the announcement's texts. `here` is the installation that people
    use, None if none is up. Raises `InvalidInput` or `Unreachable` before anything is made."""
    if options.announce and here is None:
        raise Unreachable("nobody can be told: Intermezzo is not running here", "start it with `intermezzo up`")
    options = replace(options, change=_complete(options.change, here))
    paper.prepare(options.output, (paper.JSON_NAME, paper.PAGE_NAME, *TEXTS))
    needs = Needs(engine=options.change.old.engine, keep_snapshots=1)
    with ends_on_sigterm(), narrated(settings, needs, options.keep, voice) as ground:
        return on(ground, options, voice, here)


def on(
    ground: Ground, options: Options, voice: Voice, here: Intermezzo | None, watch_s: float = WATCH_S
) -> ReleaseReport:
    """The same on a given ground."""
    found = Story(ground, options.change, watch_s, voice).run()
    _look(found, here, voice)
    outcome = account.outcome_of(found)
    report = account.report(found, _announcement(found, outcome, options, here, voice))
    report_json = report.model_dump_json(indent=2) + "\n"
    written = {f"announcement.{language}.txt": text + "\n" for language, text in report.announcement.texts.items()}
    paper.write(options.output, {paper.JSON_NAME: report_json, paper.PAGE_NAME: release_page.render(report), **written})
    return report


def _complete(change: Change, here: Intermezzo | None) -> Change:
    """Where no old documents are named, the old ones are those that hold here now, else the shipped ones."""
    if change.new == change.old:
        raise InvalidInput(
            "the old and the new conditions are the same",
            "Name what is new with --to or --to-engine.",
            {"new.documents": "is missing"},
        )
    if change.old.conditions:
        return change
    names = [kind.name for kind in change.new.kinds] or [change.tested]
    try:
        if here is not None:
            return replace(change, old=edition.standing(here, names, change.old.engine))
    except Forbidden as forbidden:
        shipped = f"as shipped, since those that hold here may not be read: {forbidden.message}"
        return replace(change, old=replace(change.old, source=shipped))
    return replace(change, old=replace(change.old, source="as shipped"))


def _look(found: Findings, here: Intermezzo | None, voice: Voice) -> None:
    """Whose sessions would become unusable where people work."""
    voice.step("6  Whose sessions would become unusable here")
    if here is None:
        found.not_looked = "Intermezzo is not running here"
    else:
        changes_engine = found.change.new.engine != found.change.old.engine
        engine = found.new_node.engine if found.new_node and changes_engine else None
        try:
            found.losing = losing(here, found.change.new, engine)
        except IntermezzoError as error:
            found.not_looked = error.message.rstrip(".")
    named = "; ".join(f"{each.namespace}/{each.name} of {each.owner}" for each in found.losing)
    voice.say(f"Not looked at: {found.not_looked}." if found.not_looked else named or "Nobody's.")


def _announcement(
    found: Findings, outcome: Outcome, options: Options, here: Intermezzo | None, voice: Voice
) -> Announcement:
    """The texts, and those to whom they were sent if that was asked for."""
    concerned = tuple(sorted({each.kind for each in found.losing}))
    kinds = concerned or ((found.change.tested,) if found.change.new.kinds else ())
    made = Announcement(texts=announcement.texts(outcome, kinds, options.at), kinds=kinds, until=options.at)
    text = announcement.together(made.texts)
    if not options.announce or here is None or not text:
        return made
    if len(text) > ANNOUNCEMENT_LENGTH:
        raise InvalidInput(
            f"the announcement is longer than {ANNOUNCEMENT_LENGTH} characters", "Send the texts by hand."
        )
    sent = tuple(here.notices.announce(text, kind, options.at).id for kind in kinds or ("",))
    voice.say(f"Told: {', '.join(kinds) or 'everybody'}.")
    return made.model_copy(update={"sent": sent})
