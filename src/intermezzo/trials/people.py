"""People of a trial: accounts of their own, each with a way in of its own, got by logging in as anybody does.

Their secrets stay in this process and end with the installation.
"""

from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx

from intermezzo.client import Intermezzo
from intermezzo.client.account_models import NewTokenShape
from intermezzo.client.connection import Connection
from intermezzo.client.wire import PREFIX
from intermezzo.domain.access import Scope
from intermezzo.domain.errors import Unauthenticated, Unreachable

ANSWER_S = 30.0
XSRF_COOKIE = "intermezzo_xsrf"
XSRF_HEADER = "X-XSRF-Token"
SCOPES = (Scope.READ, Scope.WRITE, Scope.CONNECT)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody, and what they see of the installation."""

    name: str
    client: Intermezzo = field(repr=False)


def join(admin: Intermezzo, url: str, team: str, name: str) -> Person:
    """Somebody new in a team. Raises the API's errors."""
    admin.people.add_account(name)
    admin.people.join(team, name)
    return Person(name, Intermezzo(Connection(url, _token(url, admin.people.login_link(name).url))))


def _token(url: str, link: str) -> str:
    """What a person's program uses, made by that person, logged in once."""
    with httpx.Client(base_url=url, headers={"Origin": url}, timeout=ANSWER_S, trust_env=False) as browser:
        code = urlsplit(link).fragment.removeprefix("code=")
        _asked(browser, "/login", {"code": code, "next": "/"})
        browser.headers[XSRF_HEADER] = browser.cookies.get(XSRF_COOKIE) or ""
        wanted = {"label": "trial", "scopes": sorted(SCOPES), "days": 1}
        return NewTokenShape.model_validate_json(_asked(browser, f"{PREFIX}/tokens", wanted)).token


def _asked(browser: httpx.Client, path: str, body: dict[str, object]) -> bytes:
    try:
        answer = browser.post(path, json=body)
    except httpx.TransportError as error:
        raise Unreachable(f"no answer from {browser.base_url}: {error}") from None
    if answer.status_code not in {HTTPStatus.OK, HTTPStatus.CREATED}:
        raise Unauthenticated(f"a person of the trial could not log in: {answer.text[:200]}")
    return answer.content
