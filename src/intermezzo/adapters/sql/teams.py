"""Teams, their namespaces and who is in them, as the accounts of a database have them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import account_rows as rows
from intermezzo.adapters.sql import tables
from intermezzo.adapters.sql.database import ACCOUNTS_LOCK, Database
from intermezzo.domain.account import Membership, Source, Team
from intermezzo.domain.errors import AlreadyExists, NotFound
from intermezzo.domain.names import fold

_a, _t, _m, _n = tables.accounts.c, tables.teams.c, tables.memberships.c, tables.team_namespaces.c
_MEMBERSHIPS = (
    select(_t.name.label("team"), _a.subject, _m.role, _m.source)
    .select_from(tables.memberships)
    .join(tables.teams)
    .join(tables.accounts)
)


class Teams:
    """The part of `ports.accounts.Accounts` that is about teams."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_team(self, team: Team) -> None:
        """Store a new team."""
        row = {"name_folded": fold(team.name), "name": team.name, "created_at": team.created_at}
        async with self._database.write() as connection:
            await self._database.lock(connection, ACCOUNTS_LOCK)
            try:
                await connection.execute(insert(tables.teams), [row])
            except IntegrityError as error:
                raise AlreadyExists(f"there is a team {team.name} already") from error
            await self._own(connection, team)

    async def save_team(self, team: Team) -> None:
        """Replace its namespaces."""
        async with self._database.write() as connection:
            await self._database.lock(connection, ACCOUNTS_LOCK)
            await self._require(connection, team.name)
            await connection.execute(delete(tables.team_namespaces).where(_n.team_folded == fold(team.name)))
            await self._own(connection, team)

    async def remove_team(self, name: str) -> None:
        """Forget a team with its memberships."""
        async with self._database.write() as connection:
            await connection.execute(delete(tables.teams).where(_t.name_folded == fold(name)))

    async def team(self, name: str) -> Team | None:
        """By name."""
        return next((team for team in await self.teams() if fold(team.name) == fold(name)), None)

    async def teams(self) -> list[Team]:
        """All, by name."""
        namespaces = defaultdict(list)
        async with self._database.read() as connection:
            for row in (await connection.execute(select(tables.team_namespaces))).mappings():
                namespaces[row["team_folded"]].append(row["namespace"])
            found = (await connection.execute(select(tables.teams))).mappings().all()
        teams = [Team(row["name"], tuple(sorted(namespaces[row["name_folded"]])), row["created_at"]) for row in found]
        return sorted(teams, key=lambda team: team.name)

    async def join(self, membership: Membership) -> None:
        """Put an account into a team."""
        async with self._database.write() as connection:
            await self._require(connection, membership.team)
            await self._require_account(connection, membership.subject)
            await self._join(connection, membership)

    async def leave(self, team: str, subject: str) -> None:
        """Take an account out of a team."""
        gone = (_m.team_folded == fold(team)) & (_m.subject_folded == fold(subject))
        async with self._database.write() as connection:
            await connection.execute(delete(tables.memberships).where(gone))

    async def replace_memberships(self, subject: str, source: Source, memberships: Sequence[Membership]) -> None:
        """Make these the account's only memberships from that source."""
        former = (_m.subject_folded == fold(subject)) & (_m.source == source.value)
        async with self._database.write() as connection:
            await self._require_account(connection, subject)
            await connection.execute(delete(tables.memberships).where(former))
            known = set((await connection.execute(select(_t.name_folded))).scalars())
            for membership in memberships:
                if fold(membership.team) in known:
                    await self._join(connection, replace(membership, subject=subject, source=source))

    async def memberships(self) -> list[Membership]:
        """All, by team and subject."""
        async with self._database.read() as connection:
            found = [rows.membership(row) for row in (await connection.execute(_MEMBERSHIPS)).mappings()]
        return sorted(found, key=lambda m: (m.team, m.subject, m.source))

    async def _own(self, connection: AsyncConnection, team: Team) -> None:
        owned = select(_n.namespace_folded, _t.name).join_from(tables.team_namespaces, tables.teams)
        owners = {row.namespace_folded: row.name for row in await connection.execute(owned)}
        for namespace in team.namespaces:
            if fold(namespace) in owners:
                raise AlreadyExists(f"the namespace {namespace} belongs to the team {owners[fold(namespace)]}")
            row = {
                "namespace_folded": fold(namespace),
                "namespace": namespace,
                "team_folded": fold(team.name),
            }
            await connection.execute(insert(tables.team_namespaces), [row])

    async def _join(self, connection: AsyncConnection, membership: Membership) -> None:
        dialect = sqlite if self._database.is_sqlite else postgresql
        row = {
            "team_folded": fold(membership.team),
            "subject_folded": fold(membership.subject),
            "source": membership.source.value,
            "role": membership.role.value,
        }
        statement = dialect.insert(tables.memberships).values(row)
        same = ["team_folded", "subject_folded", "source"]
        await connection.execute(statement.on_conflict_do_update(index_elements=same, set_={"role": row["role"]}))

    async def _require(self, connection: AsyncConnection, team: str) -> None:
        if not (await connection.execute(select(_t.name).where(_t.name_folded == fold(team)))).first():
            raise NotFound(f"there is no team {team}")

    async def _require_account(self, connection: AsyncConnection, subject: str) -> None:
        if not (await connection.execute(select(_a.subject).where(_a.subject_folded == fold(subject)))).first():
            raise NotFound(f"there is no account {subject}")
