"""Snapshots in their owner's hands: look at them, pin, verify and delete them.

A change is carried out by the node and seen there; only a deletion is remembered until the node has done it, since
from that moment on nobody may be brought back from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from intermezzo.control import entries
from intermezzo.control.context import Context
from intermezzo.control.queue.fitting import Fitting
from intermezzo.control.storage.awaited import awaited
from intermezzo.control.storage.outlook import Outlook, outlooks
from intermezzo.domain import reasons
from intermezzo.domain.compatibility import Difference
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, StaleWrite, Unreachable
from intermezzo.domain.ledger import Event
from intermezzo.domain.orders import SnapshotChange, SnapshotOrder
from intermezzo.domain.snapshot import FROM_STORE, Confirmation, Manifest, SnapshotState, newest_first
from intermezzo.domain.transfer import Transfer
from intermezzo.domain.workspace import SETTLED, Phase, Workspace, WorkspaceKey

ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot as it stands. `compatible` says whether a node could restore it now, None where that is unknown;
    `differences` are those to the node that comes nearest. `current`: a resume that names none brings this one back.
    `outlook` says when and why it will go, None where it stays. `transfer` is what is being done with it beside any
    operation, such as sending it to the store; None where nothing is.
    """

    manifest: Manifest
    state: SnapshotState
    compatible: bool | None
    differences: tuple[Difference, ...]
    current: bool
    outlook: Outlook | None = None
    transfer: Transfer | None = None


