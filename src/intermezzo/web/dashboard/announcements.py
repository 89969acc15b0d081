"""The administrators' page of announcements: what everybody is told now, and telling something new."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from intermezzo.domain.notice import ANNOUNCEMENT_LENGTH
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import Overseer
from intermezzo.web.dashboard.templating import shown
from intermezzo.web.dashboard.visitor import PageRoute

router = APIRouter(prefix="/admin", route_class=PageRoute)


@router.get("/announcements")
async def announcements_page(request: Request, identity: Overseer, control: Control) -> HTMLResponse:
    """The announcements in force, newest first."""
    values = {
        "announcements": list(reversed(await control.announcements())),
        "kinds": sorted(control.kinds()),
        "longest": ANNOUNCEMENT_LENGTH,
    }
    return shown(request, "admin/announcements.html", values, identity)
