"""Accounts that live as long as their process: for tests and for a dry run.

It keeps every promise of the port but durability. Nothing in it awaits, so each method is one transaction.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from intermezzo.domain.access import TeamRole
from intermezzo.domain.account import (
    Account,
    AuditRecord,
    Bearer,
    Contact,
    Credential,
    Membership,
    Person,
    Source,
    Team,
    administers,
    shut_out,
    stronger,
)
from intermezzo.domain.errors import AlreadyExists, Conflict, NotFound
from intermezzo.domain.names import fold


class MemoryAccounts:
    """Implements `ports.accounts.Accounts`."""

    def __init__(self) -> None:
        self._accounts: dict[str, Account] = {}
        self._teams: dict[str, Team] = {}
        self._memberships: dict[tuple[str, str, Source], Membership] = {}
        self._credentials: dict[str, Credential] = {}
        self._audit: list[AuditRecord] = []

    async def add_account(self, account: Account) -> None:
        """Store a new account."""
        if fold(account.subject) in self._accounts:
            raise AlreadyExists(f"there is an account {account.subject} already")
        self._accounts[fold(account.subject)] = account

    async def save_account(self, account: Account) -> None:
        """Replace role and standing."""
        known = self._account(account.subject)
        changed = replace(known, role=account.role, standing=account.standing)
        others = {**self._accounts, fold(known.subject): changed}.values()
        if administers(known) and not any(map(administers, others)):
            raise Conflict("no platform administrator would be left", "make somebody else one first")
        self._accounts[fold(known.subject)] = changed
        if shut_out(known, changed):
            self._credentials = {d: c for d, c in self._credentials.items() if c.subject != known.subject}

    async def save_contact(self, subject: str, contact: Contact) -> None:
        """Replace how an account is written to."""
        known = self._account(subject)
        self._accounts[fold(known.subject)] = replace(known, contact=contact)

    async def account(self, subject: str) -> Account | None:
        """By subject."""
        return self._accounts.get(fold(subject))

    async def accounts(self) -> list[Account]:
        """All, by subject."""
        return sorted(self._accounts.values(), key=lambda account: account.subject)

    async def persons(self, subjects: Collection[str]) -> dict[str, Person]:
        """Accounts with their teams."""
        return {folded: self._person(folded) for folded in map(fold, subjects) if folded in self._accounts}

    async def add_team(self, team: Team) -> None:
        """Store a new team."""
        if fold(team.name) in self._teams:
            raise AlreadyExists(f"there is a team {team.name} already")
        self._require_free(team)
        self._teams[fold(team.name)] = replace(team, namespaces=tuple(sorted(team.namespaces)))

    async def save_team(self, team: Team) -> None:
        """Replace its namespaces."""
        known = self._team(team.name)
        self._require_free(team)
        self._teams[fold(team.name)] = replace(known, namespaces=tuple(sorted(team.namespaces)))

    async def remove_team(self, name: str) -> None:
        """Forget a team with its memberships."""
        self._teams.pop(fold(name), None)
        self._memberships = {key: m for key, m in self._memberships.items() if key[0] != fold(name)}

    async def team(self, name: str) -> Team | None:
        """By name."""
        return self._teams.get(fold(name))

    async def teams(self) -> list[Team]:
        """All, by name."""
        return sorted(self._teams.values(), key=lambda team: team.name)

    async def join(self, membership: Membership) -> None:
        """Put an account into a team."""
        team, account = self._team(membership.team), self._account(membership.subject)
        known = replace(membership, team=team.name, subject=account.subject)
        self._memberships[fold(team.name), fold(account.subject), membership.source] = known

    async def leave(self, team: str, subject: str) -> None:
        """Take an account out of a team."""
        for source in Source:
            self._memberships.pop((fold(team), fold(subject), source), None)

    async def replace_memberships(self, subject: str, source: Source, memberships: Sequence[Membership]) -> None:
        """Make these the account's only memberships from that source."""
        account = self._account(subject)
        for key in [key for key in self._memberships if key[1:] == (fold(subject), source)]:
            del self._memberships[key]
        for membership in memberships:
            if fold(membership.team) in self._teams:
                await self.join(replace(membership, subject=account.subject, source=source))

    async def memberships(self) -> list[Membership]:
        """All, by team and subject."""
        return sorted(self._memberships.values(), key=lambda m: (m.team, m.subject, m.source))

    async def add_credential(self, credential: Credential) -> None:
        """Store a new credential."""
        account = self._account(credential.subject)
        if credential.digest in self._credentials:
            raise AlreadyExists("there is such a credential already")
        self._credentials[credential.digest] = replace(credential, subject=account.subject)

    async def bearer(self, digest: str) -> Bearer | None:
        """Whose secret that is."""
        credential = self._credentials.get(digest)
        if credential is None:
            return None
        return Bearer(credential, self._person(credential.subject))

    async def bearers(self, ids: Collection[str]) -> dict[str, Bearer]:
        """The same by public id."""
        found = [await self.bearer(c.digest) for c in self._credentials.values() if c.id in ids]
        return {bearer.credential.id: bearer for bearer in found if bearer}

    async def take(self, digest: str) -> Bearer | None:
        """The same, once."""
        found = await self.bearer(digest)
        self._credentials.pop(digest, None)
        return found

    async def note_use(self, credential_id: str, at: int) -> None:
        """When a credential was last used."""
        for digest, credential in self._credentials.items():
            if credential.id == credential_id:
                self._credentials[digest] = replace(credential, last_used_at=at)

    async def credentials(self, subject: str | None = None) -> list[Credential]:
        """All, or an account's, newest first."""
        wanted = [c for c in self._credentials.values() if subject is None or fold(c.subject) == fold(subject)]
        return sorted(wanted, key=lambda c: (c.created_at, c.id), reverse=True)

    async def revoke(self, ids: Collection[str]) -> None:
        """Make these credentials worthless."""
        self._credentials = {digest: c for digest, c in self._credentials.items() if c.id not in ids}

    async def expire(self, now: int) -> None:
        """Forget the credentials whose time is over."""
        self._credentials = {d: c for d, c in self._credentials.items() if not 0 < c.expires_at <= now}

    async def record(self, records: Sequence[AuditRecord]) -> None:
        """Append to the audit."""
        for record in records:
            self._audit.append(replace(record, seq=len(self._audit) + 1))

    async def audit(self, before_seq: int | None = None, limit: int = 100) -> list[AuditRecord]:
        """The newest records, newest first."""
        wanted = self._audit if before_seq is None else self._audit[: max(0, before_seq - 1)]
        return wanted[::-1][:limit]

    def _account(self, subject: str) -> Account:
        found = self._accounts.get(fold(subject))
        if found is None:
            raise NotFound(f"there is no account {subject}")
        return found

    def _team(self, name: str) -> Team:
        found = self._teams.get(fold(name))
        if found is None:
            raise NotFound(f"there is no team {name}")
        return found

    def _require_free(self, team: Team) -> None:
        owners = {fold(n): other.name for other in self._teams.values() for n in other.namespaces}
        for namespace in team.namespaces:
            owner = owners.get(fold(namespace), team.name)
            if fold(owner) != fold(team.name):
                raise AlreadyExists(f"the namespace {namespace} belongs to the team {owner}")

    def _person(self, subject: str) -> Person:
        return Person(self._account(subject), self._roles(subject))

    def _roles(self, subject: str) -> dict[str, TeamRole]:
        roles: dict[str, TeamRole] = {}
        for (team, member, _), membership in self._memberships.items():
            if member == fold(subject):
                for namespace in self._teams[team].namespaces:
                    roles[fold(namespace)] = stronger(roles.get(fold(namespace)), membership.role)
        return roles
