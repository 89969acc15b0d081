"""What each route needs, as dependencies: they load what the address names and let pass only those who may.

Who may do what is `domain.access` alone. Whoever may not see a workspace is answered as if it were not there; whoever
sees it but may not do what was asked is told so. A route without one of these needs no more than to know who asks.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Annotated

from fastapi import Depends

from intermezzo.domain.access import ALL_SCOPES, SCOPE_FOR, Identity, Role, Scope, Verb, may
from intermezzo.domain.errors import Forbidden, NotFound
from intermezzo.domain.workspace import FinishedOperation, Operation, Workspace, WorkspaceKey
from intermezzo.ports.store import Run
from intermezzo.web.api.common import Control
from intermezzo.web.auth.guard import Caller

THERE_ARE = "`intermezzo list` shows the ones that there are."
REFUSALS: dict[Verb, str] = {
    Verb.SEE: "only its owner and the administrators of its team may see {what}",
    Verb.CHANGE: "only its owner and the administrators of its team may change {what}",
    Verb.CONNECT: "only its owner may enter {what}",
    Verb.EXPORT: "only its owner and the administrators of its team may export the files of {what}",
    Verb.CREATE: "only members of its team may create workspaces and volumes in {what}",
    Verb.OVERSEE: "only administrators and auditors of the installation may see this",
    Verb.ADMINISTER: "only administrators of the installation may do this",
}


def require(identity: Identity, verb: Verb, namespace: str = "", owner: str = "", what: str = "") -> None:
    """Raises `Forbidden` unless `may`, saying whether it is for the account or for a scope that its token lacks;
    `what` is how the thing is called in the sentence."""
    if may(identity, verb, namespace, owner):
        return
    if may(_account_of(identity), verb, namespace, owner):
        scope = SCOPE_FOR[verb].value
        raise Forbidden(f"this token lacks the scope `{scope}`", f"use one with the scope `{scope}`")
    hint = "ask its owner" if verb is Verb.CONNECT else "ask an administrator for the role"
    raise Forbidden(REFUSALS[verb].format(what=what or namespace), hint)


def require_record(identity: Identity, verb: Verb, record: Workspace) -> None:
    """Raises `NotFound` for a workspace that may not even be seen, `Forbidden` for one that is seen."""
    if may(identity, verb, record.key.namespace, record.owner):
        return
    if not may(_account_of(identity), Verb.SEE, record.key.namespace, record.owner):
        raise NotFound(f"there is no workspace {record.key}", THERE_ARE)
    require(identity, verb, record.key.namespace, record.owner, str(record.key))


def may_list(identity: Identity, namespace: str) -> bool:
    """Whether the workspaces of that namespace may be listed, be it only the caller's own."""
    return identity.role in {Role.PLATFORM_ADMIN, Role.AUDITOR} or identity.in_team(namespace) is not None


def require_namespace(identity: Identity, namespace: str) -> None:
    """Raises `Forbidden` unless `may_list`."""
    if not may_list(identity, namespace):
        raise Forbidden(f"you are no member of the team that owns {namespace}", "ask its administrator")


def visible(identity: Identity, records: Iterable[Workspace]) -> list[Workspace]:
    """Those of the records that may be seen, in their order."""
    return [record for record in records if may(identity, Verb.SEE, record.key.namespace, record.owner)]


def _account_of(identity: Identity) -> Identity:
    """What the same account could do with a token that has all scopes."""
    return replace(identity, scopes=ALL_SCOPES)


def _reads(identity: Identity) -> bool:
    return Scope.READ in identity.scopes


def _key(verb: Verb) -> Callable[[str, str, Identity, Control], Awaitable[WorkspaceKey]]:
    async def allowed(namespace: str, name: str, caller: Caller, control: Control) -> WorkspaceKey:
        key = WorkspaceKey(namespace, name)
        try:
            record = await control.get(key)
        except NotFound:
            raise NotFound(f"there is no workspace {key}", THERE_ARE) from None
        require_record(caller, verb, record)
        return record.key

    return allowed


def _run(verb: Verb) -> Callable[[str, Identity, Control], Awaitable[Run]]:
    async def allowed(run_id: str, caller: Caller, control: Control) -> Run:
        run = await control.run(run_id)
        record = await control.find(run.workspace_uid)
        if record is None or not may(caller, Verb.SEE, record.key.namespace, record.owner):
            raise NotFound(f"no run {run_id}")
        require_record(caller, verb, record)
        return run

    return allowed


async def seen_operation(operation_id: str, caller: Caller, control: Control) -> Operation | FinishedOperation:
    """Raises `NotFound` for an operation on a workspace that may not be seen."""
    record, operation = await control.operation(operation_id)
    if not may(caller, Verb.SEE, record.key.namespace, record.owner):
        raise NotFound(f"no operation {operation_id}")
    return operation


def _role(verb: Verb) -> Callable[[Identity], Identity]:
    def allowed(caller: Caller) -> Identity:
        require(caller, verb)
        return caller

    return allowed


def reader(caller: Caller) -> Identity:
    """Raises `Forbidden` for a token that may not read."""
    if not _reads(caller):
        raise Forbidden("this token may not read", "use one with the scope `read`")
    return caller


def writer(caller: Caller) -> Identity:
    """Raises `Forbidden` for a token that may not change anything."""
    if Scope.WRITE not in caller.scopes:
        raise Forbidden("this token may not change anything", "use one with the scope `write`")
    return caller


def unlimited(caller: Caller) -> Identity:
    """Raises `Forbidden` for a token with fewer than all scopes: it must not make itself a better one."""
    if caller.scopes != ALL_SCOPES:
        raise Forbidden("this token may not make or end credentials", "log in, or use a token with all scopes")
    return caller


Reader = Annotated[Identity, Depends(reader)]
Writer = Annotated[Identity, Depends(writer)]
Unlimited = Annotated[Identity, Depends(unlimited)]
Overseer = Annotated[Identity, Depends(_role(Verb.OVERSEE))]
Administrator = Annotated[Identity, Depends(_role(Verb.ADMINISTER))]
SeenKey = Annotated[WorkspaceKey, Depends(_key(Verb.SEE))]
ChangedKey = Annotated[WorkspaceKey, Depends(_key(Verb.CHANGE))]
ExportedKey = Annotated[WorkspaceKey, Depends(_key(Verb.EXPORT))]
ConnectedKey = Annotated[WorkspaceKey, Depends(_key(Verb.CONNECT))]
SeenRun = Annotated[Run, Depends(_run(Verb.SEE))]
ConnectedRun = Annotated[Run, Depends(_run(Verb.CONNECT))]
SeenOperation = Annotated[Operation | FinishedOperation, Depends(seen_operation)]
