"""What a person can do about a workspace now, and what each way means. Pure: from the record and one table.

The sentences stand in the template; here it is only settled which of them fits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from intermezzo.domain import reasons
from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.lifecycle import ALLOWED, Command
from intermezzo.domain.workspace import OperationKind, Phase, Workspace


@dataclass(frozen=True, slots=True)
class Way:
    """A button: the words on it and the command that it gives; without one it leads to the snapshots to choose from."""

    words: str
    command: Command | None = None


_ATTEMPTED = {
    OperationKind.START: Command.RESTART,
    OperationKind.RESUME: Command.RESUME,
    OperationKind.PAUSE: Command.PAUSE,
}

_OFFERED = {reasons.OLDER_SNAPSHOT: Command.RESUME, reasons.FRESH_START: Command.RESTART}


def allowed(record: Workspace, identity: Identity) -> tuple[Command, ...]:
    """What this person may ask for in this phase."""
    if not may(identity, Verb.CHANGE, record.key.namespace, record.owner):
        return ()
    return tuple(ALLOWED[record.phase])


def may_enter(record: Workspace, identity: Identity) -> bool:
    """Whether this person may open the session, now that there is one."""
    return record.phase is Phase.RUNNING and may(identity, Verb.CONNECT, record.key.namespace, record.owner)


def ways_out(record: Workspace, identity: Identity) -> list[Way]:
    """The ways out of what went wrong, safest first, one button a command."""
    possible = allowed(record, identity)
    found: dict[Command | None, Way] = {}
    for way in _named(record):
        if (way.command or Command.RESUME) in possible:
            found.setdefault(way.command, way)
    return list(found.values())


def _named(record: Workspace) -> Iterator[Way]:
    for words in record.condition.ways_out if record.condition else ():
        if words == reasons.RETRY:
            tried = _ATTEMPTED.get(record.last_operation.kind) if record.last_operation else None
            yield Way(words, tried or Command.RESUME)
        elif words == reasons.ANOTHER_SNAPSHOT:
            yield Way(words)
        elif words in _OFFERED:
            yield Way(words, _OFFERED[words])
