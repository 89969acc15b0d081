"""Accounts, teams, credentials and the audit in the same database as the store."""

from collections.abc import Collection, Sequence
from itertools import groupby

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import account_rows as rows
from intermezzo.adapters.sql import tables
from intermezzo.adapters.sql.database import ACCOUNTS_LOCK, Database
from intermezzo.adapters.sql.teams import Teams
from intermezzo.domain.account import (
    Account,
    AuditRecord,
    Bearer,
    Contact,
    Credential,
    Person,
    administers,
    shut_out,
)
from intermezzo.domain.errors import AlreadyExists, Conflict, NotFound
from intermezzo.domain.names import fold

_a, _c, _m, _n = tables.accounts.c, tables.credentials.c, tables.memberships.c, tables.team_namespaces.c
_CREDENTIAL = [*(column for column in _c if column.name != "created_at"), _c.created_at.label("issued_at")]
_CREDENTIALS = select(*_CREDENTIAL, _a.subject).join_from(tables.credentials, tables.accounts)
_PERSONS = (
    select(*_a, _n.namespace_folded, _m.role.label("team_role"))
    .select_from(tables.accounts)
    .outerjoin(tables.memberships, _m.subject_folded == _a.subject_folded)
    .outerjoin(tables.team_namespaces, _n.team_folded == _m.team_folded)
    .order_by(_a.subject_folded)
)
_BEARERS = (
    select(
        *_CREDENTIAL, *(c for c in _a if c.name != "subject_folded"), _n.namespace_folded, _m.role.label("team_role")
    )
    .select_from(tables.credentials)
    .join(tables.accounts)
    .outerjoin(tables.memberships, _m.subject_folded == _a.subject_folded)
    .outerjoin(tables.team_namespaces, _n.team_folded == _m.team_folded)
    .order_by(_c.id)
)


