"""The administration: what there is, who holds it and who waits; people, credentials, and what was done.

For those who oversee the installation. Buttons are for those who administer it; an auditor sees everything else.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Role, TeamRole
from intermezzo.domain.account import Membership
from intermezzo.domain.errors import Unreachable
from intermezzo.web.api.accounts import AllPeople
from intermezzo.web.api.common import Control
from intermezzo.web.api.credentials import LAST_SEQ, PAGE
from intermezzo.web.api.installation import version
from intermezzo.web.api.storage import shape
from intermezzo.web.auth.permission import Overseer
from intermezzo.web.dashboard.kinds import icon_of
from intermezzo.web.dashboard.templating import shown
from intermezzo.web.dashboard.visitor import PageRoute

router = APIRouter(prefix="/admin", route_class=PageRoute)


@router.get("")
async def capacity_page(request: Request, identity: Overseer, control: Control) -> HTMLResponse:
    """Health, capacity and who holds it, the queue, the kinds."""
    values = {"version": version(), **await _capacity(control)}
    values["kinds"] = [(kind, icon_of(kind)) for _, kind in sorted(control.kinds().items())]
    return shown(request, "admin/capacity.html", values, identity)


@router.get("/people")
async def people_page(request: Request, identity: Overseer, people: AllPeople) -> HTMLResponse:
    """Accounts and teams."""
    members: dict[str, list[Membership]] = {}
    for membership in await people.memberships():
        members.setdefault(membership.team, []).append(membership)
    values = {
        "accounts": await people.accounts(),
        "teams": await people.teams(),
        "members": members,
        "roles": tuple(Role),
        "team_roles": tuple(TeamRole),
    }
    return shown(request, "admin/people.html", values, identity)


@router.get("/credentials")
async def credentials_page(request: Request, identity: Overseer, people: AllPeople) -> HTMLResponse:
    """Everybody's tokens, sessions and login codes."""
    return shown(request, "admin/credentials.html", {"credentials": await people.credentials()}, identity)


@router.get("/audit")
async def audit_page(
    request: Request,
    identity: Overseer,
    people: AllPeople,
    before: Annotated[int, Query(ge=0, le=LAST_SEQ)] = LAST_SEQ,
) -> HTMLResponse:
    """Who asked for which change, newest first."""
    records = await people.audit(before, PAGE)
    older = records[-1].seq if len(records) == PAGE else None
    return shown(request, "admin/audit.html", {"records": records, "older": older}, identity)


@router.get("/storage")
async def storage_page(request: Request, identity: Overseer, control: Control) -> HTMLResponse:
    """What lies on the nodes' disks beside what is listed."""
    try:
        audited = shape(await control.audit_storage())
    except Unreachable:
        audited = None
    return shown(request, "admin/storage.html", {"audit": audited}, identity)


async def _capacity(control: ControlPlane) -> dict[str, Any]:
    records = {str(record.key): record for record in await control.workspaces()}
    try:
        return {"uses": await control.capacity(), "queue": await control.turns(), "records": records}
    except Unreachable:
        return {"uses": None, "queue": [], "records": records}
