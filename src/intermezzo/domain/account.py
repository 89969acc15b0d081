"""Who there is: accounts, teams with their namespaces, credentials, and the record of who did what. Pure values.

What they may do is in `access`. A subject is a person's or program's name, kept as it was first given and compared by
its case-folded form. All times are epoch milliseconds, UTC.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from email.errors import HeaderParseError
from email.headerregistry import Address as EmailAddress
from enum import StrEnum

from intermezzo.domain.access import ALL_SCOPES, Identity, Role, Scope, TeamRole
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.names import NAMESPACE_LENGTH, fold, wrong_with

SUBJECT_LENGTH = 253
TEAM_LENGTH = 63
ADDRESS_LENGTH = 254


class Standing(StrEnum):
    """Whether an account can be used. A disabled one keeps its workspaces and its history, and no credentials."""

    ENABLED = "enabled"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Contact:
    """How a person is written to: an e-mail address, and the language and time zone (`Europe/Warsaw`) to write in. What
    is empty was not said: then nobody is written to, or in English and UTC."""

    address: str = ""
    language: str = ""
    timezone: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """A person or program."""

    subject: str
    role: Role = Role.USER
    standing: Standing = Standing.ENABLED
    created_at: int = 0
    contact: Contact = Contact()

    @property
    def address(self) -> str:
        """Where the person is written to: the address of their contact, or the subject where it is one; empty if nobody
        knows."""
        return self.contact.address or (self.subject if is_address(self.subject) else "")


@dataclass(frozen=True, slots=True)
class Team:
    """Accounts that share namespaces. A namespace belongs to one team only; they are listed in order."""

    name: str
    namespaces: tuple[str, ...] = ()
    created_at: int = 0


class Source(StrEnum):
    """Who says that somebody is in a team: an administrator here, or the groups of the identity provider."""

    HERE = "here"
    GROUPS = "groups"


@dataclass(frozen=True, slots=True)
class Membership:
    """That an account is in a team, and as what."""

    team: str
    subject: str
    role: TeamRole = TeamRole.MEMBER
    source: Source = Source.HERE


@dataclass(frozen=True, slots=True)
class GroupMeanings:
    """What the groups of an identity provider mean here: `members` and `admins` map a group to a team; whoever is in
    `platform_admins` or `auditors` has that role. Empty means that groups say nothing about it."""

    members: Mapping[str, str] = field(default_factory=dict)
    admins: Mapping[str, str] = field(default_factory=dict)
    platform_admins: str = ""
    auditors: str = ""

    def role(self, groups: Collection[str]) -> Role | None:
        """The role in the installation; None where groups do not decide it."""
        if self.platform_admins and self.platform_admins in groups:
            return Role.PLATFORM_ADMIN
        if self.auditors and self.auditors in groups:
            return Role.AUDITOR
        return Role.USER if self.platform_admins or self.auditors else None

    def memberships(self, subject: str, groups: Collection[str]) -> list[Membership]:
        """The teams that the groups put somebody into, each once."""
        roles = {self.members[group]: TeamRole.MEMBER for group in groups if group in self.members}
        roles |= {self.admins[group]: TeamRole.ADMIN for group in groups if group in self.admins}
        return [Membership(team, subject, role, Source.GROUPS) for team, role in roles.items()]


class Use(StrEnum):
    """What a secret is good for: programs, browsers, or to log in once."""

    API = "api"
    SESSION = "session"
    LOGIN = "login"


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret that proves who is asking. Only the `digest` (sha256) of it is ever kept; `id` may be shown to anyone.

    `expires_at` 0 means never; `last_used_at` 0 means not yet.
    """

    id: str
    digest: str = field(repr=False)
    subject: str
    use: Use
    label: str = ""
    scopes: frozenset[Scope] = ALL_SCOPES
    created_at: int = 0
    expires_at: int = 0
    last_used_at: int = 0


@dataclass(frozen=True, slots=True)
class Person:
    """An account with what it is in its teams, read at one moment. `teams` is by case-folded namespace."""

    account: Account
    teams: Mapping[str, TeamRole] = field(default_factory=dict)

    def identity(self, credential: str, scopes: frozenset[Scope] = ALL_SCOPES) -> Identity | None:
        """Who is asking with that credential; None if the account is disabled."""
        if self.account.standing is Standing.DISABLED:
            return None
        return Identity(self.account.subject, self.account.role, self.teams, scopes, credential)


@dataclass(frozen=True, slots=True)
class Bearer:
    """A credential with whose it is, read at one moment."""

    credential: Credential
    person: Person

    def identity(self, now: int) -> Identity | None:
        """Who is asking; None if the credential has expired or the account is disabled."""
        expired = 0 < self.credential.expires_at <= now
        return None if expired else self.person.identity(self.credential.id, self.credential.scopes)


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One change that was asked for: by whom (empty if unknown), with which credential, from which address, what, to
    what, and the HTTP status that answered it. `seq` is given by the store and grows. It never holds a secret."""

    at: int
    subject: str
    credential: str
    peer: str
    action: str
    target: str
    status: int
    seq: int = 0


def is_address(text: str) -> bool:
    """Whether it is one e-mail address and nothing else."""
    if "@" not in text or len(text) > ADDRESS_LENGTH or any(c.isspace() or not c.isprintable() for c in text):
        return False
    try:
        parsed = EmailAddress(addr_spec=text)
    except (HeaderParseError, ValueError, IndexError):
        return False
    return bool(parsed.username and parsed.domain)


def administers(account: Account) -> bool:
    """Whether it administers the installation now."""
    return account.role is Role.PLATFORM_ADMIN and account.standing is Standing.ENABLED


def shut_out(before: Account, after: Account) -> bool:
    """Whether all of an account's credentials must go: it is disabled, or was until now. What it had before, and what
    was issued meanwhile, must not come back to life when it is enabled."""
    return Standing.DISABLED in {before.standing, after.standing}


def stronger(one: TeamRole | None, other: TeamRole) -> TeamRole:
    """The higher of two roles that somebody has in the same team."""
    return TeamRole.ADMIN if TeamRole.ADMIN in {one, other} else TeamRole.MEMBER


def check_subject(subject: str) -> None:
    """Raises `InvalidInput` for a name that no account can have."""
    _check("subject", wrong_with(subject, SUBJECT_LENGTH))


def check_team(name: str, namespaces: tuple[str, ...]) -> None:
    """Raises `InvalidInput` for a name that no team, or no namespace, can have."""
    _check("name", wrong_with(name, TEAM_LENGTH))
    for namespace in namespaces:
        _check("namespaces", wrong_with(namespace, NAMESPACE_LENGTH))
    if len({fold(namespace) for namespace in namespaces}) != len(namespaces):
        _check("namespaces", "must each be named once")


def _check(name: str, problem: str) -> None:
    if problem:
        raise InvalidInput(f"{name} {problem}", fields={name: problem})
