"""What the public API says about people: accounts, teams, credentials, the audit. No shape but one carries a secret."""

from collections.abc import Mapping

from pydantic import Field

from intermezzo.client.shape import Shape
from intermezzo.domain.access import Role, Scope, TeamRole
from intermezzo.domain.account import Standing, Use


class AccountShape(Shape):
    """A person or program."""

    subject: str
    role: Role
    standing: Standing
    created_at: int


class IdentityShape(Shape):
    """Who asks, as decisions see them; `teams` is the role by case-folded namespace."""

    subject: str
    role: Role
    teams: Mapping[str, TeamRole]
    scopes: tuple[Scope, ...]
    credential: str


class MemberShape(Shape):
    """Somebody in a team; `source` is `here` or `groups` (of the identity provider)."""

    subject: str
    role: TeamRole
    source: str


class TeamShape(Shape):
    """A team with the namespaces that it alone owns."""

    name: str
    namespaces: tuple[str, ...]
    created_at: int
    members: tuple[MemberShape, ...] = ()


class CredentialShape(Shape):
    """An API token, a session or a login code, without its secret. `expires_at` 0 is never."""

    id: str
    subject: str
    use: Use
    label: str
    scopes: tuple[Scope, ...]
    created_at: int
    expires_at: int
    last_used_at: int


class NewTokenShape(CredentialShape):
    """A new API token with its secret, which is shown this once."""

    token: str = Field(repr=False)


class AuditShape(Shape):
    """One change that was asked for, and the HTTP status that answered it. `subject` is empty if nobody was known."""

    seq: int
    at: int
    subject: str
    credential: str
    peer: str
    action: str
    target: str
    status: int
