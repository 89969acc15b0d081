"""The ways out of what went wrong, in short, for commands that end with it."""

from collections.abc import Iterator

from intermezzo.cli.base import Session
from intermezzo.cli.words import typed
from intermezzo.client.workspace_models import WorkspaceDetail


def ways_out(session: Session, found: WorkspaceDetail) -> Iterator[str]:
    """A line for each way that is offered, and at the end where all of them are explained; nothing if all is well."""
    if not (found.condition and found.condition.ways_out):
        return
    for way in session.client.recovery.ways(f"{found.namespace}/{found.name}"):
        if way.offered:
            yield f"{way.words}: `{way.typed}`" if way.possible else f"{way.words}: not now. {way.obstacle}"
    yield f"what each brings back and loses: `intermezzo recover {typed(found)}`"
