"""A store that lives as long as its process: for tests and for a dry run.

It keeps every promise of the port but durability. Nothing in it awaits, so each method is one transaction.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from intermezzo.adapters.memory.accounts import MemoryAccounts
from intermezzo.adapters.memory.catalog import MemoryCatalog
from intermezzo.adapters.memory.leases import MemoryLeases
from intermezzo.adapters.memory.notices import MemoryNotices
from intermezzo.adapters.memory.schedules import MemorySchedules
from intermezzo.adapters.memory.volumes import MemoryVolumes
from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.capacity import free
from intermezzo.domain.errors import AlreadyExists, NotFound, StaleWrite
from intermezzo.domain.ledger import Entry
from intermezzo.domain.names import fold
from intermezzo.domain.quota import place_of
from intermezzo.domain.resources import Resources
from intermezzo.domain.tally import NO_QUOTAS, Holder, Quotas, require_one_more
from intermezzo.domain.volumes import Volume
from intermezzo.domain.workspace import Reservation, Workspace, WorkspaceKey
from intermezzo.ports.store import Run


def _folded(key: WorkspaceKey) -> tuple[str, str]:
    return fold(key.namespace), fold(key.name)


class MemoryStore:
    """Implements `ports.store.Store`."""

    def __init__(self) -> None:
        self.accounts = MemoryAccounts()
        self.catalog = MemoryCatalog()
        self.notices = MemoryNotices()
        self._records: dict[str, Workspace] = {}
        self._uids: dict[tuple[str, str], str] = {}
        self.leases = MemoryLeases(self._records)
        self.volumes = MemoryVolumes(self._records)
        self._reservations: dict[str, Reservation] = {}
        self._wholes: dict[str, Workspace] = {}
        self._ledger: list[Entry] = []
        self.schedules = MemorySchedules(self._records, self._ledger, self._note)
        self._runs: dict[str, Run] = {}
        self._activity: dict[str, dict[Source, int]] = {}
        self._settings: dict[str, str] = {}

    async def add(
        self,
        workspace: Workspace,
        entries: Sequence[Entry] = (),
        quotas: Quotas = NO_QUOTAS,
        home: Volume | None = None,
    ) -> Workspace:
        """Store a new record."""
        if workspace.uid in self._records or self._by_key(workspace.key):
            raise AlreadyExists(f"there is a workspace {workspace.key} already")
        if quotas.all:
            require_one_more(quotas.all, (self._holder(record.uid) for record in self._records.values()))
        self.volumes.require_mountable(workspace)
        if home is not None:
            await self.volumes.require_takeable(home)
            self.volumes.take(home)
        self._records[workspace.uid] = replace(workspace, reservation=None)
        self._uids[_folded(workspace.key)] = workspace.uid
        await self.append(entries)
        return self._whole(workspace.uid)

    async def get(self, key: WorkspaceKey) -> Workspace:
        """The record of that name."""
        found = self._by_key(key)
        if found is None:
            raise NotFound(f"there is no workspace {key}")
        return self._whole(found.uid)

    async def find(self, uid: str) -> Workspace | None:
        """The record of that uid, if there is one."""
        return self._whole(uid) if uid in self._records else None

    async def workspaces(self, namespace: str | None = None) -> list[Workspace]:
        """All records (of a namespace), by key."""
        wanted = [
            self._whole(uid)
            for uid, record in self._records.items()
            if namespace is None or fold(record.key.namespace) == fold(namespace)
        ]
        return sorted(wanted, key=lambda w: (w.key.namespace, w.key.name))

    async def save(self, workspace: Workspace, entries: Sequence[Entry] = ()) -> Workspace:
        """Write a changed record."""
        self._require_fresh(workspace)
        self._records[workspace.uid] = replace(workspace, reservation=None, revision=workspace.revision + 1)
        self._wholes.pop(workspace.uid, None)
        await self.append(entries)
        return self._whole(workspace.uid)

    async def reserve(
        self,
        workspace: Workspace,
        reservation: Reservation,
        capacity: Mapping[str, Resources],
        entries: Sequence[Entry] = (),
        quotas: Quotas = NO_QUOTAS,
    ) -> Workspace | None:
        """Take capacity with the change, or do nothing."""
        self._require_fresh(workspace)
        others = [
            r.amount for uid, r in self._reservations.items() if uid != workspace.uid and r.node == reservation.node
        ]
        whole = capacity.get(reservation.node)
        if whole is None or not free(whole, sum(others, Resources())).fits(reservation.amount):
            return None
        holders = (self._holder(uid) for uid in self._reservations if uid != workspace.uid)
        if quotas.excess(holders, reservation):
            return None
        self._reservations[workspace.uid] = reservation
        return await self.save(workspace, entries)

    async def remount(self, workspace: Workspace, entries: Sequence[Entry] = ()) -> Workspace:
        """Write a changed record with other data volumes."""
        self._require_fresh(workspace)
        self.volumes.require_mountable(workspace)
        return await self.save(workspace, entries)

    async def release(self, workspace: Workspace, entries: Sequence[Entry] = ()) -> Workspace:
        """Give capacity back with the change."""
        self._require_fresh(workspace)
        self._reservations.pop(workspace.uid, None)
        return await self.save(workspace, entries)

    async def remove(self, workspace: Workspace, entries: Sequence[Entry] = (), volume_ids: Sequence[str] = ()) -> None:
        """Forget the record, keep its ledger."""
        self._require_fresh(workspace)
        del self._records[workspace.uid]
        self._uids.pop(_folded(workspace.key), None)
        self._wholes.pop(workspace.uid, None)
        self.volumes.drop(volume_ids)
        self._reservations.pop(workspace.uid, None)
        self._activity.pop(workspace.uid, None)
        self.leases.forget(workspace.uid)
        await self.append(entries)

    async def reservations(self) -> dict[str, Reservation]:
        """What is held now, by workspace uid."""
        return dict(self._reservations)

    async def ledger(self, workspace_uid: str | None = None, after_seq: int = 0, limit: int = 1000) -> list[Entry]:
        """Entries in order of `seq`."""
        wanted = (e for e in self._ledger[after_seq:] if workspace_uid is None or e.workspace_uid == workspace_uid)
        return [entry for entry, _ in zip(wanted, range(limit), strict=False)]

    async def append(self, entries: Sequence[Entry]) -> None:
        """Append entries that change no record."""
        self._note(entries)

    async def save_run(self, run: Run) -> None:
        """Insert or replace."""
        self._runs[run.id] = run

    async def runs(self, workspace_uid: str) -> list[Run]:
        """Newest first."""
        own = (run for run in self._runs.values() if run.workspace_uid == workspace_uid)
        return sorted(own, key=lambda run: (run.started_at, run.id), reverse=True)

    async def note_activity(self, done: Mapping[str, Sequence[Activity]]) -> None:
        """Keep the newest of each sort."""
        for uid, activities in done.items():
            if uid not in self._records:
                continue
            newest = self._activity.setdefault(uid, {})
            for activity in activities:
                newest[activity.source] = max(activity.at, newest.get(activity.source, 0))

    async def activity(self, workspace_uid: str) -> list[Activity]:
        """The newest of each sort, newest first."""
        found = [Activity(source, at) for source, at in self._activity.get(workspace_uid, {}).items()]
        return sorted(found, key=lambda activity: (-activity.at, activity.source))

    async def activities(self, workspace_uids: Collection[str]) -> dict[str, dict[Source, int]]:
        """The newest of each sort in each of these workspaces."""
        return {uid: dict(self._activity[uid]) for uid in workspace_uids if self._activity.get(uid)}

    async def newest_activity(self, workspace_uids: Collection[str]) -> dict[str, Activity]:
        """The newest of any sort in each of these workspaces."""
        found = {uid: await self.activity(uid) for uid in workspace_uids}
        return {uid: activities[0] for uid, activities in found.items() if activities}

    async def setting(self, name: str, default: Any = None) -> Any:
        """A small JSON value."""
        return json.loads(self._settings[name]) if name in self._settings else default

    async def set_setting(self, name: str, value: Any) -> None:
        """Store such a value."""
        self._settings[name] = json.dumps(value)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _note(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._ledger.append(replace(entry, seq=len(self._ledger) + 1))

    def _by_key(self, key: WorkspaceKey) -> Workspace | None:
        uid = self._uids.get(_folded(key))
        return self._records[uid] if uid is not None else None

    def _whole(self, uid: str) -> Workspace:
        if uid not in self._wholes:
            self._wholes[uid] = replace(self._records[uid], reservation=self._reservations.get(uid))
        return self._wholes[uid]

    def _holder(self, uid: str) -> Holder:
        record = self._records[uid]
        return Holder(record.owner, place_of(record), self._reservations.get(uid))

    def _require_fresh(self, workspace: Workspace) -> None:
        stored = self._records.get(workspace.uid)
        if stored is None or stored.revision != workspace.revision:
            raise StaleWrite(f"workspace {workspace.key} has changed since it was read", "Read it again.")
