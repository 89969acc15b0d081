"""What belongs to one workspace beside its state: log, files, ledger, and how to reach it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from intermezzo.client.continuity_models import ContinuityShape
from intermezzo.client.installation_models import EntryShape
from intermezzo.client.workspace_models import ConnectionShape, HomeShape, LogShape
from intermezzo.web.api.common import Control
from intermezzo.web.auth.guard import Caller, guard_of
from intermezzo.web.auth.permission import ConnectedKey, SeenKey
from intermezzo.web.gateway.grants import FOR_TOOLS_MS, Grants
from intermezzo.web.problems import responses

router = APIRouter(
    prefix="/workspaces/{namespace}/{name}", tags=["workspaces"], responses=responses(401, 403, 404, 422, 503)
)


@router.get("/continuity")
async def show_continuity(key: SeenKey, control: Control) -> ContinuityShape | None:
    """The verdict of the last start or resume with its evidence; null before the first."""
    return ContinuityShape.maybe((await control.get(key)).continuity)


@router.get("/logs")
async def show_logs(key: SeenKey, control: Control, tail: Annotated[int, Query(ge=1, le=10_000)] = 200) -> LogShape:
    """The newest lines of its server's log."""
    return LogShape(text=await control.logs(key, tail))


@router.get("/home")
async def show_home(key: SeenKey, control: Control) -> HomeShape:
    """Its persistent files, counted and digested from the disk now."""
    return HomeShape.model_validate(await control.home(key))


@router.get("/ledger")
async def show_ledger(key: SeenKey, control: Control, after: Annotated[int, Query(ge=0)] = 0) -> list[EntryShape]:
    """What happened to it, in order; at most 1000 entries, go on with `after` the last `seq`."""
    return [EntryShape.model_validate(entry) for entry in await control.ledger(key, after)]


@router.post("/connection", responses=responses(409))
async def connect(key: ConnectedKey, caller: Caller, control: Control, request: Request) -> ConnectionShape:
    """How to reach its server. A POST, so that no page or prefetch gets the token by a plain link."""
    record, _ = await control.live(key)
    grants: Grants = request.app.state.grants
    base_url = guard_of(request).site.base(request) + control.prefix(record)
    return ConnectionShape(url=base_url, base_url=base_url, token=await grants.give(caller, record, FOR_TOOLS_MS))
