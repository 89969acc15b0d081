"""Who may do what: roles, teams, scopes, and the one rule that every door asks. Pure; it never looks anything up.

A workspace belongs to its owner, in a namespace that belongs to a team. Only its owner may enter a session: whoever
opens a notebook runs its code with their own rights in the browser, so nobody is let into a stranger's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from intermezzo.domain.names import fold


class Role(StrEnum):
    """What an account is in the whole installation. An auditor reads everything and changes nothing."""

    USER = "user"
    PLATFORM_ADMIN = "platform-admin"
    AUDITOR = "auditor"


class TeamRole(StrEnum):
    """What an account is in one team."""

    MEMBER = "member"
    ADMIN = "admin"


class Scope(StrEnum):
    """What a credential is good for, at most; it never gives more than its account has."""

    READ = "read"
    WRITE = "write"
    CONNECT = "connect"
    ADMIN = "admin"


ALL_SCOPES = frozenset(Scope)


class Verb(StrEnum):
    """The sorts of thing that somebody may do.

    `see` a workspace's state, history, log and snapshots; `change` it (pause, resume, restart, delete); `connect` to
    its session (open it, run code, read its files); `export` its files, which an administrator may too, for the work
    of somebody who has left; `create` one in a namespace; `oversee` the installation (all
    accounts, tokens, audit, who holds what); `administer` accounts, teams, namespaces and kinds.
    """

    SEE = "see"
    CHANGE = "change"
    CONNECT = "connect"
    EXPORT = "export"
    CREATE = "create"
    OVERSEE = "oversee"
    ADMINISTER = "administer"


SCOPE_FOR: dict[Verb, Scope] = {
    Verb.SEE: Scope.READ,
    Verb.CHANGE: Scope.WRITE,
    Verb.CONNECT: Scope.CONNECT,
    Verb.EXPORT: Scope.CONNECT,
    Verb.CREATE: Scope.WRITE,
    Verb.OVERSEE: Scope.READ,
    Verb.ADMINISTER: Scope.ADMIN,
}


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is asking, as far as decisions need it. `credential` is the public id of the session or token used, or of
    the account itself where a trusted proxy vouches; `teams` maps each namespace (case-folded) to the role in the
    team that owns it."""

    subject: str
    role: Role = Role.USER
    teams: Mapping[str, TeamRole] = field(default_factory=dict, hash=False)
    scopes: frozenset[Scope] = ALL_SCOPES
    credential: str = ""

    def owns(self, owner: str) -> bool:
        """Whether that is the same account; names compare by their case-folded form."""
        return fold(self.subject) == fold(owner)

    def in_team(self, namespace: str) -> TeamRole | None:
        """The role in the team that owns a namespace; None outside of it."""
        return self.teams.get(fold(namespace))


def may(identity: Identity, verb: Verb, namespace: str = "", owner: str = "") -> bool:
    """Whether `identity` may do that: to the workspace of `owner` in `namespace`, in `namespace`, or in all."""
    if SCOPE_FOR[verb] not in identity.scopes:
        return False
    admin, auditor = identity.role is Role.PLATFORM_ADMIN, identity.role is Role.AUDITOR
    if verb is Verb.ADMINISTER:
        return admin
    if verb is Verb.OVERSEE:
        return admin or auditor
    if verb is Verb.SEE and auditor:
        return True
    if auditor:
        return False
    team = identity.in_team(namespace)
    if verb is Verb.CREATE:
        return admin or team is not None
    own = bool(owner) and identity.owns(owner) and (admin or team is not None)
    if verb is Verb.CONNECT:
        return own
    return own or admin or team is TeamRole.ADMIN
