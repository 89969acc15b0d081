"""A workspace's snapshots: what there is and whether it could be restored; pin, verify, delete.

Every route asks the control plane and shapes its answer; none decides anything. To restore one, resume by its id.
"""

from http import HTTPStatus

from fastapi import APIRouter

from intermezzo.client.snapshot_models import SnapshotShape
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.errors import NotFound
from intermezzo.domain.snapshot import Confirmation
from intermezzo.domain.workspace import WorkspaceKey
from intermezzo.web.api import render
from intermezzo.web.api.common import Control
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import ChangedKey, SeenKey
from intermezzo.web.problems import responses

router = APIRouter(
    prefix="/workspaces/{namespace}/{name}/snapshots", tags=["snapshots"], responses=responses(401, 403, 404, 422, 503)
)


@router.get("")
async def list_snapshots(key: SeenKey, control: Control) -> list[SnapshotShape]:
    """Its snapshots, newest first, and what keeps each from being restored now."""
    return [render.snapshot(found) for found in await control.snapshots(key)]


@router.post("/{snapshot_id}/pin", responses=responses(409))
async def pin_snapshot(key: ChangedKey, snapshot_id: str, control: Control) -> SnapshotShape:
    """Keep it, whatever its age and however many newer ones there are."""
    await control.pin_snapshot(key, snapshot_id)
    return await _one(control, key, snapshot_id)


@router.post("/{snapshot_id}/unpin", responses=responses(409))
async def unpin_snapshot(key: ChangedKey, snapshot_id: str, control: Control) -> SnapshotShape:
    """Treat it by the rules again; its owner is warned before it goes."""
    await control.unpin_snapshot(key, snapshot_id)
    return await _one(control, key, snapshot_id)


@router.post("/{snapshot_id}/verify", status_code=HTTPStatus.ACCEPTED, responses=responses(409))
async def verify_snapshot(key: ChangedKey, snapshot_id: str, control: Control) -> SnapshotShape:
    """Compare its files with their checksums, when nobody needs the disk: done once `verifying` is false again."""
    await control.verify_snapshot(key, snapshot_id)
    return await _one(control, key, snapshot_id)


@router.delete("/{snapshot_id}", status_code=HTTPStatus.NO_CONTENT, responses=responses(409))
async def delete_snapshot(
    key: ChangedKey,
    snapshot_id: str,
    caller: Caller,
    control: Control,
    confirm: Confirmation = Confirmation.NOTHING,
) -> None:
    """Delete it for good. The one that holds the live session goes only with `confirm=live-state`."""
    await control.delete_snapshot(key, snapshot_id, caller.subject, confirm)


async def _one(control: ControlPlane, key: WorkspaceKey, snapshot_id: str) -> SnapshotShape:
    found = next((s for s in await control.snapshots(key) if s.manifest.id == snapshot_id), None)
    if found is None:
        raise NotFound(f"{key} has no snapshot {snapshot_id}")
    return render.snapshot(found)