class SqlAccounts(Teams):
    """Implements `ports.accounts.Accounts`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._database = database

    async def add_account(self, account: Account) -> None:
        """Store a new account."""
        try:
            async with self._database.write() as connection:
                await connection.execute(insert(tables.accounts), [rows.account_row(account)])
        except IntegrityError as error:
            raise AlreadyExists(f"there is an account {account.subject} already") from error

    async def save_account(self, account: Account) -> None:
        """Replace role and standing."""
        changes = {"role": account.role.value, "standing": account.standing.value}
        same = _a.subject_folded == fold(account.subject)
        async with self._database.write() as connection:
            await self._database.lock(connection, ACCOUNTS_LOCK)
            before = await self._accounts(connection)
            known = next((one for one in before if fold(one.subject) == fold(account.subject)), None)
            if known is None:
                raise NotFound(f"there is no account {account.subject}")
            await connection.execute(update(tables.accounts).where(same).values(changes))
            after = await self._accounts(connection)
            if any(map(administers, before)) and not any(map(administers, after)):
                raise Conflict("no platform administrator would be left", "make somebody else one first")
            if shut_out(known, account):
                theirs = _c.subject_folded == fold(account.subject)
                await connection.execute(delete(tables.credentials).where(theirs))

    async def save_contact(self, subject: str, contact: Contact) -> None:
        """Replace how an account is written to."""
        changed = update(tables.accounts).where(_a.subject_folded == fold(subject)).values(rows.contact_row(contact))
        async with self._database.write() as connection:
            if not (await connection.execute(changed)).rowcount:
                raise NotFound(f"there is no account {subject}")

    async def account(self, subject: str) -> Account | None:
        """By subject."""
        async with self._database.read() as connection:
            found = await self._accounts(connection, _a.subject_folded == fold(subject))
        return found[0] if found else None

    async def accounts(self) -> list[Account]:
        """All, by subject."""
        async with self._database.read() as connection:
            return await self._accounts(connection)

    async def persons(self, subjects: Collection[str]) -> dict[str, Person]:
        """Accounts with their teams."""
        wanted = _PERSONS.where(_a.subject_folded.in_(list(map(fold, subjects))))
        async with self._database.read() as connection:
            found = (await connection.execute(wanted)).mappings().all()
        return {key: rows.person(list(group)) for key, group in groupby(found, key=lambda row: row["subject_folded"])}

    async def add_credential(self, credential: Credential) -> None:
        """Store a new credential."""
        async with self._database.write() as connection:
            if not await self._accounts(connection, _a.subject_folded == fold(credential.subject)):
                raise NotFound(f"there is no account {credential.subject}")
            try:
                await connection.execute(insert(tables.credentials), [rows.credential_row(credential)])
            except IntegrityError as error:
                raise AlreadyExists("there is such a credential already") from error

    async def bearer(self, digest: str) -> Bearer | None:
        """Whose secret that is."""
        async with self._database.read() as connection:
            return next(iter(await self._bearers(connection, _c.digest == digest)), None)

    async def bearers(self, ids: Collection[str]) -> dict[str, Bearer]:
        """The same by public id."""
        async with self._database.read() as connection:
            found = await self._bearers(connection, _c.id.in_(ids))
        return {bearer.credential.id: bearer for bearer in found}

    async def take(self, digest: str) -> Bearer | None:
        """The same, once."""
        same = _c.digest == digest
        async with self._database.write() as connection:
            found = await self._bearers(connection, same)
            taken = (await connection.execute(delete(tables.credentials).where(same))).rowcount
        return found[0] if taken else None

    async def note_use(self, credential_id: str, at: int) -> None:
        """When a credential was last used."""
        async with self._database.write() as connection:
            await connection.execute(update(tables.credentials).where(_c.id == credential_id).values(last_used_at=at))

    async def credentials(self, subject: str | None = None) -> list[Credential]:
        """All, or an account's, newest first."""
        wanted = _CREDENTIALS.order_by(_c.created_at.desc(), _c.id.desc())
        if subject is not None:
            wanted = wanted.where(_c.subject_folded == fold(subject))
        async with self._database.read() as connection:
            return [rows.credential(row) for row in (await connection.execute(wanted)).mappings()]

    async def revoke(self, ids: Collection[str]) -> None:
        """Make these credentials worthless."""
        async with self._database.write() as connection:
            await connection.execute(delete(tables.credentials).where(_c.id.in_(ids)))

    async def expire(self, now: int) -> None:
        """Forget the credentials whose time is over."""
        async with self._database.write() as connection:
            await connection.execute(delete(tables.credentials).where(_c.expires_at > 0, _c.expires_at <= now))

    async def record(self, records: Sequence[AuditRecord]) -> None:
        """Append to the audit."""
        if records:
            async with self._database.write() as connection:
                await connection.execute(insert(tables.audit), [rows.audit_row(record) for record in records])

    async def audit(self, before_seq: int | None = None, limit: int = 100) -> list[AuditRecord]:
        """The newest records, newest first."""
        wanted = select(tables.audit).order_by(tables.audit.c.seq.desc()).limit(limit)
        if before_seq is not None:
            wanted = wanted.where(tables.audit.c.seq < before_seq)
        async with self._database.read() as connection:
            return [rows.audit_record(row) for row in (await connection.execute(wanted)).mappings()]

    async def _accounts(self, connection: AsyncConnection, *conditions: ColumnElement[bool]) -> list[Account]:
        found = (await connection.execute(select(tables.accounts).where(*conditions))).mappings()
        return sorted((rows.account(row) for row in found), key=lambda account: account.subject)

    async def _bearers(self, connection: AsyncConnection, condition: ColumnElement[bool]) -> list[Bearer]:
        found = (await connection.execute(_BEARERS.where(condition))).mappings().all()
        return [rows.bearer(list(group)) for _, group in groupby(found, key=lambda row: row["id"])]
