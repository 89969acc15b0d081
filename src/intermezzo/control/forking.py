"""What a fork is recorded as: a new workspace whose first operation restores another one's snapshot.

Whether somebody may read the original's memory is asked at the door, not here. Nothing of the original is changed.
"""

from dataclasses import replace

from intermezzo.control.conditions.offering import kind_in
from intermezzo.control.context import Context, new_id
from intermezzo.control.storage.snapshots import chosen
from intermezzo.control.storage.soundness import require_sound
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, Refused
from intermezzo.domain.held import Acceptance
from intermezzo.domain.kind import Choice
from intermezzo.domain.names import check_names
from intermezzo.domain.offers import require_allowed
from intermezzo.domain.resources import labelled
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import Operation, OperationKind, Origin, Phase, Workspace, WorkspaceKey


async def forked(
    context: Context,
    original: Workspace,
    key: WorkspaceKey,
    owner: str,
    by: str,
    snapshot_id: str,
    pod: str,
    accepted: Acceptance,
) -> Workspace:
    """The record of a fork of `original` under `key`, of its snapshot of that id (the newest if empty) and in that size
    (the original's if empty). Raises `InvalidInput`, `Refused`, `NotFound`, `FilesChanged` or `Conflict` where none can
    be made."""
    check_names(key.namespace, key.name)
    if original.phase is Phase.DELETING:
        raise Conflict(f"{original.key} is being deleted")
    _require_same_data(original, key)
    size = await _size(context, original, key, pod)
    another = f"Fork another snapshot: `intermezzo snapshots list {original.key.typed}` shows them."
    snapshot = await chosen(context, original, snapshot_id, another)
    if snapshot is None:
        raise Conflict(
            f"{original.key} has no snapshot that it could be forked from",
            f"Pause it first: `intermezzo pause {original.key.typed}`.",
        )
    made = context.blueprint(original, snapshot.id)
    if not made.server.can_be_renamed:
        raise Refused(
            f"a session of {made.server.display_name} cannot be forked: its server cannot be given another identity",
            "Create a new workspace, and copy the files that it needs.",
        )
    _require_provable(original, snapshot)
    again = f"`intermezzo fork {original.key.typed} {key.typed} --snapshot {snapshot.id} --accept-changed-files`"
    await require_sound(context, original, snapshot, accepted, again, another)
    now, nodes = context.clock.now(), await context.cluster.nodes()
    operation = Operation(
        new_id(),
        OperationKind.FORK,
        1,
        by,
        now,
        Phase.QUEUED,
        snapshot_id=snapshot.id,
        snapshot=snapshot,
        accepted=accepted,
    )
    return Workspace(
        uid=new_id(),
        key=key,
        owner=owner,
        spec=replace(original.spec, pod=size.pod.id, home="", display_name=""),
        demand=labelled(size.pod.demand, nodes),
        limits=size.pod.ceiling,
        volume_id="",
        created_at=now,
        phase_since=now,
        operation=operation,
        token=1,
        queued_at=now,
        blueprint=made,
        origin=Origin(original.uid, original.key, snapshot.id, original.volume_id, original.planted.get(snapshot.id)),
    )


async def snapshot_again(context: Context, fork: Workspace, origin: Origin, accepted: Acceptance) -> Manifest:
    """The snapshot that a fork which did not come to be is tried from again. Raises `Conflict` if that is not there,
    and `FilesChanged` as for a first one."""
    original = await context.store.find(origin.workspace_uid)
    if original is None:
        raise Conflict(
            f"{origin.key}, of which {fork.key} was to be a fork, is gone",
            f"Delete it: `intermezzo delete {fork.key.typed}`.",
        )
    another = f"Or delete it, and fork another one: `intermezzo snapshots list {origin.key.typed}` shows them."
    try:
        snapshot = await chosen(context, original, origin.snapshot_id, another)
    except NotFound as error:
        raise Conflict(
            f"the snapshot of {origin.key}, of which {fork.key} was to be a fork, is gone",
            f"Delete it, and fork another one: `intermezzo snapshots list {origin.key.typed}`.",
        ) from error
    assert snapshot is not None
    again = f"`intermezzo resume {fork.key.typed} --accept-changed-files`"
    await require_sound(context, original, snapshot, accepted, again, another)
    return snapshot


def _require_provable(original: Workspace, snapshot: Manifest) -> None:
    if original.planted.get(snapshot.id) is None:
        raise Conflict(
            f"nothing was planted in the session before snapshot {snapshot.id} was made, so that nothing could be "
            "proven of a fork of it",
            f"Resume {original.key} and pause it again, then fork that snapshot.",
        )


def _require_same_data(original: Workspace, key: WorkspaceKey) -> None:
    """A data volume belongs to its namespace; the session has files on those that it had, and would miss them."""
    if original.spec.data and original.key.namespace != key.namespace:
        names = ", ".join(each.volume for each in original.spec.data)
        raise Refused(
            f"{original.key} has the data volume {names}, which cannot be mounted in {key.namespace}",
            f"Fork it into {original.key.namespace}.",
        )


async def _size(context: Context, original: Workspace, key: WorkspaceKey, pod: str) -> Choice:
    """The size of the fork. Raises `Refused` for one that is not offered there or has other accelerators."""
    kind = context.kinds.get(original.spec.kind)
    if kind is None:
        raise InvalidInput(f"the kind {original.spec.kind!r} of {original.key} is gone", "Ask an administrator for it.")
    here = await kind_in(context, kind, key.namespace, original.spec.image, pod or original.spec.pod)
    size = here.choose(original.spec.image, pod or original.spec.pod)
    require_allowed(here, size)
    if dict(size.pod.ceiling.accelerators) != dict(original.limits.accelerators):
        raise Refused(
            f"the size {size.pod.id!r} has other accelerators than {original.key}, whose memory it would have to hold",
            "Choose a size with the same accelerators.",
        )
    return size
