"""The ways back to work from wherever a workspace is, and the export of its files, which is one of them.

Every route asks the control plane and shapes its answer; none decides anything. The other ways are taken by asking for
a resume or a restart.
"""

from contextlib import AsyncExitStack
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from intermezzo.client.recovery_models import WayShape
from intermezzo.domain.export import EXPORTED_FILES, EXPORTED_SIZE, MEDIA_TYPE, SUFFIX
from intermezzo.download import Download
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import ExportedKey, SeenKey
from intermezzo.web.problems import responses

router = APIRouter(
    prefix="/workspaces/{namespace}/{name}", tags=["recovery"], responses=responses(401, 403, 404, 422, 503)
)

ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {"content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get("/recovery")
async def show_recovery(key: SeenKey, control: Control) -> list[WayShape]:
    """The ways back, the one that loses least first: what each brings back, what it loses, and whether it is open."""
    return [WayShape.model_validate(way) for way in await control.recovery.ways(key)]


@router.get("/export", response_class=Response, responses=responses(409) | ARCHIVE)
async def export_files(key: ExportedKey, control: Control) -> Response:
    """Its home as one archive (a gzipped tar), with the exact list of packages. The answer breaks off if it cannot be
    finished; `Intermezzo-Export-Bytes` is about the size before compression, 0 where that is not known."""
    request = await control.recovery.request(key)
    making = AsyncExitStack()
    made = await making.enter_async_context(control.recovery.export(request))
    headers = {
        EXPORTED_FILES: str(made.files),
        EXPORTED_SIZE: str(made.size),
        "Content-Disposition": f'attachment; filename="{request.folder}{SUFFIX}"',
        "Cache-Control": "no-store",
    }
    return Download(made.content, making, MEDIA_TYPE, headers)
