"""The value that only a page of ours can read and send back, so that another site's page cannot ask for a change.

It follows from what proves who is asking, and is therefore worth nothing together with anybody else's proof.
"""

import hashlib
import hmac

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intermezzo.domain.errors import Forbidden

XSRF_COOKIE = "intermezzo_xsrf"
XSRF_HEADER = "X-XSRF-Token"


def xsrf_of(session: str) -> str:
    """The value that belongs to a session's secret."""
    return hashlib.sha256(b"xsrf:" + session.encode(errors="surrogateescape")).hexdigest()


def xsrf_of_subject(secret: bytes, folded_subject: str) -> str:
    """The value that belongs to somebody whom a trusted proxy vouches for."""
    return hmac.new(secret, b"xsrf:" + folded_subject.encode(), hashlib.sha256).hexdigest()


def require_xsrf(request: Request, wanted: str) -> None:
    """Raises `Forbidden` unless the header carries the wanted value."""
    if not hmac.compare_digest(request.headers.get(XSRF_HEADER, "").encode(), wanted.encode()):
        raise Forbidden(f"the request lacks a valid {XSRF_HEADER} header")


def hand_out(response: Response, request: Request, value: str) -> None:
    """Give the browser the value, for as long as the browser runs."""
    response.set_cookie(XSRF_COOKIE, value, samesite="lax", secure=request.url.scheme == "https")


class XsrfCookie:
    """ASGI middleware that hands the value of `request.state.xsrf` to a browser that does not have it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the cookie to the answer where it is missing."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = Request(scope)

        async def with_cookie(message: Message) -> None:
            value = getattr(request.state, "xsrf", "")
            if message["type"] == "http.response.start" and value and request.cookies.get(XSRF_COOKIE) != value:
                carrier = Response()
                hand_out(carrier, request, value)
                MutableHeaders(scope=message).append("set-cookie", carrier.headers["set-cookie"])
            await send(message)

        await self.app(scope, receive, with_cookie)