class Snapshots:
    """All raise `NotFound` for an unknown workspace or snapshot and `Unreachable` if the node is silent."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def snapshots(self, key: WorkspaceKey) -> list[Snapshot]:
        """All complete ones, newest first."""
        workspace = await self._context.store.get(key)
        seen = await self._context.cluster.observe(workspace.uid)
        found = newest_first(seen.snapshots)
        fitting = Fitting(self._context)
        compared = [await fitting.compared(workspace, manifest) for manifest in found]
        going = await outlooks(self._context, workspace, found)
        standing = [_as_it_stands(workspace, m, each) for m, each in zip(found, compared, strict=True)]
        moving = {transfer.snapshot_id: transfer for transfer in seen.transfers}
        told = [(each, each.manifest.id) for each in standing]
        return [replace(each, outlook=going.get(id_), transfer=moving.get(id_)) for each, id_ in told]

    async def pin_snapshot(self, key: WorkspaceKey, snapshot_id: str) -> None:
        """Keep it, whatever the rules say, until it is unpinned. Raises `Conflict` where it is going already."""
        await self._tend(key, snapshot_id, SnapshotChange.PIN)
        await self._require_wanted(key, snapshot_id)

    async def unpin_snapshot(self, key: WorkspaceKey, snapshot_id: str) -> None:
        """Treat it by the rules again; its owner is warned before it goes."""
        await self._tend(key, snapshot_id, SnapshotChange.UNPIN)

    async def verify_snapshot(self, key: WorkspaceKey, snapshot_id: str) -> None:
        """Have its files compared with their checksums; the outcome is seen in its `verified_at` and `damage`."""
        await self._tend(key, snapshot_id, SnapshotChange.VERIFY)

    async def delete_snapshot(
        self, key: WorkspaceKey, snapshot_id: str, by: str, confirmed: Confirmation = Confirmation.NOTHING
    ) -> None:
        """Delete it for good. Raises `Conflict` while an operation is under way or it is pinned, and `InvalidInput`
        where the live session would go with it and that was not confirmed."""
        for _ in range(ATTEMPTS):
            workspace = await self._context.store.get(key)
            if snapshot_id in workspace.unwanted:
                return
            there = await self._there(workspace)
            _require_deletable(workspace, there, snapshot_id, confirmed)
            await _require_not_awaited(self._context, workspace, snapshot_id)
            now = self._context.clock.now()
            fact = entries.entry(workspace, Event.SNAPSHOT_DELETED, now, snapshot_id=snapshot_id)
            try:
                await self._context.store.save(_without(workspace, there, snapshot_id, now), [replace(fact, actor=by)])
            except StaleWrite:
                continue
            self._context.changes.touch(workspace.uid)
            self._context.wake(workspace.uid)
            return
        raise Conflict(f"{key} is being changed by others all the time", "Try again.")

    async def _tend(self, key: WorkspaceKey, snapshot_id: str, change: SnapshotChange) -> None:
        workspace = await self._context.store.get(key)
        if workspace.phase is Phase.DELETING or snapshot_id in workspace.unwanted:
            raise Conflict(f"snapshot {snapshot_id} is being deleted")
        _require_there(workspace, await self._there(workspace), snapshot_id)
        await self._context.cluster.tend(SnapshotOrder(workspace.uid, snapshot_id, change))
        self._context.changes.touch(workspace.uid)

    async def _require_wanted(self, key: WorkspaceKey, snapshot_id: str) -> None:
        """Nobody may be told that it stays while somebody else writes down that it goes: the record is written, so that
        of the two one reads again."""
        for _ in range(ATTEMPTS):
            workspace = await self._context.store.get(key)
            if snapshot_id in workspace.unwanted:
                raise Conflict(f"snapshot {snapshot_id} is being deleted")
            left = tuple(each for each in workspace.replaced if each != snapshot_id)
            try:
                await self._context.store.save(workspace.with_(replaced=left))
            except StaleWrite:
                continue
            return
        raise Conflict(f"{key} is being changed by others all the time", "Try again.")

    async def _there(self, workspace: Workspace) -> list[Manifest]:
        return newest_first((await self._context.cluster.observe(workspace.uid)).snapshots)


async def _require_not_awaited(context: Context, workspace: Workspace, snapshot_id: str) -> None:
    fork = (await awaited(context)).get((workspace.uid, snapshot_id))
    if fork is not None:
        raise Conflict(
            f"the fork {fork} is being made from snapshot {snapshot_id}",
            f"Wait until it is there: `intermezzo wait {fork.typed} --for settled`.",
        )


async def chosen(context: Context, workspace: Workspace, snapshot_id: str = "", otherwise: str = "") -> Manifest | None:
    """The snapshot that a resume or a fork reads: the one named, else the newest; None where there is none at all.

    Raises `NotFound` or, for one that cannot be used, `Conflict`, which says what can be typed `otherwise` (what
    belongs to a resume if empty): an older one is offered and never taken by itself.
    """
    newest = workspace.snapshot
    wanted = snapshot_id or (newest.id if newest else "")
    if not wanted:
        return None
    try:
        there = newest_first((await context.cluster.observe(workspace.uid)).snapshots)
    except Unreachable:
        if newest is None or wanted != newest.id:
            raise
        return newest  # it waits in the queue until the node answers
    usable = [m for m in there if m.id not in workspace.unwanted]
    found = next((m for m in usable if m.id == wanted), None)
    if found is None:
        if snapshot_id:
            raise NotFound(f"{workspace.key} has no snapshot {wanted}", f"`intermezzo snapshots {workspace.key.typed}`")
        hint = otherwise or await instead(context, workspace, usable, wanted)
        raise Conflict(f"the snapshot of {workspace.key} is not on its node", hint)
    if found.damage:
        raise await damaged(context, workspace, usable, found, found.damage, otherwise)
    return found


async def damaged(
    context: Context, workspace: Workspace, there: Sequence[Manifest], found: Manifest, damage: str, otherwise: str
) -> Conflict:
    """Why a damaged snapshot is not read, and what to do: to wait, where the store has it as well."""
    hint = FROM_STORE if found.mends_itself else otherwise or await instead(context, workspace, there, found.id)
    return Conflict(f"snapshot {found.id} is damaged and cannot be resumed: {damage}", hint)


async def instead(context: Context, workspace: Workspace, there: Sequence[Manifest], snapshot_id: str) -> str:
    """What can be typed in place of a resume from that snapshot; another one is named only if it could be had back."""
    fresh = f"`intermezzo restart {workspace.key.typed} --fresh`"
    fitting = Fitting(context)
    for other in there:
        if other.id == snapshot_id or other.damage:
            continue
        word = await _word_for(fitting, workspace, other)
        if word is not None:
            named = f"`intermezzo resume {workspace.key.typed} --snapshot {other.id}{word}`"
            return f"Resume an older one: {named}. Or start fresh from the files: {fresh}."
    return f"Start fresh from the files: {fresh}."


async def _word_for(fitting: Fitting, workspace: Workspace, snapshot: Manifest) -> str | None:
    """What is to be added for a node to restore it now, so that its owner accepts what has changed; None if none would
    at all."""
    try:
        found = (await fitting.in_the_way(workspace, snapshot)).values()
    except Unreachable:
        return None
    possible = [each for each in found if not any(difference.prevents for difference in each)]
    if not possible:
        return None
    as_it_is = any(not any(difference.acceptable for difference in each) for each in possible)
    return "" if as_it_is else " --accept-changed-files"


def _as_it_stands(workspace: Workspace, manifest: Manifest, compared: list[list[Difference]] | None) -> Snapshot:
    def weight(found: list[Difference]) -> tuple[int, int]:
        return sum(difference.prevents for difference in found), len(found)

    nearest = min(compared, key=weight) if compared else []
    compatible = None if compared is None else bool(compared) and not any(d.prevents for d in nearest)
    current = workspace.snapshot is not None and workspace.snapshot.id == manifest.id
    return Snapshot(manifest, _state(workspace, manifest, compatible), compatible, tuple(nearest), current)


def _state(workspace: Workspace, manifest: Manifest, compatible: bool | None) -> SnapshotState:
    if manifest.id in workspace.unwanted or workspace.phase is Phase.DELETING:
        return SnapshotState.DELETING
    if manifest.damage:
        return SnapshotState.CORRUPT
    return SnapshotState.INCOMPATIBLE if compatible is False else SnapshotState.COMPLETE


def _require_there(workspace: Workspace, there: Sequence[Manifest], snapshot_id: str) -> Manifest:
    found = next((manifest for manifest in there if manifest.id == snapshot_id), None)
    if found is None:
        raise NotFound(
            f"{workspace.key} has no snapshot {snapshot_id}", f"`intermezzo snapshots {workspace.key.typed}`"
        )
    return found


def _require_deletable(
    workspace: Workspace, there: Sequence[Manifest], snapshot_id: str, confirmed: Confirmation
) -> None:
    key = workspace.key
    found = _require_there(workspace, there, snapshot_id)
    if workspace.phase not in SETTLED:
        raise Conflict(f"{key} is {workspace.phase.value.lower()}", "Delete the snapshot when that has ended.")
    if found.pinned:
        hint = f"`intermezzo snapshots unpin {key.typed} {snapshot_id}`"
        raise Conflict(f"snapshot {snapshot_id} of {key} is pinned and is not deleted", hint)
    current = workspace.snapshot is not None and workspace.snapshot.id == snapshot_id
    if current and workspace.phase is not Phase.RUNNING and confirmed is not Confirmation.LIVE_STATE:
        others = [m for m in there if m.id != snapshot_id and m.id not in workspace.unwanted]
        after = "a resume would bring back an older session" if others else "only its files would be left"
        raise InvalidInput(
            f"snapshot {snapshot_id} is the live session of {key}: it would be gone for good, {after}",
            "To delete it all the same, confirm that the live state may go.",
            {"confirm": f"must be {Confirmation.LIVE_STATE.value!r}"},
        )


def _without(workspace: Workspace, there: Sequence[Manifest], snapshot_id: str, now: int) -> Workspace:
    """The record once that snapshot is not wanted any more."""
    left = [m for m in there if m.id != snapshot_id and m.id not in workspace.unwanted]
    changed = workspace.with_(unwanted=(*workspace.unwanted, snapshot_id))
    if workspace.snapshot is None or workspace.snapshot.id != snapshot_id:
        return changed
    changed = changed.with_(snapshot=left[0] if left else None)
    if left or workspace.phase is Phase.RUNNING:
        return changed
    return changed.with_(condition=replace(reasons.files_only(), at=now))
