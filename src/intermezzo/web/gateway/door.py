"""The door to every workspace: who comes without a fitting grant is answered here.

Whoever may enter a running workspace gets a grant and is sent to the same address again, where the gateway then lets
them through. In front of one that does not run a person gets a page, and everything else a plain refusal: nothing that
asks here by itself ever resumes a workspace.
"""

from http import HTTPStatus
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from intermezzo.client.gateway import CONNECT_PREFIX, GRANT_COOKIE
from intermezzo.control.loop.orders import base_path
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Identity, Verb
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, Unauthenticated, Unreachable
from intermezzo.domain.workspace import Phase, Workspace
from intermezzo.web import problems
from intermezzo.web.api.common import Control
from intermezzo.web.api.workspaces import detail_of
from intermezzo.web.auth.permission import SeenKey, require_record
from intermezzo.web.dashboard.templating import shown
from intermezzo.web.dashboard.visitor import is_navigation
from intermezzo.web.gateway import addresses
from intermezzo.web.gateway.addresses import Address
from intermezzo.web.gateway.entry import Entry, known
from intermezzo.web.gateway.grants import FOR_BROWSERS_MS, Grants

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
AGAIN_S = "2"

# JupyterLab asks for these every few seconds. Told that they are unavailable, it puts a dialogue about the network over
# the page, which stays after the resume; told that they conflict with the state of things, it just asks again.
ASKED_AGAIN_AND_AGAIN = frozenset({"api/kernels", "api/sessions", "api/terminals"})

router = APIRouter(include_in_schema=False)


@router.api_route(f"{CONNECT_PREFIX}{{path:path}}", methods=METHODS)
async def door(request: Request, control: Control) -> Response:
    """Let in, lead to the login, or tell why not."""
    spelled = _spelled(request)
    if addresses.lacks_last_slash(spelled):
        return RedirectResponse(_with_query(f"{spelled}/", request), HTTPStatus.TEMPORARY_REDIRECT)
    address = addresses.read(spelled)
    try:
        identity = await known(request)
    except Unauthenticated as error:
        if not is_navigation(request):
            return await _on_its_way(request, control, address) or problems.answer(request, error)
        here = request.url.path if not request.url.query else f"{request.url.path}?{request.url.query}"
        return RedirectResponse(f"/login?next={quote(here, safe='')}", HTTPStatus.SEE_OTHER)
    try:
        record = await control.get(address.key)
    except NotFound:
        raise NotFound(f"there is no workspace {address.key}") from None
    require_record(identity, Verb.CONNECT, record)
    canonical = _canonical(control, record, address)
    if record.phase is not Phase.RUNNING:
        return await _closed(request, control, record, identity, address)
    if address.prefix != canonical:
        return RedirectResponse(_with_query(canonical + address.rest, request), HTTPStatus.TEMPORARY_REDIRECT)
    entry: Entry = request.app.state.entry
    if await entry.granted(request, record):
        # The gateway lets such a request through as soon as it has heard of the workspace's new place.
        return await _closed(request, control, record, identity, address)
    return await _let_in(request, identity, record, address)


async def _on_its_way(request: Request, control: ControlPlane, address: Address) -> Response | None:
    """The answer to a tool whose only credential is its grant, until the gateway knows of the workspace's new place;
    None for a request without a grant for that workspace."""
    entry: Entry = request.app.state.entry
    try:
        record = await control.get(address.key)
    except NotFound:
        return None
    return _refused(request, record, address) if await entry.granted(request, record) else None


@router.get("/door/{namespace}/{name}")
async def door_state(request: Request, key: SeenKey, control: Control) -> Response:
    """The part of the page that changes: what the workspace is doing now."""
    detail = await detail_of(await control.get(key), control)
    return shown(request, "door_state.html", {"workspace": detail})


async def _let_in(request: Request, identity: Identity, record: Workspace, address: Address) -> Response:
    grants: Grants = request.app.state.grants
    response = RedirectResponse(_with_query(address.prefix + address.rest, request), HTTPStatus.TEMPORARY_REDIRECT)
    response.set_cookie(
        GRANT_COOKIE,
        await grants.give(identity, record, FOR_BROWSERS_MS),
        max_age=FOR_BROWSERS_MS // 1000,
        path=address.prefix,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return response


async def _closed(
    request: Request, control: ControlPlane, record: Workspace, identity: Identity, address: Address
) -> Response:
    if not is_navigation(request):
        return _refused(request, record, address)
    detail = await detail_of(record, control)
    status = HTTPStatus.SERVICE_UNAVAILABLE
    response = shown(request, "door.html", {"workspace": detail, "key": record.key}, identity, status)
    response.headers["Retry-After"] = AGAIN_S
    return response


def _refused(request: Request, record: Workspace, address: Address) -> Response:
    if record.phase is Phase.RUNNING:
        error = Unreachable(f"{record.key} runs, but the gateway has not heard of it yet", "Ask again in a moment.")
    else:
        phase = record.phase.value.lower()
        error = Unreachable(f"{record.key} is {phase}", f"open its page, or type: intermezzo resume {record.key.typed}")
    conflicts = address.rest in ASKED_AGAIN_AND_AGAIN
    status = HTTPStatus.CONFLICT if conflicts else HTTPStatus.SERVICE_UNAVAILABLE
    response = problems.answer(request, error, status)
    response.headers["Retry-After"] = AGAIN_S
    return response


def _canonical(control: ControlPlane, record: Workspace, address: Address) -> str:
    """The one spelling of this port's prefix that the workspace's server knows. Raises `NotFound`."""
    try:
        made = control.blueprint(record)
    except InvalidInput as error:
        raise Conflict(error.message, "An administrator can bring it back.") from None
    if address.port_id not in {port.id for port in made.ports}:
        raise NotFound(f"{record.key} has no port {address.port_id!r}")
    return f"{base_path(record, made).rstrip('/').rpartition('/')[0]}/{address.port_id}/"


def _spelled(request: Request) -> str:
    """The path as it was sent, percent-encoded."""
    raw: bytes = request.scope["raw_path"]
    return raw.partition(b"?")[0].decode("latin-1")


def _with_query(path: str, request: Request) -> str:
    return f"{path}?{request.url.query}" if request.url.query else path
