"""The administration's pages about kinds and policies: what there is, what an edit would mean, apply it.

For those who oversee the installation; only those who administer it can have an edit looked at and apply it.
"""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from intermezzo.control.plane import ControlPlane
from intermezzo.domain.document import Accepted, Sort
from intermezzo.web.api.common import Control
from intermezzo.web.api.documents import SORTS, Plural, TextBody, document, used
from intermezzo.web.auth.permission import Administrator, Overseer
from intermezzo.web.dashboard.templating import shown
from intermezzo.web.dashboard.visitor import PageRoute

pages = APIRouter(prefix="/admin", route_class=PageRoute)
reviews = APIRouter(prefix="/admin")
"""Asked for by a page that shows errors itself, as programs read them."""


@pages.get("/kinds")
async def kinds_page(request: Request, identity: Overseer, control: Control) -> HTMLResponse:
    """All kinds."""
    return shown(request, "admin/documents.html", await _all(Sort.KIND, control), identity)


@pages.get("/policies")
async def policies_page(request: Request, identity: Overseer, control: Control) -> HTMLResponse:
    """All policies."""
    return shown(request, "admin/documents.html", await _all(Sort.POLICY, control), identity)


@pages.get("/{sort}/new")
async def new_page(request: Request, sort: Plural, identity: Administrator, control: Control) -> HTMLResponse:
    """Where a text is put in."""
    return shown(request, "admin/document.html", {"sort": SORTS[sort], "document": None}, identity)


@pages.get("/{sort}/by-name/{document_name}")
async def document_page(
    request: Request, sort: Plural, document_name: str, identity: Overseer, control: Control
) -> HTMLResponse:
    """One of them, letter for letter."""
    listed = control.catalogue.get(SORTS[sort], document_name)
    found = document(listed, used([listed], await control.workspaces())[document_name])
    return shown(request, "admin/document.html", {"sort": SORTS[sort], "document": found}, identity)


@reviews.post("/{sort}/review")
async def review_part(
    request: Request, sort: Plural, body: TextBody, identity: Administrator, control: Control
) -> HTMLResponse:
    """What applying that text would do, with the button that does it."""
    found = await control.conditions.review(body.text, SORTS[sort], body.revisions)
    losing = any(review.impact.losing for review in found)
    values = {
        "sort": SORTS[sort],
        "reviews": found,
        "possible": not any(review.impact.removals for review in found),
        "confirm": (Accepted.SNAPSHOTS if losing else Accepted.NOTHING).value,
    }
    return shown(request, "parts/review.html", values, identity)


async def _all(sort: Sort, control: ControlPlane) -> dict[str, Any]:
    listed = control.catalogue.listed(sort)
    counts = used(listed, await control.workspaces())
    return {"sort": sort, "documents": [document(each, counts[each.name]) for each in listed]}
