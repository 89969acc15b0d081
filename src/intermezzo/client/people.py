"""The part of the SDK about people: accounts, teams, credentials, the audit."""

from collections.abc import Collection, Iterator, Sequence
from urllib.parse import quote

from intermezzo.client.account_models import (
    AccountShape,
    AuditShape,
    CredentialShape,
    IdentityShape,
    NewTokenShape,
    TeamShape,
)
from intermezzo.client.installation_models import LoginLink
from intermezzo.client.wire import Wire
from intermezzo.domain.access import Role, Scope, TeamRole
from intermezzo.domain.account import Standing

PAGE = 1000


class People:
    """What `Intermezzo.people` can be asked. Most of it needs an administrator's credential."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def me(self) -> IdentityShape:
        """Who asks."""
        return self._wire.one(IdentityShape, "GET", "/me")

    def accounts(self) -> list[AccountShape]:
        """All accounts."""
        return self._wire.many(AccountShape, "/accounts")

    def add_account(self, subject: str, role: Role = Role.USER) -> AccountShape:
        """Make an account."""
        return self._wire.one(AccountShape, "POST", "/accounts", json={"subject": subject, "role": role})

    def change_account(self, subject: str, role: Role | None = None, standing: Standing | None = None) -> AccountShape:
        """Give it another role, or disable or enable it; None leaves it."""
        body = {"role": role, "standing": standing}
        return self._wire.one(AccountShape, "PATCH", f"/accounts/{_quoted(subject)}", json=body)

    def login_link(self, subject: str) -> LoginLink:
        """An address that logs a browser in as that account, once."""
        return self._wire.one(LoginLink, "POST", f"/accounts/{_quoted(subject)}/login-links")

    def teams(self) -> list[TeamShape]:
        """The teams that one may see, with their members."""
        return self._wire.many(TeamShape, "/teams")

    def add_team(self, name: str, namespaces: Sequence[str] = ()) -> TeamShape:
        """Make a team that owns these namespaces."""
        return self._wire.one(TeamShape, "POST", "/teams", json={"name": name, "namespaces": list(namespaces)})

    def change_team(self, name: str, namespaces: Sequence[str]) -> TeamShape:
        """Give a team other namespaces."""
        body = {"namespaces": list(namespaces)}
        return self._wire.one(TeamShape, "PATCH", f"/teams/{_quoted(name)}", json=body)

    def remove_team(self, name: str) -> None:
        """Forget a team whose namespaces hold no workspaces."""
        self._wire.ask("DELETE", f"/teams/{_quoted(name)}")

    def join(self, team: str, subject: str, role: TeamRole = TeamRole.MEMBER) -> None:
        """Put an account into a team, or change its role there."""
        self._wire.ask("PUT", f"/teams/{_quoted(team)}/members/{_quoted(subject)}", json={"role": role})

    def leave(self, team: str, subject: str) -> None:
        """Take an account out of a team."""
        self._wire.ask("DELETE", f"/teams/{_quoted(team)}/members/{_quoted(subject)}")

    def credentials(self) -> list[CredentialShape]:
        """One's own tokens, sessions and login codes; everybody's for administrators and auditors."""
        return self._wire.many(CredentialShape, "/credentials")

    def make_token(self, label: str, scopes: Collection[Scope], days: int = 90) -> NewTokenShape:
        """A new API token of one's own; what is returned holds its secret."""
        body = {"label": label, "scopes": sorted(scopes), "days": days}
        return self._wire.one(NewTokenShape, "POST", "/tokens", json=body)

    def revoke(self, credential_id: str) -> None:
        """Make a token, session or code worthless at once."""
        self._wire.ask("DELETE", f"/credentials/{_quoted(credential_id)}")

    def audit(self) -> Iterator[AuditShape]:
        """Who asked for which change, newest first."""
        before: dict[str, int] = {}
        while page := self._wire.many(AuditShape, "/audit", {"limit": PAGE, **before}):
            yield from page
            before = {"before": page[-1].seq}


def _quoted(name: str) -> str:
    return quote(name, safe="")
