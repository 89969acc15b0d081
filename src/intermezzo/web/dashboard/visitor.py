"""Who looks at a page, and what they get when they may not: the login page, or a page that says so.

Whether a person or a program is told of an error is decided here and nowhere else; programs get problem+json.
"""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from intermezzo.domain.errors import IntermezzoError, Unauthenticated
from intermezzo.web import problems
from intermezzo.web.dashboard.addresses import login_path
from intermezzo.web.dashboard.templating import is_fragment, shown

API_PREFIX = "/api/"


def is_navigation(request: Request) -> bool:
    """Whether a person's browser wants a page, as opposed to a script, a poll or a program."""
    mode = request.headers.get("sec-fetch-mode")
    if mode is not None:
        return mode == "navigate"
    return request.method in {"GET", "HEAD"} and "text/html" in request.headers.get("accept", "")


def refusal(request: Request, error: IntermezzoError, status: int) -> Response:
    """An error as a page for whoever navigates to an address that is not the API's, else as programs read it."""
    if request.url.path.startswith(API_PREFIX) or not is_navigation(request):
        return problems.answer(request, error, status)
    return _told(request, error, status)


class PageRoute(APIRoute):
    """A route whose errors a person reads."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's own handler, with its errors turned into pages."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except Unauthenticated:
                return _to_login(request)
            except IntermezzoError as error:
                return _told(request, error, problems.status_of(error))

        return handled


def _told(request: Request, error: IntermezzoError, status: int) -> Response:
    template = "parts/problem.html" if is_fragment(request) else "problem.html"
    page = shown(request, template, {"error": error, "status": status}, status=status)
    page.headers.update(problems.headers_of(error, status))
    return page


def _to_login(request: Request) -> Response:
    """A fragment cannot be redirected: the page around it must be told to go."""
    if is_fragment(request):
        return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Refresh": "true"})
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(login_path(target), HTTPStatus.SEE_OTHER)
