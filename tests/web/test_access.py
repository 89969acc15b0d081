"""Who gets in, and what a browser can be tricked into."""

from collections.abc import AsyncIterator
from urllib.parse import unquote

import httpx
import pytest

from intermezzo.domain.account import Use
from intermezzo.web.auth.credentials import Credentials
from intermezzo.web.auth.guard import XSRF_COOKIE, XSRF_HEADER
from intermezzo.web.auth.login import safe_next
from web.conftest import log_in
from web.simulated import SITE, Simulated

WORKSPACES = "/api/intermezzo/v1/workspaces"
HERE = {"Origin": SITE}


async def test_without_credentials_nothing_is_told(browser: httpx.AsyncClient) -> None:
    answer = await browser.get(WORKSPACES)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert "WWW-Authenticate" in answer.headers
    assert (await browser.get("/api/intermezzo/v1/health")).json()["status"] == "Healthy"
    page = await browser.get("/")
    assert (page.status_code, unquote(page.headers["Location"])) == (303, "/login?next=/")


async def test_a_login_code_becomes_a_session_once(browser: httpx.AsyncClient, credentials: Credentials) -> None:
    code = await credentials.issue("ada", Use.LOGIN)
    first = await browser.post("/login", json={"code": code, "next": "/x"}, headers=HERE)
    assert first.json() == {"next": "/x"}
    cookie = next(c for c in first.headers.get_list("set-cookie") if c.startswith("intermezzo_session="))
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert (await browser.get(WORKSPACES)).status_code == 200
    browser.cookies.clear()
    assert (await browser.post("/login", json={"code": code}, headers=HERE)).status_code == 401


async def test_a_code_is_no_token_and_a_token_no_session(browser: httpx.AsyncClient, credentials: Credentials) -> None:
    code, token = await credentials.issue("ada", Use.LOGIN), await credentials.issue("ada", Use.API)
    assert (await browser.get(WORKSPACES, headers={"Authorization": f"Bearer {code}"})).status_code == 401
    assert (await browser.post("/login", json={"code": token}, headers=HERE)).status_code == 401


async def test_a_login_from_another_site_is_refused(browser: httpx.AsyncClient, credentials: Credentials) -> None:
    code = await credentials.issue("ada", Use.LOGIN)
    elsewhere = {"Origin": "http://evil.example"}
    assert (await browser.post("/login", json={"code": code}, headers=elsewhere)).status_code == 403
    assert (await browser.post("/login", json={"code": code})).status_code == 403


async def test_fr23_a_change_by_cookie_needs_the_origin_and_the_xsrf_token(
    browser: httpx.AsyncClient, credentials: Credentials, world: Simulated
) -> None:
    await log_in(browser, credentials)
    body = {"name": "a"}
    xsrf = {XSRF_HEADER: browser.cookies[XSRF_COOKIE]}
    for headers in ({}, HERE, xsrf, {**xsrf, "Origin": "http://evil.example"}, {**HERE, XSRF_HEADER: "guessed"}):
        assert (await browser.post(WORKSPACES, json=body, headers=headers)).status_code == 403
    assert await world.plane.workspaces() == []
    assert (await browser.post(WORKSPACES, json=body, headers={**HERE, **xsrf})).status_code == 201


async def test_fr23_a_bearer_token_needs_neither(api: httpx.AsyncClient) -> None:
    assert (await api.post(WORKSPACES, json={"name": "a"})).status_code == 201


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "https:evil.example",
        "http://intermezzo.test.evil.example",
        "/\t/evil.example",
        "evil",
        "",
    ],
)
async def test_fr24_the_way_on_after_login_stays_on_this_site(
    target: str, browser: httpx.AsyncClient, credentials: Credentials
) -> None:
    code = await credentials.issue("ada", Use.LOGIN)
    answer = await browser.post("/login", json={"code": code, "next": target}, headers=HERE)
    assert answer.json() == {"next": "/"}


def test_a_path_on_this_site_is_kept() -> None:
    assert safe_next("/workspaces/a?b=c#d") == "/workspaces/a?b=c#d"


async def test_only_the_digest_of_a_secret_is_stored(credentials: Credentials, world: Simulated) -> None:
    secret = await credentials.issue("ada", Use.API)
    assert secret not in repr(vars(world.store.accounts))


async def test_every_answer_carries_the_headers_that_protect_it(browser: httpx.AsyncClient) -> None:
    for path in ("/login", WORKSPACES, "/static/login.js", "/nothing"):
        headers = (await browser.get(path)).headers
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        assert "unsafe-inline" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"


async def test_a_large_body_is_refused_whether_announced_or_not(api: httpx.AsyncClient) -> None:
    large = b" " * (1024 * 1024 + 1)

    async def unannounced() -> AsyncIterator[bytes]:
        yield large

    headers = {"Content-Type": "application/json"}
    assert (await api.post(WORKSPACES, content=large, headers=headers)).status_code == 413
    assert (await api.post(WORKSPACES, content=unannounced(), headers=headers)).status_code == 413


async def test_a_login_link_leads_on_to_the_page_that_was_asked_for_and_never_to_another_site(
    api: httpx.AsyncClient,
) -> None:
    links = "/api/intermezzo/v1/login-links"
    plain = (await api.post(links)).json()["url"]
    assert plain.startswith(f"{SITE}/login#code=")
    inner = (await api.post(links, json={"next": "/workspace/connect/a%20b/exp/jupyterlab/"})).json()["url"]
    assert inner.startswith(f"{SITE}/login?next=/workspace/connect/a%2520b/exp/jupyterlab/#code=")
    outer = (await api.post(links, json={"next": "//elsewhere.example"})).json()["url"]
    assert outer.startswith(f"{SITE}/login#code=")
    assert (await api.post(links, json={"after": "/"})).status_code == 422
