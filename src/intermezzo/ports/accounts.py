"""What Intermezzo keeps about people: accounts, teams, credentials, and who did what.

Every method is one transaction. Names compare by their case-folded form and come back as they were first given. The
audit can only be appended to. No secret is ever stored: a credential is kept by the sha256 of it.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

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
)


class Accounts(Protocol):
    """All times are epoch milliseconds, UTC. Methods raise `Unreachable` if the database does not answer."""

    async def add_account(self, account: Account) -> None:
        """Store a new account. Raises `AlreadyExists`."""
        ...

    async def save_account(self, account: Account) -> None:
        """Replace role and standing. An account that is disabled, or was until now, loses all its credentials for good.
        Raises `NotFound`, and `Conflict` where no enabled platform administrator would be left."""
        ...

    async def save_contact(self, subject: str, contact: Contact) -> None:
        """Replace how an account is written to. Raises `NotFound`."""
        ...

    async def account(self, subject: str) -> Account | None:
        """By subject; None if there is none."""
        ...

    async def accounts(self) -> list[Account]:
        """All, by subject."""
        ...

    async def persons(self, subjects: Collection[str]) -> dict[str, Person]:
        """Accounts with their teams, by the case-folded form of the subject; without those that are not there."""
        ...

    async def add_team(self, team: Team) -> None:
        """Store a new team. Raises `AlreadyExists` for its name, or for a namespace that another team owns."""
        ...

    async def save_team(self, team: Team) -> None:
        """Replace its namespaces. Raises `NotFound`, and `AlreadyExists` for a namespace that another team owns."""
        ...

    async def remove_team(self, name: str) -> None:
        """Forget a team with its memberships. Idempotent."""
        ...

    async def team(self, name: str) -> Team | None:
        """By name; None if there is none."""
        ...

    async def teams(self) -> list[Team]:
        """All, by name."""
        ...

    async def join(self, membership: Membership) -> None:
        """Put an account into a team, or change its role there. Raises `NotFound` if there is no such account or
        team."""
        ...

    async def leave(self, team: str, subject: str) -> None:
        """Take an account out of a team, whoever had put it there. Idempotent."""
        ...

    async def replace_memberships(self, subject: str, source: Source, memberships: Sequence[Membership]) -> None:
        """Make these the account's only memberships from that source; a team that is not there is left out. Raises
        `NotFound` for an unknown account."""
        ...

    async def memberships(self) -> list[Membership]:
        """All, by team and subject."""
        ...

    async def add_credential(self, credential: Credential) -> None:
        """Store a new credential. Raises `NotFound` if there is no such account, `AlreadyExists` for its digest."""
        ...

    async def bearer(self, digest: str) -> Bearer | None:
        """Whose secret that is, expired or not; None if it is unknown or revoked."""
        ...

    async def bearers(self, ids: Collection[str]) -> dict[str, Bearer]:
        """The same by public id, for those that are not revoked."""
        ...

    async def take(self, digest: str) -> Bearer | None:
        """The same, and revoke it: of many who take at once, one is answered."""
        ...

    async def note_use(self, credential_id: str, at: int) -> None:
        """Write down when a credential was last used; no effect on one that is gone."""
        ...

    async def credentials(self, subject: str | None = None) -> list[Credential]:
        """All, or an account's, newest first."""
        ...

    async def revoke(self, ids: Collection[str]) -> None:
        """Make these credentials worthless, at once. Idempotent."""
        ...

    async def expire(self, now: int) -> None:
        """Forget the credentials whose time is over."""
        ...

    async def record(self, records: Sequence[AuditRecord]) -> None:
        """Append to the audit."""
        ...

    async def audit(self, before_seq: int | None = None, limit: int = 100) -> list[AuditRecord]:
        """The newest records with a lower number than `before_seq`, newest first."""
        ...
