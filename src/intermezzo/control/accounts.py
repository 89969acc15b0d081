"""What administrators ask for about people: accounts, teams and who is in them. Each request is one change or none.

It decides whether a change makes sense; whether somebody may ask for it is decided before.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from zoneinfo import available_timezones

from intermezzo.domain.access import Role, TeamRole
from intermezzo.domain.account import (
    SUBJECT_LENGTH,
    TEAM_LENGTH,
    Account,
    AuditRecord,
    Contact,
    Credential,
    GroupMeanings,
    Membership,
    Source,
    Standing,
    Team,
    check_subject,
    check_team,
    is_address,
)
from intermezzo.domain.amounts import amount_of
from intermezzo.domain.errors import AlreadyExists, Conflict, Forbidden, InvalidInput, NotFound
from intermezzo.domain.names import fold, wrong_with
from intermezzo.domain.quota import WORKSPACES
from intermezzo.ports.accounts import Accounts
from intermezzo.ports.clock import Clock
from intermezzo.ports.store import Store

LOCAL_SUBJECT = "local"
DEFAULT_TEAM = "default"
NO_MEANINGS = GroupMeanings()


class People:
    """The requests. They raise `NotFound` for an unknown account or team."""

    def __init__(self, accounts: Accounts, store: Store, clock: Clock, groups: GroupMeanings = NO_MEANINGS) -> None:
        self._accounts = accounts
        self._groups = groups
        self._store = store
        self._clock = clock

    async def add_account(self, subject: str, role: Role = Role.USER) -> Account:
        """A new account. Raises `InvalidInput` or `AlreadyExists`."""
        check_subject(subject)
        account = Account(subject, role, created_at=self._clock.now())
        await self._accounts.add_account(account)
        return account

    async def accounts(self) -> list[Account]:
        """All, by subject."""
        return await self._accounts.accounts()

    async def teams(self) -> list[Team]:
        """All, by name."""
        return await self._accounts.teams()

    async def memberships(self) -> list[Membership]:
        """All, by team and subject."""
        return await self._accounts.memberships()

    async def credentials(self, subject: str | None = None) -> list[Credential]:
        """Those of an account, or all, newest first."""
        return [c for c in await self._accounts.credentials(subject) if not 0 < c.expires_at <= self._clock.now()]

    async def audit(self, before_seq: int, limit: int) -> list[AuditRecord]:
        """The newest records below a number, newest first."""
        return await self._accounts.audit(before_seq, limit)

    async def account(self, subject: str) -> Account:
        """One account."""
        found = None if wrong_with(subject, SUBJECT_LENGTH) else await self._accounts.account(subject)
        if found is None:
            raise NotFound(f"there is no account {subject}")
        return found

    async def change_account(self, subject: str, role: Role | None, standing: Standing | None) -> Account:
        """Another role or standing; None leaves it. Disabling ends its sessions, tokens and login links for good.
        Raises `Conflict` for the last platform administrator."""
        known = await self.account(subject)
        changed = replace(known, role=role or known.role, standing=standing or known.standing)
        await self._accounts.save_account(changed)
        return changed

    async def change_contact(self, subject: str, contact: Contact) -> Contact:
        """Another way to write to somebody. Raises `InvalidInput` for what is no address, naming every wrong field."""
        wrong = {}
        if contact.address and not is_address(contact.address):
            wrong["address"] = "is not an e-mail address"
        if contact.timezone and contact.timezone not in available_timezones():
            wrong["timezone"] = "is not a time zone such as Europe/Warsaw"
        if wrong:
            name, problem = next(iter(wrong.items()))
            raise InvalidInput(f"{name} {problem}", fields=wrong)
        await self._accounts.save_contact(subject, contact)
        return contact

    async def add_team(self, name: str, namespaces: tuple[str, ...]) -> Team:
        """A new team. Raises `InvalidInput`, or `AlreadyExists` for its name or a namespace of another team."""
        check_team(name, namespaces)
        team = Team(name, tuple(sorted(namespaces)), self._clock.now())
        await self._accounts.add_team(team)
        return team

    async def team(self, name: str) -> Team:
        """One team."""
        found = None if wrong_with(name, TEAM_LENGTH) else await self._accounts.team(name)
        if found is None:
            raise NotFound(f"there is no team {name}")
        return found

    async def change_team(self, name: str, namespaces: tuple[str, ...]) -> Team:
        """Other namespaces. Raises `Conflict` for one that is taken away while workspaces are in it."""
        known = await self.team(name)
        check_team(known.name, namespaces)
        kept = {fold(namespace) for namespace in namespaces}
        for namespace in known.namespaces:
            if fold(namespace) not in kept:
                await self._require_empty(namespace)
        changed = replace(known, namespaces=tuple(sorted(namespaces)))
        await self._accounts.save_team(changed)
        return changed

    async def remove_team(self, name: str) -> None:
        """Forget a team. Raises `Conflict` while workspaces are in its namespaces."""
        for namespace in (await self.team(name)).namespaces:
            await self._require_empty(namespace)
        await self._accounts.remove_team(name)

    async def join(self, team: str, subject: str, role: TeamRole) -> None:
        """Put an account into a team, or change its role there."""
        await self._accounts.join(Membership(team, (await self.account(subject)).subject, role))

    async def leave(self, team: str, subject: str) -> None:
        """Take an account out of a team."""
        await self._accounts.leave((await self.team(team)).name, (await self.account(subject)).subject)

    async def prepare(self, subject: str = LOCAL_SUBJECT) -> None:
        """See that the first account administers the installation and the team of the namespace `default`; an account
        or team that is there already is left as it is."""
        try:
            await self.add_account(subject, Role.PLATFORM_ADMIN)
        except AlreadyExists:
            if await self._accounts.teams():
                return
        try:
            await self.add_team(DEFAULT_TEAM, (DEFAULT_TEAM,))
        except AlreadyExists:
            return
        await self.join(DEFAULT_TEAM, subject, TeamRole.ADMIN)

    async def arrive(self, subject: str, groups: Collection[str], address: str = "") -> Account:
        """The account of somebody whom an identity provider sends, made if need be, with the role and the teams that
        their groups mean here; `address` is where they are written to, unless they said so themselves. Raises
        `InvalidInput` for no possible name, `Forbidden` for the name of the account of this machine, which nobody from
        outside can be."""
        if fold(subject) == fold(LOCAL_SUBJECT):
            raise Forbidden(f"the name {LOCAL_SUBJECT} belongs to this machine", "log in under another name")
        known = await self._accounts.account(subject) or await self._made(subject)
        role = self._groups.role(groups)
        if role is not None and role is not known.role:
            with suppress(Conflict):  # the last platform administrator stays one
                await self._accounts.save_account(replace(known, role=role))
        if is_address(address) and not known.contact.address:
            await self._accounts.save_contact(subject, replace(known.contact, address=address))
        await self._accounts.replace_memberships(subject, Source.GROUPS, self._groups.memberships(subject, groups))
        return known

    async def _made(self, subject: str) -> Account:
        try:
            return await self.add_account(subject)
        except AlreadyExists:  # by a second request at the same moment
            return await self.account(subject)

    async def _require_empty(self, namespace: str) -> None:
        left = await self._store.workspaces(namespace)
        if left:
            count = amount_of(WORKSPACES, len(left))
            raise Conflict(f"the namespace {namespace} still has {count}, such as {left[0].key}", "delete them first")
