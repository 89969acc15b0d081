"""Keeping workspaces awake: leases are given, extended and released here, whoever asks.

Each change touches the workspace's record as well. So an idle pause that was decided from the record before cannot
come after the owner was told that it will not: one of the two finds the record changed. What is held is read and
replaced by one at a time, so that nobody's longer lease is written over by a shorter one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from intermezzo.control import entries
from intermezzo.control.context import Context
from intermezzo.domain.errors import Conflict, StaleWrite
from intermezzo.domain.lease import Lease, LeaseSource, granted, heard
from intermezzo.domain.ledger import Event
from intermezzo.domain.readings import KeepAwake
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey

ATTEMPTS = 20
AWAKE = frozenset({Phase.QUEUED, Phase.STARTING, Phase.RESUMING, Phase.RUNNING})


class KeepingAwake:
    """What is asked for and what holds. All raise `NotFound` for an unknown workspace. `look_again` has the idle rule
    decide anew about a workspace before anybody is told of the change."""

    def __init__(self, context: Context, look_again: Callable[[Workspace], Awaitable[object]]) -> None:
        self._context = context
        self._look_again = look_again
        self._lease_at_a_time = asyncio.Lock()

    async def lease(self, key: WorkspaceKey) -> Lease | None:
        """The lease that holds now; None if there is none."""
        return (await self._holding(key))[1]

    async def leases(self) -> Mapping[str, Lease]:
        """Those that hold now, by workspace uid."""
        now = self._context.clock.now()
        return {uid: lease for uid, lease in (await self._context.store.leases.leases()).items() if lease.holds(now)}

    async def keep_awake(self, key: WorkspaceKey, until: int, by: str, source: LeaseSource, reason: str = "") -> Lease:
        """Do not pause it for being idle before `until` (epoch milliseconds). Returns what holds from now on.

        Raises `Refused` for more than the policy allows at a time, `InvalidInput` for a time that is over, and
        `Conflict` for a workspace that is not up or on its way there.
        """
        async with self._lease_at_a_time:
            workspace, held = await self._holding(key)
            asked = Lease(workspace.uid, until, source, by, self._context.clock.now(), reason)
            lease = granted(asked, held, self._longest_s(workspace))
            if lease != held:
                await self._store(key, lease, Event.KEPT_AWAKE)
            return lease

    async def end_lease(self, key: WorkspaceKey, by: str, source: LeaseSource) -> None:
        """The idle rule holds again at once. Idempotent."""
        async with self._lease_at_a_time:
            _, held = await self._holding(key)
            if held is not None:
                now = self._context.clock.now()
                await self._store(key, Lease(held.workspace_uid, now, source, by, now), Event.KEEP_AWAKE_ENDED)

    async def hear_keep_awake(self, workspace: Workspace, said: KeepAwake | None, seen: Lease | None) -> None:
        """Take in what was asked for from inside the sandbox; None where nothing is asked for any more. `seen` is the
        lease as it was read a while ago, from which most often it is plain that nothing changes."""
        longest_s = self._longest_s(workspace)
        if heard(workspace.uid, said, seen, longest_s, self._context.clock.now()) is None:
            return
        async with self._lease_at_a_time:
            held = await self._context.store.leases.lease(workspace.uid)
            now = self._context.clock.now()
            if lease := heard(workspace.uid, said, held, longest_s, now):
                event = Event.KEPT_AWAKE if lease.holds(now) else Event.KEEP_AWAKE_ENDED
                await self._store(workspace.key, lease, event)

    async def _holding(self, key: WorkspaceKey) -> tuple[Workspace, Lease | None]:
        """The workspace, and the lease that holds now."""
        workspace = await self._context.store.get(key)
        held = await self._context.store.leases.lease(workspace.uid)
        return workspace, held if held is not None and held.holds(self._context.clock.now()) else None

    def _longest_s(self, workspace: Workspace) -> int:
        return self._context.said(workspace).rules.keep_awake_longest_s or 0

    async def _store(self, key: WorkspaceKey, lease: Lease, event: Event) -> None:
        for _ in range(ATTEMPTS):
            workspace = await self._context.store.get(key)
            if event is Event.KEPT_AWAKE and workspace.phase not in AWAKE:
                raise Conflict(
                    f"{key} is {workspace.phase.value.lower()}: there is nothing to keep awake",
                    f"Resume it first: `intermezzo resume {key.typed}`.",
                )
            await self._context.store.leases.put(lease)
            details = {"until": lease.until, "by": lease.asked_by, "through": lease.source.value}
            fact = entries.entry(workspace, event, self._context.clock.now(), **details)
            try:
                stored = await self._context.store.save(workspace, [fact])
            except StaleWrite:
                continue
            await self._look_again(stored)
            self._context.changes.touch(workspace.uid)
            return
        raise Conflict(f"{key} is being changed by others all the time", "Try again.")
