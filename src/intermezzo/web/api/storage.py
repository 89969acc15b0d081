"""What lies on the nodes' disks beside what is listed, and clearing away what nothing refers to.

For those who oversee the installation; only administrators clear. It decides nothing.
"""

from http import HTTPStatus

from fastapi import APIRouter

from intermezzo.client.storage_models import StorageAuditShape, StorageFinding, StorageLine
from intermezzo.control.storage.auditing import StorageAudit
from intermezzo.domain.storage import Finding, Verdict, What
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import Administrator, Overseer
from intermezzo.web.problems import responses

router = APIRouter(prefix="/storage", tags=["storage"], responses=responses(401, 403, 503))


@router.get("/audit")
async def audit_storage(_: Overseer, control: Control) -> StorageAuditShape:
    """Count what lies on the disks, and compare it with what is listed. Changes nothing."""
    return shape(await control.audit_storage())


@router.delete("/{what}/{workspace_uid}/{item_id}", status_code=HTTPStatus.NO_CONTENT, responses=responses(409, 422))
async def clear_storage(
    what: What,
    workspace_uid: str,
    item_id: str,
    administrator: Administrator,
    control: Control,
    place: str = "",
    file: str = "",
) -> None:
    """Delete an orphan for good, its name first; nothing happens if it is not there. `place` and `file` as in the
    audit."""
    await control.clear_storage((place, what, workspace_uid, item_id, file), administrator.subject)


def shape(audited: StorageAudit) -> StorageAuditShape:
    """An audit as the API says it: listed snapshots that have all their bytes are in the lines alone."""
    found, lines = audited.found, audited.found.lines()
    worth_telling = [each for each in found.findings if each.verdict is not Verdict.LISTED or not each.agrees]
    return StorageAuditShape(
        at=audited.at,
        agrees=found.agrees,
        listed_bytes=sum(line.listed_bytes for line in lines),
        disk_bytes=sum(line.disk_bytes for line in lines),
        orphans=len(found.orphans),
        orphan_bytes=sum(item.bytes for item in found.orphans),
        workspaces=[
            StorageLine(
                workspace_uid=line.workspace_uid,
                **_names(audited, line.workspace_uid),
                snapshots=line.snapshots,
                listed_bytes=line.listed_bytes,
                disk_bytes=line.disk_bytes,
            )
            for line in lines
        ],
        findings=[_finding(audited, each) for each in worth_telling],
    )


def _finding(audited: StorageAudit, finding: Finding) -> StorageFinding:
    item = finding.item
    return StorageFinding(
        verdict=finding.verdict,
        what=item.what,
        place=item.place,
        workspace_uid=item.workspace_uid,
        **_names(audited, item.workspace_uid),
        id=item.id,
        file=item.file,
        bytes=item.bytes,
        listed_bytes=item.listed_bytes,
    )


def _names(audited: StorageAudit, uid: str) -> dict[str, str]:
    key = audited.names.get(uid)
    return {"namespace": key.namespace if key else "", "name": key.name if key else ""}
