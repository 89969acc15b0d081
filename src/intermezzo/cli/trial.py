"""The command that tries the whole thing; the trials live in `intermezzo.trials` and are loaded on demand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import click

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.domain.errors import InvalidInput

ONLY_ITS_OWN = "takes place in an installation of its own, with sessions of its own"


class Report(Protocol):
    """What every trial's report says."""

    @property
    def passed(self) -> bool: ...  # noqa: D102

    @property
    def shortcomings(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def hint(self) -> str: ...  # noqa: D102


@click.command(
    cls=Command,
    examples=[
        "trial",
        "trial --notebook my.ipynb",
        "trial --here --pod large --json",
        "trial --contention 6",
        "trial --failure --output failure-trial",
    ],
)
@click.option(
    "--contention", type=int, default=None, metavar="N", help="Instead: N people return at once to fewer places."
)
@click.option("--failure", is_flag=True, help="Instead: compatible capacity is gone when the session is wanted back.")
@click.option("--notebook", type=click.Path(path_type=Path), default=None, help="Your own notebook instead.")
@click.option(
    "--output", type=click.Path(path_type=Path), default=Path("trial"), show_default=True, help="Where the report goes."
)
@click.option("--pod", default="", help="The size of the workspaces; one with an accelerator if there is any.")
@click.option(
    "--env", "variables", multiple=True, metavar="KEY=VALUE", help="An environment variable for the notebook."
)
@click.option("--here", is_flag=True, help="Use the installation that is up, not one of the trial's own.")
@click.option("--keep", is_flag=True, help="Leave workspaces and installation up to look at.")
@pass_session
def trial(
    session: Session,
    contention: int | None,
    failure: bool,
    notebook: Path | None,
    output: Path,
    pod: str,
    variables: tuple[str, ...],
    here: bool,
    keep: bool,
) -> Exit:
    """Pause and resume a real notebook, prove that it is the same process, and compare with starting again.

    Writes report.html and report.json. Ends with 0 only if the very same process went on with the same files, others
    used the hardware meanwhile, and the recovery from files and checkpoint worked too.

    With --contention, N people return at once to about half as many places: ends with 0 only if all are served, in
    order, never more than there are places for. With --failure, nothing can bring the session back for a while: ends
    with 0 only if one clear state is shown, nothing is restored twice, and files, snapshots and disk are right in the
    end.
    """
    given = {"--notebook": notebook, "--pod": pod, "--env": variables, "--here": here}
    if contention is not None and failure:
        raise InvalidInput("--contention and --failure are two trials", "Run one after the other.")
    if contention is not None:
        _require_none_of(given, "--contention")
        return _contention(session, contention, output, keep)
    if failure:
        _require_none_of(given, "--failure")
        return _failure(session, output, keep)
    return _notebook(session, notebook, output, pod, variables, here, keep)


def _notebook(
    session: Session, notebook: Path | None, output: Path, pod: str, variables: tuple[str, ...], here: bool, keep: bool
) -> Exit:
    from intermezzo.trials import summary
    from intermezzo.trials.trial import Options, run
    from intermezzo.trials.voice import Voice

    options = Options(notebook, output, pod, _environment(variables), here, keep)
    report = run(session.loaded.settings, options, Voice(session.output.remarks))
    session.output.data(report)
    if not session.output.as_json:
        summary.show(report, session.output.console)
    return _ended(session, report, output)


def _contention(session: Session, people: int, output: Path, keep: bool) -> Exit:
    from intermezzo.trials.contention import summary
    from intermezzo.trials.contention.trial import Options, run
    from intermezzo.trials.voice import Voice

    report = run(session.loaded.settings, Options(people, output, keep), Voice(session.output.remarks))
    session.output.data(report)
    if not session.output.as_json:
        summary.show(report, session.output.console)
    return _ended(session, report, output)


def _failure(session: Session, output: Path, keep: bool) -> Exit:
    from intermezzo.trials.failure import summary
    from intermezzo.trials.failure.trial import Options, run
    from intermezzo.trials.voice import Voice

    report = run(session.loaded.settings, Options(output, keep), Voice(session.output.remarks))
    session.output.data(report)
    if not session.output.as_json:
        summary.show(report, session.output.console)
    return _ended(session, report, output)


def _ended(session: Session, report: Report, output: Path) -> Exit:
    from intermezzo.trials.paper import PAGE_NAME

    session.output.say(f"Report: {output / PAGE_NAME}")
    if report.passed:
        return Exit.OK
    session.output.remark(f"Error: {'; '.join(report.shortcomings)}")
    if report.hint:
        session.output.remark(f"Hint: {report.hint}")
    return Exit.FAILED


def _require_none_of(given: Mapping[str, object], trial: str) -> None:
    """Raises `InvalidInput` for an option of the other trial, so that nobody believes that it was heeded."""
    for name, value in given.items():
        if value:
            raise InvalidInput(f"{name} is not for {trial}, which {ONLY_ITS_OWN}", f"Leave out {name}.")


def _environment(variables: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not name or not equals:
            raise InvalidInput(f"--env {variable!r} is not KEY=VALUE", fields={"env": "must be KEY=VALUE"})
        pairs[name] = value
    return pairs
