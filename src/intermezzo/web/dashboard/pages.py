"""The pages that people see, put together. Each module has the routes of one page.

No page carries a secret, and none has script or style in its text.
"""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from intermezzo.web.dashboard import (
    account,
    administration,
    announcements,
    create,
    detail,
    documents,
    home,
    quotas,
    volumes,
)
from intermezzo.web.dashboard.templating import shown
from intermezzo.web.dashboard.visitor import PageRoute

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/login")
async def login_page(request: Request) -> HTMLResponse:
    """Where a login link leads; its script does the rest."""
    values = {
        "has_provider": request.app.state.identity_provider is not None,
        "next": request.query_params.get("next", "/"),
    }
    return shown(request, "login.html", values)


for page in (home, create, detail, volumes, account, quotas, announcements, administration):
    router.include_router(page.router)
router.include_router(documents.pages)
router.include_router(documents.reviews)
