"""The command for a release checklist; the check lives in `intermezzo.trials.release` and is loaded on demand."""

from pathlib import Path

import click

from intermezzo.cli.announce import milliseconds
from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.client import Intermezzo
from intermezzo.domain.errors import Unreachable

FILE = click.Path(path_type=Path)


@click.command(
    "release-check",
    cls=Command,
    examples=[
        "release-check --to kinds/new.yaml",
        "release-check --from kinds/old.yaml --to kinds/new.yaml --json",
        "release-check --to-engine ./runsc --at 2026-12-01T20:00 --announce",
    ],
    fields={
        "old.documents": "--from",
        "new.documents": "--to",
        "old.engine": "--from-engine",
        "new.engine": "--to-engine",
    },
)
@click.option("--from", "old", type=FILE, default=None, help="Kinds and policies as they were; else as they hold here.")
@click.option("--to", "new", type=FILE, default=None, help="Kinds and policies as they will be.")
@click.option("--from-engine", "old_engine", type=FILE, default=None, help="The old `runsc`; else the one in use.")
@click.option("--to-engine", "new_engine", type=FILE, default=None, help="The new `runsc`; else the one in use.")
@click.option("--kind", default="", help="The kind of the test session; else the first one in the files.")
@click.option("--pod", default="", help="Its size; else the kind's default.")
@click.option(
    "--at", metavar="TIME", default="", help="When the upgrade comes: 2026-12-01T20:00, for the announcement."
)
@click.option("--announce", is_flag=True, help="Tell those concerned; else the texts are only prepared.")
@click.option("--output", type=FILE, default=Path("release-check"), show_default=True, help="Where the report goes.")
@click.option("--keep", is_flag=True, help="Leave the check's own installation up to look at.")
@pass_session
def release_check(
    session: Session,
    old: Path | None,
    new: Path | None,
    old_engine: Path | None,
    new_engine: Path | None,
    kind: str,
    pod: str,
    at: str,
    announce: bool,
    output: Path,
    keep: bool,
) -> Exit:
    """Check whether sessions that are saved now come back after an upgrade of kinds, of the engine, or of both.

    In an installation of its own, makes a session under the old conditions, pauses it, resumes it under the new ones,
    and tells restored from fresh by the value in its memory and the file that it holds open. Then sees an old snapshot
    expire. Lists whose sessions would become unusable here, and prepares what they should be told. Ends with 0 for
    restored, 7 for fresh, 8 for unusable, 1 if the check itself failed.
    """
    from intermezzo.reports.release import Outcome
    from intermezzo.trials.paper import PAGE_NAME
    from intermezzo.trials.release import summary
    from intermezzo.trials.release.edition import Change, of_file
    from intermezzo.trials.release.trial import Options, run
    from intermezzo.trials.voice import Voice

    begins = milliseconds(at) if at else 0
    change = Change(of_file(old, old_engine, "old"), of_file(new, new_engine, "new"), kind, pod)
    options = Options(change, output, begins, announce, keep)
    report = run(session.loaded.settings, options, Voice(session.output.remarks), _here(session))
    session.output.data(report)
    if not session.output.as_json:
        summary.show(report, session.output.console)
    session.output.say(f"Report: {output / PAGE_NAME}")
    if not report.passed:
        session.output.remark(f"Error: {'; '.join(report.shortcomings)}")
        if report.hint:
            session.output.remark(f"Hint: {report.hint}")
    return {
        Outcome.RESTORED: Exit.OK,
        Outcome.FRESH: Exit.FRESH,
        Outcome.UNUSABLE: Exit.UNUSABLE,
        Outcome.FAILED: Exit.FAILED,
    }[report.outcome]


def _here(session: Session) -> Intermezzo | None:
    """The installation that people use, if one is up."""
    try:
        return session.client
    except Unreachable:
        return None
