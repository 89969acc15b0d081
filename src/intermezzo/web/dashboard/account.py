"""One's own account: sessions, API tokens, the way out."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from intermezzo.domain.access import Scope
from intermezzo.domain.account import Use
from intermezzo.web.api.accounts import AllPeople
from intermezzo.web.auth.permission import Reader
from intermezzo.web.dashboard.templating import shown
from intermezzo.web.dashboard.visitor import PageRoute
from intermezzo.web.words.locale import timezones

router = APIRouter(route_class=PageRoute)


@router.get("/account")
async def account_page(request: Request, identity: Reader, people: AllPeople) -> HTMLResponse:
    """Where one is logged in, and what programs may do in one's name."""
    own = await people.credentials(identity.subject)
    values = {
        "sessions": [credential for credential in own if credential.use is Use.SESSION],
        "tokens": [credential for credential in own if credential.use is Use.API],
        "scopes": tuple(Scope),
        "account": await people.account(identity.subject),
        "timezones": timezones(),
    }
    return shown(request, "account.html", values, identity)
