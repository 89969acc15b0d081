"""What the control plane needs from a database: workspace records, the ledger and runs.

Every method is one transaction. A write is guarded by the record's revision, so that of two writers one gets
`StaleWrite`. The ledger can only be appended to, in the same transaction as the change it records.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.ledger import Entry
from intermezzo.domain.resources import Resources
from intermezzo.domain.tally import NO_QUOTAS, Quotas
from intermezzo.domain.volumes import Volume
from intermezzo.domain.workspace import Reservation, Workspace, WorkspaceKey
from intermezzo.ports.accounts import Accounts
from intermezzo.ports.catalog import Catalog
from intermezzo.ports.leases import Leases
from intermezzo.ports.notices import Notices
from intermezzo.ports.schedules import Schedules
from intermezzo.ports.volumes import Volumes


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a notebook or of code. `state`: running, succeeded, failed or interrupted; `cell`: index reached."""

    id: str
    workspace_uid: str
    source: str
    state: str
    started_at: int
    ended_at: int = 0
    cell: int = 0
    cells: int = 0
    problem: str = ""


class Store(Protocol):
    """All times are epoch milliseconds, UTC. Methods raise `Unreachable` if the database does not answer.

    `accounts` is what the same database keeps about people, `catalog` what administrators applied.
    """

    @property
    def accounts(self) -> Accounts:
        """Accounts, teams, credentials, audit."""
        ...

    @property
    def catalog(self) -> Catalog:
        """The documents that administrators applied: kinds and policies."""
        ...

    @property
    def schedules(self) -> Schedules:
        """When workspaces are to be paused and resumed by themselves."""
        ...

    @property
    def notices(self) -> Notices:
        """What people are told, and how far it has come."""
        ...

    @property
    def leases(self) -> Leases:
        """What keeps workspaces awake."""
        ...

    @property
    def volumes(self) -> Volumes:
        """Whose the volumes are, and who uses them."""
        ...

    async def add(
        self,
        workspace: Workspace,
        entries: Sequence[Entry] = (),
        quotas: Quotas = NO_QUOTAS,
        home: Volume | None = None,
    ) -> Workspace:
        """Store a new record. Raises `AlreadyExists` for a key in use (names compare by their case-folded form), and
        `Refused` where a quota allows no further workspace, whatever is added beside it.

        `home` is its home volume: a new one, which is stored too, or one that was read. Raises `StaleWrite`, and then
        neither is stored, if its name was taken or it is used or changed since, or if a data volume of the record has
        gone."""
        ...

    async def get(self, key: WorkspaceKey) -> Workspace:
        """Raises `NotFound`."""
        ...

    async def find(self, uid: str) -> Workspace | None:
        """By uid; None if it is gone."""
        ...

    async def workspaces(self, namespace: str | None = None) -> list[Workspace]:
        """All records (of a namespace), by key."""
        ...

    async def save(self, workspace: Workspace, entries: Sequence[Entry] = ()) -> Workspace:
        """Write a changed record and append entries. `workspace.revision` is the revision that was read; the stored
        and returned record has the next one. Its `reservation` field is ignored: see `reserve` and `release`.
        Raises `StaleWrite` if the record has changed since or is gone."""
        ...

    async def reserve(
        self,
        workspace: Workspace,
        reservation: Reservation,
        capacity: Mapping[str, Resources],
        entries: Sequence[Entry] = (),
        quotas: Quotas = NO_QUOTAS,
    ) -> Workspace | None:
        """Save the record as `save` does and take capacity for it, or change nothing and return None if the node's
        capacity (by node name), less all reservations of others there, does not hold the amount, or one of its quotas
        does not. Never oversells and never exceeds a quota, whatever runs beside it."""
        ...

    async def remount(self, workspace: Workspace, entries: Sequence[Entry] = ()) -> Workspace:
        """Save the record as `save` does, with other data volumes than before. Raises `StaleWrite` too if one of them
        has gone or is being deleted."""
        ...

    async def release(self, workspace: Workspace, entries: Sequence[Entry] = ()) -> Workspace:
        """Save the record as `save` does and give its reservation back. Idempotent."""
        ...

    async def remove(self, workspace: Workspace, entries: Sequence[Entry] = (), volume_ids: Sequence[str] = ()) -> None:
        """Forget the record and its reservation, keep its ledger; with it forget volumes that are gone from their node.
        Raises `StaleWrite` as `save` does."""
        ...

    async def reservations(self) -> dict[str, Reservation]:
        """What is held now, by workspace uid."""
        ...

    async def ledger(self, workspace_uid: str | None = None, after_seq: int = 0, limit: int = 1000) -> list[Entry]:
        """Entries in order of `seq`."""
        ...

    async def append(self, entries: Sequence[Entry]) -> None:
        """Append entries that change no record, such as what a node saw."""
        ...

    async def save_run(self, run: Run) -> None:
        """Insert or replace."""
        ...

    async def runs(self, workspace_uid: str) -> list[Run]:
        """Newest first."""
        ...

    async def note_activity(self, done: Mapping[str, Sequence[Activity]]) -> None:
        """What people did, by workspace uid. Of each sort only the newest is kept; an unknown uid is passed over."""
        ...

    async def activity(self, workspace_uid: str) -> list[Activity]:
        """The newest of each sort in a workspace, newest first."""
        ...

    async def activities(self, workspace_uids: Collection[str]) -> dict[str, dict[Source, int]]:
        """The newest of each sort in each of these workspaces, by uid; without those in which nothing was done."""
        ...

    async def newest_activity(self, workspace_uids: Collection[str]) -> dict[str, Activity]:
        """The newest of any sort in each of these workspaces, by uid; without those in which nobody did anything."""
        ...

    async def setting(self, name: str, default: Any = None) -> Any:
        """A small JSON value kept by the control plane about itself."""
        ...

    async def set_setting(self, name: str, value: Any) -> None:
        """Store such a value."""
        ...

    async def close(self) -> None:
        """Let go of the database."""
        ...
