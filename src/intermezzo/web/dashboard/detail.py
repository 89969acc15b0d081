"""The page of one workspace, and the parts of it that are fetched again or only when somebody wants them."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.schedule import WEEK
from intermezzo.domain.workspace import Workspace
from intermezzo.web.api.common import Control
from intermezzo.web.auth.guard import Caller, guard_of
from intermezzo.web.auth.permission import SeenKey
from intermezzo.web.dashboard.activity import activity_view
from intermezzo.web.dashboard.addresses import connect_path
from intermezzo.web.dashboard.durations import Durations
from intermezzo.web.dashboard.kinds import icon_of
from intermezzo.web.dashboard.portrait import Portrait, portrait
from intermezzo.web.dashboard.templating import shown
from intermezzo.web.dashboard.timeline import MOST_ROWS, WIDTH, timeline
from intermezzo.web.dashboard.usage import usage
from intermezzo.web.dashboard.visitor import PageRoute
from intermezzo.web.dashboard.ways import allowed, may_enter, may_export, may_fork, ways_out
from intermezzo.web.notice_board import board_of
from intermezzo.web.words.locale import locale_of

router = APIRouter(prefix="/w/{namespace}/{name}", route_class=PageRoute)

LOG_LINES = 300


async def portrait_of(key: SeenKey, control: Control) -> Portrait:
    """The workspace that the address names."""
    return await portrait(key, control)


Shown = Annotated[Portrait, Depends(portrait_of)]


@router.get("")
async def workspace_page(request: Request, found: Shown, identity: Caller, control: Control) -> HTMLResponse:
    """State, reason, what there is, what can be done; below it history, snapshots, ways to connect."""
    values = {**_now(request, found, identity), **_past(found), **await _notices(request, found, identity)}
    values |= await _activity(request, found.record, identity, control)
    values |= await _schedules(found.record, identity, control)
    return shown(request, "workspace.html", values, identity)


@router.get("/now")
async def now_part(request: Request, found: Shown, identity: Caller) -> HTMLResponse:
    """The part of the page that changes with the state."""
    values = {**_now(request, found, identity), **await _notices(request, found, identity)}
    return shown(request, "parts/now.html", values, identity)


@router.get("/activity")
async def activity_part(request: Request, key: SeenKey, identity: Caller, control: Control) -> HTMLResponse:
    """Signals, what keeps it awake, and what comes of it."""
    values = await _activity(request, await control.get(key), identity, control)
    return shown(request, "parts/activity.html", values, identity)


@router.get("/schedules")
async def schedules_part(request: Request, key: SeenKey, identity: Caller, control: Control) -> HTMLResponse:
    """When it is paused and resumed by itself."""
    values = await _schedules(await control.get(key), identity, control)
    return shown(request, "parts/schedule_list.html", values, identity)


@router.get("/past")
async def past_part(request: Request, found: Shown, identity: Caller) -> HTMLResponse:
    """Timeline, snapshots and events."""
    values = {**_now(request, found, identity), **_past(found)}
    return shown(request, "parts/past.html", values, identity)


@router.get("/log")
async def log_part(request: Request, key: SeenKey, identity: Caller, control: Control) -> HTMLResponse:
    """The newest lines of its server's log."""
    return shown(request, "parts/log.html", {"text": await control.logs(key, LOG_LINES)}, identity)


@router.get("/files")
async def files_part(request: Request, key: SeenKey, identity: Caller, control: Control) -> HTMLResponse:
    """Its persistent files, counted on the disk now; only when asked, for it reads them all."""
    return shown(request, "parts/files.html", {"home": await control.home(key)}, identity)


def _now(request: Request, found: Portrait, identity: Identity) -> dict[str, Any]:
    record = found.record
    return {
        "p": found,
        "w": record,
        "section": "workspaces",
        "connect_url": f"{guard_of(request).site.base(request)}{connect_path(record.key, found.port_id)}",
        "may_connect": may(identity, Verb.CONNECT, record.key.namespace, record.owner),
        "icon": icon_of(found.kind),
        "allowed": allowed(record, identity),
        "may_fork": may_fork(record, identity),
        "may_enter": may_enter(record, identity),
        "ways_out": ways_out(found.ways, record, identity),
        "may_export": may_export(record, identity),
        "layers": {layer.name: layer for layer in found.layers},
        "lasted": Durations.of(found.entries),
    }


async def _notices(request: Request, found: Portrait, identity: Identity) -> dict[str, Any]:
    return {"notices": await board_of(request).beside(found.record, identity)}


async def _activity(request: Request, record: Workspace, identity: Identity, control: ControlPlane) -> dict[str, Any]:
    view = await activity_view(record, control, locale_of(request).timezone)
    return {"w": record, "allowed": allowed(record, identity), "a": view}


async def _schedules(record: Workspace, identity: Identity, control: ControlPlane) -> dict[str, Any]:
    schedules = await control.schedules(record.key)
    return {"w": record, "allowed": allowed(record, identity), "schedules": schedules, "week": WEEK}


def _past(found: Portrait) -> dict[str, Any]:
    drawn = timeline(found.entries, found.now)
    return {
        "timeline": drawn,
        "rows": list(reversed(drawn.bands))[:MOST_ROWS] if drawn else [],
        "picture_width": WIDTH,
        "usage": usage(found.entries, found.seen.snapshots, drawn.first, drawn.last) if drawn else None,
        "events": list(reversed(found.entries))[:MOST_ROWS],
    }
