"""The command that tries the whole thing; the trial itself lives in `intermezzo.trials` and is loaded on demand."""

from pathlib import Path

import click

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.domain.errors import InvalidInput


@click.command(cls=Command, examples=["trial", "trial --notebook my.ipynb", "trial --here --pod large --json"])
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
    session: Session, notebook: Path | None, output: Path, pod: str, variables: tuple[str, ...], here: bool, keep: bool
) -> Exit:
    """Pause and resume a real notebook, prove that it is the same process, and compare with starting again.

    Writes report.html and report.json. Ends with 0 only if the very same process went on with the same files, others
    used the hardware meanwhile, and the recovery from files and checkpoint worked too.
    """
    from intermezzo.trials import summary
    from intermezzo.trials.trial import PAGE_NAME, Options, run
    from intermezzo.trials.voice import Voice

    options = Options(notebook, output, pod, _environment(variables), here, keep)
    report = run(session.loaded.settings, options, Voice(session.output.remarks))
    session.output.data(report)
    if not session.output.as_json:
        summary.show(report, session.output.console)
        session.output.say(f"Report: {output / PAGE_NAME}")
    if report.passed:
        return Exit.OK
    session.output.remark(f"Error: {'; '.join(report.shortcomings)}")
    if report.hint:
        session.output.remark(f"Hint: {report.hint}")
    return Exit.FAILED


def _environment(variables: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not name or not equals:
            raise InvalidInput(f"--env {variable!r} is not KEY=VALUE", fields={"env": "must be KEY=VALUE"})
        pairs[name] = value
    return pairs
