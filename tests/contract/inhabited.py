"""A store in which something of every sort is kept."""

from contract.samples import GPU, NODE, entry, full, reservation, workspace
from intermezzo.domain.access import Role, TeamRole
from intermezzo.domain.account import Account, AuditRecord, Contact, Credential, Membership, Team, Use
from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.lease import Lease, LeaseSource
from intermezzo.domain.ledger import Event
from intermezzo.domain.notice import Delivery, Fate, Notice, Sort
from intermezzo.domain.resources import Resources
from intermezzo.domain.schedule import Action, Schedule, read_rule
from intermezzo.domain.volumes import Purpose, Volume
from intermezzo.ports.catalog import Document
from intermezzo.ports.store import Run, Store

ROOM = {NODE: Resources(64_000, 2**40, {GPU: 8})}


async def inhabit(store: Store) -> None:
    """Put something of every sort into an empty store."""
    await _people(store)
    await _workspaces(store)
    await _conditions(store)
    await store.set_setting("Ünïcode", {"a": [1, "名前", None]})


async def _people(store: Store) -> None:
    accounts = store.accounts
    for account in (Account("ada", Role.PLATFORM_ADMIN, created_at=5), Account("Bob@x.org", created_at=6)):
        await accounts.add_account(account)
    await accounts.save_contact("ada", Contact("ada@example.org", "pl", "Europe/Warsaw"))
    await accounts.add_team(Team("red", ("team", "lab"), 7))
    await accounts.join(Membership("red", "ada", TeamRole.ADMIN))
    await accounts.add_credential(Credential("c1", "digest-1", "ada", Use.API, "laptop", created_at=8))
    await accounts.record([AuditRecord(at, "ada", "c1", "127.0.0.1", "pause", "team/exp", 202) for at in (9, 10, 11)])


async def _workspaces(store: Store) -> None:
    await store.add(full("u1"), [entry("u1", 1), entry("u1", 2, Event.CAPACITY_ACQUIRED, node=NODE, waited_ms=3)])
    await store.add(workspace("u2", "second"), [entry("u2", 3)])
    await store.reserve(await store.get(workspace("u2", "second").key), reservation(), ROOM)
    for uid in ("u1", "u2"):
        home = f"volume-{uid}"
        await store.volumes.add(Volume(home, "team", home, "ada@example.com", Purpose.HOME, 4))
    await store.volumes.add(Volume("data-1", "team", "measurements", "ada", Purpose.DATA, 4))
    await store.save_run(Run("r1", "u1", "a notebook", "failed", 5, 6, 1, 2, "NameError: x"))
    await store.note_activity({"u1": [Activity(Source.CHANNEL, 7), Activity(Source.RUN, 8)]})


async def _conditions(store: Store) -> None:
    await store.catalog.put(Document("WorkspaceKind", "own", "kind: WorkspaceKind # as it was typed\n", "ada", 9))
    await store.leases.put(Lease("u1", 2_000_000_000_000, LeaseSource.CLI, "ada", 10, "a long run"))
    await store.schedules.add(
        Schedule(
            id="s1",
            workspace_uid="u1",
            action=Action.PAUSE,
            rule=read_rule("mon-fri 20:00"),
            zone="Europe/Warsaw",
            set_by="ada",
            set_at=11,
            done_until=12,
        )
    )
    notice = Notice(
        id="n1",
        sort=Sort.IDLE_PAUSE,
        occasion="700",
        subject="ada",
        message="nobody used it",
        created_at=13,
        workspace_uid="u1",
        expires_at=2**50,
    )
    await store.notices.add([notice], 13)
    await store.notices.note_delivery(Delivery("n1", "smtp", Fate.DELAYED, 2, 14, "no answer"))
