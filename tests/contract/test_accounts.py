"""What every store promises about accounts, teams, credentials and the audit."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from intermezzo.adapters.sql.migrate import upgrade
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.domain.access import ALL_SCOPES, Identity, Role, Scope, TeamRole
from intermezzo.domain.account import (
    Account,
    AuditRecord,
    Bearer,
    Contact,
    Credential,
    Membership,
    Person,
    Source,
    Standing,
    Team,
    Use,
)
from intermezzo.domain.errors import AlreadyExists, Conflict, NotFound
from intermezzo.ports.accounts import Accounts
from intermezzo.ports.store import Store

ADA = Account("ada", Role.PLATFORM_ADMIN, created_at=5)
RED = Team("red", ("lab", "red"), 7)


@pytest.fixture
def accounts(store: Store) -> Accounts:
    """What a store keeps about people."""
    return store.accounts


def credential(number: int = 1, subject: str = "ada", **changes: object) -> Credential:
    """A session of somebody."""
    made = Credential(f"c{number}", f"d{number}", subject, Use.SESSION, created_at=number)
    return replace(made, **changes)  # type: ignore[arg-type]


def record(at: int) -> AuditRecord:
    """A pause that was asked for."""
    return AuditRecord(at, "ada", "c1", "127.0.0.1", "pause", "default/exp", 202)


async def test_fr51_an_account_is_found_whatever_the_case_of_its_name(accounts: Accounts) -> None:
    user = Account("userA1")
    await accounts.add_account(user)
    assert await accounts.account("USERA1") == user
    with pytest.raises(AlreadyExists):
        await accounts.add_account(Account("UserA1"))
    await accounts.add_credential(credential(subject="USERA1"))
    bearer = await accounts.bearer("d1")
    assert bearer is not None
    assert bearer.person.account.subject == bearer.credential.subject == "userA1"
    assert [c.id for c in await accounts.credentials("usera1")] == ["c1"]


@pytest.mark.parametrize("subject", ["_@example.com", "f" * 64, "Ü.Ä", "a b@x.org", "名前", "o'neil; --"])
async def test_fr14_odd_subjects_come_back_as_they_were_given(accounts: Accounts, subject: str) -> None:
    await accounts.add_account(Account(subject))
    await accounts.add_team(Team(subject[:63], (subject,)))
    await accounts.join(Membership(subject[:63], subject))
    assert await accounts.accounts() == [Account(subject)]
    assert await accounts.memberships() == [Membership(subject[:63], subject)]


async def test_role_and_standing_change_and_nothing_else(accounts: Accounts) -> None:
    for account in (ADA, Account("bob", created_at=1)):
        await accounts.add_account(account)
    await accounts.save_account(Account("BOB", Role.AUDITOR, Standing.DISABLED, created_at=99))
    assert await accounts.accounts() == [ADA, Account("bob", Role.AUDITOR, Standing.DISABLED, 1)]
    with pytest.raises(NotFound):
        await accounts.save_account(Account("nobody"))


@pytest.mark.parametrize("change", [{"role": Role.USER}, {"standing": Standing.DISABLED}])
async def test_one_platform_administrator_is_left(accounts: Accounts, change: dict[str, Role | Standing]) -> None:
    await accounts.add_account(ADA)
    await accounts.add_account(Account("off", Role.PLATFORM_ADMIN, Standing.DISABLED))
    with pytest.raises(Conflict):
        await accounts.save_account(replace(ADA, **change))  # type: ignore[arg-type]
    assert await accounts.account("ada") == ADA


async def test_two_administrators_who_resign_at_once_leave_one(accounts: Accounts) -> None:
    both = [ADA, Account("bob", Role.PLATFORM_ADMIN)]
    for account in both:
        await accounts.add_account(account)
    await asyncio.gather(*(accounts.save_account(replace(one, role=Role.USER)) for one in both), return_exceptions=True)
    assert [a.role for a in await accounts.accounts()].count(Role.PLATFORM_ADMIN) == 1


async def test_a_namespace_belongs_to_one_team(accounts: Accounts) -> None:
    await accounts.add_team(RED)
    for team in (Team("blue", ("LAB",)), Team("RED"), Team("blue", ("new", "red"))):
        with pytest.raises(AlreadyExists):
            await accounts.add_team(team)
    assert await accounts.teams() == [RED]
    await accounts.add_team(Team("blue", ("b", "a")))
    with pytest.raises(AlreadyExists):
        await accounts.save_team(Team("blue", ("a", "Lab")))
    assert await accounts.team("BLUE") == Team("blue", ("a", "b"))
    await accounts.save_team(Team("red", ("Red",)))
    await accounts.save_team(Team("blue", ("lab",)))
    assert await accounts.teams() == [Team("blue", ("lab",)), replace(RED, namespaces=("Red",))]
    with pytest.raises(NotFound):
        await accounts.save_team(Team("green"))


async def roles(accounts: Accounts) -> dict[str, TeamRole]:
    """By namespace, what ada is."""
    bearer = await accounts.bearer("d1")
    assert bearer is not None
    assert await accounts.persons(["ADA", "nobody"]) == {"ada": bearer.person}
    return dict(bearer.person.teams)


async def test_a_bearer_has_the_roles_of_their_teams_by_namespace(accounts: Accounts) -> None:
    await accounts.add_account(ADA)
    await accounts.add_credential(credential())
    assert await roles(accounts) == {}
    await accounts.add_team(RED)
    await accounts.add_team(Team("blue", ("Sea",)))
    await accounts.add_team(Team("empty"))
    for team in ("RED", "blue", "empty"):
        await accounts.join(Membership(team, "ADA"))
    assert await roles(accounts) == dict.fromkeys(("lab", "red", "sea"), TeamRole.MEMBER)
    await accounts.join(Membership("red", "ada", TeamRole.ADMIN))
    assert await roles(accounts) == {"lab": TeamRole.ADMIN, "red": TeamRole.ADMIN, "sea": TeamRole.MEMBER}
    await accounts.leave("Red", "Ada")
    await accounts.leave("red", "ada")
    assert await roles(accounts) == {"sea": TeamRole.MEMBER}
    await accounts.remove_team("blue")
    await accounts.remove_team("blue")
    assert await roles(accounts) == {}
    assert await accounts.memberships() == [Membership("empty", "ada")]


async def test_nobody_joins_what_is_not_there(accounts: Accounts) -> None:
    await accounts.add_account(ADA)
    await accounts.add_team(RED)
    for membership in (Membership("red", "bob"), Membership("blue", "ada")):
        with pytest.raises(NotFound):
            await accounts.join(membership)
    assert await accounts.memberships() == []


async def test_groups_replace_only_what_groups_gave(accounts: Accounts) -> None:
    await accounts.add_account(ADA)
    await accounts.add_credential(credential())
    for name in ("red", "blue", "sea"):
        await accounts.add_team(Team(name, (name,)))
    await accounts.join(Membership("red", "ada"))
    given = [Membership("red", "", TeamRole.ADMIN), Membership("blue", ""), Membership("unknown", "")]
    await accounts.replace_memberships("ADA", Source.GROUPS, given)
    assert await roles(accounts) == {"red": TeamRole.ADMIN, "blue": TeamRole.MEMBER}
    await accounts.replace_memberships("ada", Source.GROUPS, [Membership("sea", "")])
    assert await roles(accounts) == {"red": TeamRole.MEMBER, "sea": TeamRole.MEMBER}
    await accounts.leave("sea", "ada")
    assert await accounts.memberships() == [Membership("red", "ada")]
    with pytest.raises(NotFound):
        await accounts.replace_memberships("bob", Source.GROUPS, [])


async def test_a_credential_comes_back_whole_until_it_is_revoked(accounts: Accounts) -> None:
    await accounts.add_account(ADA)
    made = credential(1, use=Use.API, label="lap\ntop", scopes=frozenset({Scope.READ}), expires_at=50, last_used_at=3)
    for other in (made, credential(2), credential(3)):
        await accounts.add_credential(other)
    assert await accounts.bearer("d1") == Bearer(made, Person(ADA))
    assert await accounts.bearer("unknown") is None
    assert [c.id for c in await accounts.credentials()] == ["c3", "c2", "c1"]
    assert await accounts.bearers(["c1", "c2", "c9"]) == {
        "c1": Bearer(made, Person(ADA)),
        "c2": Bearer(credential(2), Person(ADA)),
    }
    await accounts.revoke(["c1", "c3", "c9"])
    await accounts.revoke(["c1"])
    assert await accounts.credentials() == [credential(2)]
    assert await accounts.bearer("d1") is None
    assert await accounts.bearers(["c1"]) == {}


async def test_who_is_disabled_loses_every_credential_for_good_and_nobody_else_does(accounts: Accounts) -> None:
    for account in (ADA, Account("bob")):
        await accounts.add_account(account)
    uses = dict(enumerate(Use, start=1))
    for number, use in uses.items():
        await accounts.add_credential(credential(number, "bob", use=use))
    await accounts.add_credential(credential(7))
    await accounts.save_account(Account("BOB", Role.AUDITOR))
    assert len(await accounts.credentials("bob")) == len(uses)
    await accounts.save_account(Account("BOB", standing=Standing.DISABLED))
    assert await accounts.credentials() == [credential(7)]
    await accounts.add_credential(credential(8, "bob"))  # by a login that was under way
    await accounts.save_account(Account("bob"))
    assert await accounts.credentials() == [credential(7)]
    await accounts.add_credential(credential(9, "bob"))
    assert await accounts.bearer("d9") is not None


async def test_who_must_stay_an_administrator_keeps_their_credentials(accounts: Accounts) -> None:
    await accounts.add_account(ADA)
    await accounts.add_credential(credential())
    with pytest.raises(Conflict):
        await accounts.save_account(replace(ADA, standing=Standing.DISABLED))
    assert await accounts.credentials() == [credential()]


async def test_a_credential_is_one_accounts_and_its_digest_is_its_own(accounts: Accounts) -> None:
    await accounts.add_account(ADA)
    await accounts.add_credential(credential())
    with pytest.raises(AlreadyExists):
        await accounts.add_credential(credential(2, digest="d1"))
    with pytest.raises(NotFound):
        await accounts.add_credential(credential(3, subject="nobody"))
    assert len(await accounts.credentials()) == 1


async def test_of_many_who_take_a_code_one_gets_it(accounts: Accounts) -> None:
    await accounts.add_account(ADA)
    await accounts.add_credential(credential(use=Use.LOGIN))
    taken = await asyncio.gather(*(accounts.take("d1") for _ in range(10)))
    assert [bearer.person.account for bearer in taken if bearer] == [ADA]
    assert await accounts.take("d1") is None


async def test_use_is_noted_and_what_has_expired_is_forgotten(accounts: Accounts) -> None:
    await accounts.add_account(ADA)
    for number, expires_at in ((1, 0), (2, 100), (3, 101)):
        await accounts.add_credential(credential(number, expires_at=expires_at))
    await accounts.note_use("c3", 60)
    await accounts.note_use("gone", 60)
    await accounts.expire(100)
    assert [(c.id, c.last_used_at) for c in await accounts.credentials()] == [("c3", 60), ("c1", 0)]


async def test_the_audit_is_read_backwards_in_pages(accounts: Accounts) -> None:
    await accounts.record([record(at) for at in range(3)])
    await accounts.record([])
    await accounts.record([record(9)])
    everything = await accounts.audit()
    assert [r.at for r in everything] == [9, 2, 1, 0]
    assert replace(everything[0], seq=0) == record(9)
    assert [r.seq for r in everything] == sorted({r.seq for r in everything}, reverse=True)
    assert await accounts.audit(limit=2) == everything[:2]
    assert await accounts.audit(before_seq=everything[1].seq) == everything[2:]
    assert await accounts.audit(before_seq=everything[3].seq) == []


async def test_the_audit_refuses_to_be_changed(sql_url: str) -> None:
    store = await SqlStore.open(sql_url)
    await store.accounts.record([record(1), record(2)])
    before = await store.accounts.audit()
    attempts = ["UPDATE audit SET subject = 'bob'", "DELETE FROM audit WHERE seq = 1"]
    if sql_url.startswith("sqlite"):
        attempts.append("INSERT OR REPLACE INTO audit VALUES (1, 9, 'bob', '', '', '', '', 200)")
    else:
        attempts.append("TRUNCATE audit")
    engine = create_async_engine(sql_url)
    for attempt in attempts:
        with pytest.raises(DBAPIError, match="append-only"):
            async with engine.begin() as connection:
                await connection.execute(text(attempt))
    await engine.dispose()
    assert await store.accounts.audit() == before
    await store.close()


async def test_tokens_from_before_there_were_accounts_keep_their_worth(sql_url: str) -> None:
    tokens = (
        "('d1', 'local', 5, 0, false, '[\"all\"]')",
        "('d2', 'local', 5, 99, false, '[\"session\"]')",
        "('d3', 'local', 5, 99, true, '[\"login\"]')",
    )
    engine = create_async_engine(sql_url)
    async with engine.begin() as connection:
        await connection.run_sync(upgrade, "0001")
        await connection.execute(text(f"INSERT INTO tokens VALUES {', '.join(tokens)}"))
    await engine.dispose()
    store = await SqlStore.open(sql_url)
    bearer = await store.accounts.bearer("d1")
    assert bearer is not None
    assert bearer.identity(10**15) == Identity("local", Role.PLATFORM_ADMIN, {}, ALL_SCOPES, bearer.credential.id)
    assert [c.digest for c in await store.accounts.credentials()] == ["d1"]
    await store.close()


@pytest.mark.parametrize(("expires_at", "standing", "known"), [
    (0, Standing.ENABLED, True),
    (101, Standing.ENABLED, True),
    (100, Standing.ENABLED, False),
    (0, Standing.DISABLED, False),
])  # fmt: skip
def test_a_bearer_is_somebody_until_expiry_or_disabling(expires_at: int, standing: Standing, known: bool) -> None:
    person = Person(replace(ADA, standing=standing), {"lab": TeamRole.ADMIN})
    bearer = Bearer(credential(expires_at=expires_at), person)
    identity = Identity("ada", Role.PLATFORM_ADMIN, {"lab": TeamRole.ADMIN}, ALL_SCOPES, "c1")
    assert bearer.identity(100) == (identity if known else None)


async def test_how_an_account_is_written_to_is_kept_beside_what_it_is(accounts: Accounts) -> None:
    await accounts.add_account(ADA)
    await accounts.save_contact("Ada", Contact("ada@example.org", "pl", "Europe/Warsaw"))
    kept = await accounts.account("ada")
    assert kept is not None
    assert kept == replace(ADA, contact=Contact("ada@example.org", "pl", "Europe/Warsaw"))
    await accounts.add_credential(credential())
    bearer = await accounts.bearer("d1")
    assert bearer is not None
    assert bearer.person.account == kept
    with pytest.raises(NotFound):
        await accounts.save_contact("bob", Contact())
