"""A browser's session: a cookie that no script can read, and beside it the value that protects changes."""

from starlette.requests import Request
from starlette.responses import Response

from intermezzo.domain.account import Use
from intermezzo.web.auth.credentials import LIFETIME_MS, Credentials
from intermezzo.web.auth.guard import SESSION_COOKIE
from intermezzo.web.auth.origin import readable
from intermezzo.web.auth.xsrf import XSRF_COOKIE, hand_out, xsrf_of

LABEL_LENGTH = 100


async def begin(credentials: Credentials, subject: str, request: Request, response: Response) -> None:
    """Log the browser in as `subject`. `Lax`: it must be sent when the identity provider sends the browser back."""
    browser = readable(request.headers.get("user-agent", ""))[:LABEL_LENGTH]
    secret = await credentials.issue(subject, Use.SESSION, browser)
    response.set_cookie(
        SESSION_COOKIE,
        secret,
        max_age=LIFETIME_MS[Use.SESSION] // 1000,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    hand_out(response, request, xsrf_of(secret))


def forget(response: Response) -> None:
    """Have the browser drop both cookies."""
    for name in (SESSION_COOKIE, XSRF_COOKIE):
        response.delete_cookie(name)
