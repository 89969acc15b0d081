"""Logging in and out: a single-use code, carried in the address's fragment so that no log sees it, becomes a session.

The page's script reads the fragment, removes it from the address and posts it. Nothing here knows passwords.
"""

from http import HTTPStatus
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from intermezzo.client.installation_models import LoginLink
from intermezzo.domain.account import Use
from intermezzo.web.auth import sessions
from intermezzo.web.auth.guard import Caller, credentials_of, guard_of, require_same_origin
from intermezzo.web.auth.origin import client_of
from intermezzo.web.auth.permission import Unlimited
from intermezzo.web.auth.throttle import Throttle
from intermezzo.web.problems import responses

router = APIRouter(tags=["login"])


class LoginRequest(BaseModel):
    """What the login page posts. `next` is a path on this site."""

    code: str = Field(min_length=1, max_length=200)
    next: str = Field(default="/", max_length=2000)


class LoginLinkRequest(BaseModel):
    """Where a login link leads on to: a path on this site."""

    model_config = ConfigDict(extra="forbid")
    next: str = Field(default="/", max_length=2000)


class LoginResponse(BaseModel):
    """Where to go now."""

    next: str


def safe_next(target: str) -> str:
    """`target` if it is a plain path on this site, else `/`."""
    parts = urlsplit(target)
    is_path = target.startswith("/") and not target.startswith("//") and not parts.scheme and not parts.netloc
    return target if is_path and "\\" not in target and target.isprintable() else "/"


def throttle_of(request: Request) -> Throttle:
    """The application's count of failed logins."""
    throttle: Throttle = request.app.state.login_throttle
    return throttle


def link(request: Request, code: str, target: str = "/") -> LoginLink:
    """The address at which a code logs a browser in, to go on to `target`."""
    onward = "" if safe_next(target) == "/" else f"?next={quote(target)}"
    return LoginLink(url=f"{guard_of(request).site.base(request)}/login{onward}#code={code}")


@router.post("/login", responses=responses(401, 403, 422, 429))
async def log_in(body: LoginRequest, request: Request, response: Response) -> LoginResponse:
    """Exchange a code for a session cookie."""
    require_same_origin(request)
    credentials, throttle, client = credentials_of(request), throttle_of(request), client_of(request)
    throttle.attempt(client)
    identity = await credentials.identify(body.code, Use.LOGIN)
    throttle.forgive(client)
    request.state.identity = identity
    await sessions.begin(credentials, identity.subject, request, response)
    return LoginResponse(next=safe_next(body.next))


@router.post("/logout", status_code=HTTPStatus.NO_CONTENT, responses=responses(401, 403))
async def log_out(caller: Caller, request: Request, response: Response) -> None:
    """End the session (or revoke the token) that asks, at once and wherever else it is in use."""
    await credentials_of(request).revoke(caller.credential)
    sessions.forget(response)


@router.post("/api/intermezzo/v1/login-links", status_code=HTTPStatus.CREATED, responses=responses(401, 403, 422))
async def create_login_link(caller: Unlimited, request: Request, body: LoginLinkRequest | None = None) -> LoginLink:
    """A link that logs a browser in as the caller, once."""
    target = body.next if body is not None else "/"
    return link(request, await credentials_of(request).issue(caller.subject, Use.LOGIN), target)
