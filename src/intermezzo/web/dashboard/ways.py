"""What a person can do about a workspace now. Pure: from the record, one table, and the ways back that it has."""

from collections.abc import Iterable

from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.lifecycle import ALLOWED, Command
from intermezzo.domain.recovery import Way, WayBack
from intermezzo.domain.workspace import Phase, Workspace


def allowed(record: Workspace, identity: Identity) -> tuple[Command, ...]:
    """What this person may ask for in this phase."""
    if not may(identity, Verb.CHANGE, record.key.namespace, record.owner):
        return ()
    return tuple(ALLOWED[record.phase])


def may_enter(record: Workspace, identity: Identity) -> bool:
    """Whether this person may open the session, now that there is one."""
    return record.phase is Phase.RUNNING and may(identity, Verb.CONNECT, record.key.namespace, record.owner)


def may_export(record: Workspace, identity: Identity) -> bool:
    """Whether this person may take the files along, now that they are there to stay."""
    return record.phase is not Phase.DELETING and may(identity, Verb.EXPORT, record.key.namespace, record.owner)


def may_fork(record: Workspace, identity: Identity) -> bool:
    """Whether this person may make a workspace of their own, beside it, of what it had in memory."""
    key = record.key
    reads = may(identity, Verb.CONNECT, key.namespace, record.owner) and record.phase is not Phase.DELETING
    return reads and may(identity, Verb.CREATE, key.namespace)


def ways_out(ways: Iterable[WayBack], record: Workspace, identity: Identity) -> list[WayBack]:
    """Those that are offered and that this person may take."""
    changes = may(identity, Verb.CHANGE, record.key.namespace, record.owner)
    mine = {way: may_export(record, identity) if way is Way.EXPORT else changes for way in Way}
    return [found for found in ways if found.offered and mine[found.way]]
