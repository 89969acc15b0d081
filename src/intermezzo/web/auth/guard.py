"""Who is asking: turns a bearer token, a trusted proxy's word or a session cookie into an identity.

A browser sends cookies, and a proxy vouches, for whoever makes a browser ask. So a change that is asked for in these
ways must come from a page of ours (`Origin`) and carry a value that only such a page can read (`X-XSRF-Token`). A
bearer token needs neither.
"""

from typing import Annotated

from fastapi import Depends, Request

from intermezzo.domain.access import Identity
from intermezzo.domain.account import Use
from intermezzo.domain.errors import Unauthenticated
from intermezzo.domain.names import fold
from intermezzo.web.auth.credentials import Credentials
from intermezzo.web.auth.origin import Site
from intermezzo.web.auth.vouching import Vouching
from intermezzo.web.auth.xsrf import XSRF_COOKIE, XSRF_HEADER, require_xsrf, xsrf_of, xsrf_of_subject

__all__ = ["SESSION_COOKIE", "XSRF_COOKIE", "XSRF_HEADER", "Caller", "Guard", "identify", "require_same_origin"]

SESSION_COOKIE = "intermezzo_session"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard:
    """Knows the ways in which somebody can be known here. `secret` is the installation's own."""

    def __init__(self, credentials: Credentials, site: Site, vouching: Vouching, secret: bytes) -> None:
        self.site = site
        self._credentials = credentials
        self._vouching = vouching
        self._secret = secret

    async def identify(self, request: Request) -> Identity:
        """Raises `Unauthenticated` without valid credentials, `Forbidden` for a change that may be forged."""
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and secret:
            return await self._credentials.identify(secret.strip(), Use.API)
        if self.site.trusts(request) and self._vouching.names(request):
            return await self._vouched(request)
        session = request.cookies.get(SESSION_COOKIE, "")
        if not session:
            raise Unauthenticated("log in first, or send an API token", "run `intermezzo open` for a login link")
        identity = await self._credentials.identify(session, Use.SESSION)
        self._require_wanted(request, identity, xsrf_of(session))
        return identity

    async def _vouched(self, request: Request) -> Identity:
        identity = await self._vouching.identify(request)
        xsrf = xsrf_of_subject(self._secret, fold(identity.subject))
        self._require_wanted(request, identity, xsrf)
        request.state.xsrf = xsrf
        return identity

    def _require_wanted(self, request: Request, identity: Identity, xsrf: str) -> None:
        request.state.identity = identity  # in whose name it was asked, should it be refused
        if request.method not in SAFE_METHODS:
            self.site.require_own(request)
            require_xsrf(request, xsrf)


def guard_of(request: Request) -> Guard:
    """The application's guard."""
    guard: Guard = request.app.state.guard
    return guard


def credentials_of(request: Request) -> Credentials:
    """The application's credentials."""
    credentials: Credentials = request.app.state.credentials
    return credentials


def require_same_origin(request: Request) -> None:
    """Raises `Forbidden` unless the request comes from a page of this very site."""
    guard_of(request).site.require_own(request)


async def identify(request: Request) -> Identity:
    """Raises `Unauthenticated` without valid credentials, `Forbidden` for a change that may be forged."""
    identity = await guard_of(request).identify(request)
    request.state.identity = identity
    return identity


Caller = Annotated[Identity, Depends(identify)]
