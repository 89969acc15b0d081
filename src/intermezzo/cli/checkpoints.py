"""The command about application checkpoints: have the programs of a session save one now."""

import click

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.cli.words import size
from intermezzo.cli.workspaces import NAME
from intermezzo.client.checkpoint_models import SaveAnswerShape
from intermezzo.domain.home_record import SaveOutcome

GOOD = {SaveOutcome.SAVED, SaveOutcome.CURRENT}
NO_PROGRAM = (
    "No program in it keeps checkpoints. In the notebook: `from intermezzo import checkpoint`, then make a Keeper."
)


@click.command(cls=Command, examples=["checkpoint exp-17", "checkpoint exp-17 --json"])
@NAME
@pass_session
def checkpoint(session: Session, workspace: str) -> Exit:
    """Have the programs of a running session save an application checkpoint now, at their next safe point."""
    answers = session.client.checkpoint(workspace)
    session.output.data(answers)
    for answer in answers:
        session.output.say(_told(answer))
    if not answers:
        session.output.remark(NO_PROGRAM)
    return Exit.OK if answers and all(answer.outcome in GOOD for answer in answers) else Exit.FAILED


def _told(answer: SaveAnswerShape) -> str:
    match answer.outcome:
        case SaveOutcome.SAVED:
            return f"{answer.series}: saved {answer.label or 'a checkpoint'}, {size(answer.bytes)} in {answer.path}."
        case SaveOutcome.CURRENT:
            return f"{answer.series}: nothing changed since {answer.label or 'the newest one'}, in {answer.path}."
        case _:
            return f"{answer.series or 'a program'}: NOT saved ({answer.outcome.value}): {answer.message}."
