"""The pages: what a person sees without a click."""

import html
import re
from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx
import pytest

from intermezzo.control.accounts import People
from intermezzo.domain.access import Role, TeamRole
from intermezzo.domain.account import Use
from intermezzo.domain.workspace import WorkspaceSpec
from intermezzo.web.auth.credentials import Credentials
from intermezzo.web.dashboard.listing import PAGE_ROWS
from web.conftest import log_in
from web.simulated import SITE, Simulated
from web.test_workspaces import WORKSPACES, reach

PACKED = {"Accept-Encoding": "gzip"}


def received(answer: httpx.Response) -> int:
    """Bytes of the body as they were sent."""
    answer.raise_for_status()
    return answer.num_bytes_downloaded


def text_of_any(page: httpx.Response) -> str:
    """The same for a page that is a refusal."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


def text_of(page: httpx.Response) -> str:
    """What a person reads: no elements, no line breaks."""
    page.raise_for_status()
    return text_of_any(page)


async def test_an_empty_list_offers_the_trial(browser: httpx.AsyncClient, credentials: Credentials) -> None:
    await log_in(browser, credentials)
    assert "intermezzo trial" in (await browser.get("/")).text


async def test_the_list_says_the_state_and_what_is_held(
    browser: httpx.AsyncClient, credentials: Credentials, api: httpx.AsyncClient
) -> None:
    path = (await api.post(WORKSPACES, json={"name": "<b>exp"})).headers["Location"]
    await reach(api, path, "Running")
    await log_in(browser, credentials)
    page = await browser.get("/")
    assert "ready" in text_of(page)
    assert "1 CPU · 2 GiB on node-1" in text_of(page)
    assert "<b>exp" not in page.text


async def test_the_page_of_a_workspace_says_what_a_pause_keeps_before_anyone_presses_it(
    browser: httpx.AsyncClient, credentials: Credentials, api: httpx.AsyncClient
) -> None:
    path = (await api.post(WORKSPACES, json={"name": "exp"})).headers["Location"]
    await reach(api, path, "Running")
    await log_in(browser, credentials)
    page = text_of(await browser.get("/w/default/exp"))
    assert "variables, threads, open files" in page
    assert "Everything under /home/jovyan" in page
    assert "1 CPU · 2 GiB comes free" in page


async def test_no_page_has_script_or_style_in_its_text(browser: httpx.AsyncClient, credentials: Credentials) -> None:
    await log_in(browser, credentials)
    for path in ("/", "/login", "/new"):
        page = (await browser.get(path)).text
        assert "<style" not in page
        assert " style=" not in page
        assert re.findall(r"<script[^>]*>(?!</script>)", page) == []
        assert re.findall(r"<[^>]* on[a-z]+=", page) == []


async def test_a_refusal_is_told_to_a_page_in_its_readers_language_and_to_programs_in_english(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    polish = {"Accept-Language": "pl", "HX-Request": "true"}
    told = (await browser.get(WORKSPACES, headers=polish)).json()
    program = (await browser.get(WORKSPACES, headers={"Accept-Language": "pl"})).json()
    assert told["code"] == program["code"] == "unauthenticated"
    assert program["detail"] == "log in first, or send an API token"
    assert told["detail"] == "najpierw się zaloguj albo wyślij token API"


async def test_the_first_page_is_light_and_asks_no_other_host(
    browser: httpx.AsyncClient, credentials: Credentials, world: Simulated
) -> None:
    for number in range(PAGE_ROWS + 1):
        await world.plane.create("default", f"experiment-{number}", "ada", WorkspaceSpec("jupyterlab", "", ""), "ada")
    await log_in(browser, credentials)
    page = await browser.get("/", headers=PACKED)
    addresses = set(re.findall(r'(?:src|href)="([^"]*\.(?:css|js|svg))"', page.text))
    imported = {f"/static/{name}" for name in ("requests.js", "fields.js")}
    assert all(address.startswith("/static/") for address in addresses)
    assert not re.search(r'(?:src|href|action|hx-[a-z]+)="(?:https?:)?//', page.text)
    parts = [await browser.get(address, headers=PACKED) for address in sorted(addresses | imported)]
    sent = sum(received(answer) for answer in (page, *parts))
    assert len(parts) > 6
    assert sent < 150_000


async def test_what_a_browser_has_already_is_not_sent_again(browser: httpx.AsyncClient) -> None:
    first = await browser.get("/static/vendor/htmx.min.js", headers=PACKED)
    again = await browser.get("/static/vendor/htmx.min.js", headers={**PACKED, "If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)


async def test_whoever_is_not_logged_in_is_led_to_the_login_and_back(browser: httpx.AsyncClient) -> None:
    for path in ("/", "/new", "/account", "/admin", "/w/default/exp?a=b"):
        answer = await browser.get(path)
        assert (answer.status_code, answer.headers["Location"]) == (303, f"/login?next={quote(path, safe='')}")


async def test_a_part_of_a_page_whose_session_ended_makes_the_page_go_to_the_login(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (204, "true")


async def test_a_stranger_learns_nothing_from_any_page_of_a_workspace(
    browser: httpx.AsyncClient, credentials: Credentials, api: httpx.AsyncClient, world: Simulated
) -> None:
    await api.post(WORKSPACES, json={"name": "exp"})
    people = People(world.store.accounts, world.store, world.plane.context.clock)
    await people.add_account("mallory")
    code = await credentials.issue("mallory", Use.LOGIN)
    (await browser.post("/login", json={"code": code}, headers={"Origin": SITE})).raise_for_status()
    for part in ("", "/now", "/past", "/log", "/files"):
        there = await browser.get(f"/w/default/exp{part}")
        nowhere = await browser.get(f"/w/default/exq{part}")
        assert (there.status_code, nowhere.status_code) == (404, 404)
        assert text_of_any(there).replace("exp", "") == text_of_any(nowhere).replace("exq", "")
    for path in ("/admin", "/admin/people", "/admin/credentials", "/admin/audit"):
        assert (await browser.get(path)).status_code == 403
    assert "exp" not in text_of_any(await browser.get("/"))
    [record] = await world.plane.workspaces()
    rows = await browser.get("/rows", params={"uid": record.uid})
    assert "default/exp" not in rows.text


@pytest.mark.parametrize("name", ["a b@x.org", "_@example.com", "Ü.Ä", "1.13.1", "c" * 63, "100%", "é ?#&"])
async def test_fr13_fr14_odd_names_have_pages(
    name: str, browser: httpx.AsyncClient, credentials: Credentials, api: httpx.AsyncClient
) -> None:
    await api.post(WORKSPACES, json={"namespace": name, "name": name})
    await log_in(browser, credentials)
    listed = await browser.get("/")
    [path] = set(re.findall(r'href="(/w/[^"]*)"', listed.text))
    page = await browser.get(html.unescape(path))
    assert name in text_of(page)
    assert f'hx-get="{path}/now"' in page.text


NAVIGATION = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Mode": "navigate"}
ADDRESSES = [
    ("/nothing", 404),
    ("/?state=zz", 422),
    ("/workspace/connect/default/exp/jupyterlab/", 404),
    ("/workspace/connect/default", 404),
    ("/broken", 500),
]


@pytest.fixture
async def reader(world: Simulated, credentials: Credentials) -> AsyncIterator[httpx.AsyncClient]:
    """A browser of ada's, in a site that has one page which fails."""
    app = world.api()

    async def broken() -> None:
        raise ZeroDivisionError

    app.add_api_route("/broken", broken)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=SITE) as client:
        await log_in(client, credentials)
        yield client


@pytest.mark.parametrize(("address", "status"), ADDRESSES)
async def test_whoever_navigates_to_what_fails_reads_a_page_in_their_language_with_a_way_back(
    address: str, status: int, reader: httpx.AsyncClient
) -> None:
    page = await reader.get(address, headers={**NAVIGATION, "Accept-Language": "pl"})
    assert (page.status_code, page.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
    assert '<html lang="pl">' in page.text
    assert '<a href="/">Do wszystkich obszarów roboczych</a>' in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "Input should be" not in page.text


async def test_whoever_may_not_enter_a_workspace_reads_so_on_a_page(
    reader: httpx.AsyncClient, world: Simulated
) -> None:
    await world.plane.create("default", "hers", "grace", WorkspaceSpec("jupyterlab", "", ""), "grace")
    page = await reader.get("/workspace/connect/default/hers/jupyterlab/", headers=NAVIGATION)
    assert (page.status_code, page.headers["Content-Type"]) == (403, "text/html; charset=utf-8")
    assert "only its owner may enter default/hers" in text_of_any(page)
    assert '<a href="/">' in page.text


@pytest.mark.parametrize(("address", "status"), ADDRESSES)
@pytest.mark.parametrize("headers", [{}, {"Accept": "text/html", "Sec-Fetch-Mode": "cors"}])
async def test_a_program_reads_problem_json_of_the_same_addresses(
    address: str, status: int, headers: dict[str, str], reader: httpx.AsyncClient
) -> None:
    answer = await reader.get(address, headers=headers)
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json")


async def test_the_api_answers_with_problem_json_whoever_asks(reader: httpx.AsyncClient) -> None:
    for address in ("/api/intermezzo/v1/nothing", f"{WORKSPACES}/default/none", "/api/v1/nothing"):
        answer = await reader.get(address, headers=NAVIGATION)
        assert (answer.status_code, answer.headers["Content-Type"].endswith("json")) == (404, True)


async def test_a_workspaces_address_without_its_last_slash_leads_to_the_one_with_it(reader: httpx.AsyncClient) -> None:
    answer = await reader.get("/workspace/connect/default/a%20b%2Fc/jupyterlab?a=b", headers=NAVIGATION)
    assert answer.status_code == 307
    assert answer.headers["Location"] == "/workspace/connect/default/a%20b%2Fc/jupyterlab/?a=b"


@pytest.mark.parametrize(
    ("role", "advice"),
    [(Role.USER, "Ask an administrator to put it into a team."), (Role.AUDITOR, "Log in with another account")],
)
async def test_whoever_may_start_nothing_is_told_so_and_what_to_do_instead_of_a_form(
    role: Role, advice: str, browser: httpx.AsyncClient, credentials: Credentials, world: Simulated
) -> None:
    people = People(world.store.accounts, world.store, world.plane.context.clock)
    await people.add_account("grace", role)
    code = await credentials.issue("grace", Use.LOGIN)
    (await browser.post("/login", json={"code": code}, headers={"Origin": SITE})).raise_for_status()
    page = await browser.get("/new")
    assert advice in text_of(page)
    assert "<form id=" not in page.text
    if role is Role.USER:
        await people.add_team("vision", ("vision",))
        await people.join("vision", "grace", TeamRole.MEMBER)
        assert '<form id="new"' in (await browser.get("/new")).text


async def test_whoever_comes_with_a_used_link_is_told_whom_to_ask(
    browser: httpx.AsyncClient, credentials: Credentials
) -> None:
    code = await credentials.issue("ada", Use.LOGIN)
    headers = {"Origin": SITE}
    assert (await browser.post("/login", json={"code": code}, headers=headers)).status_code == 200
    used = await browser.post("/login", json={"code": code}, headers=headers)
    assert (used.status_code, used.json()["detail"]) == (401, "this login link is not valid (any more)")
    assert used.json()["hint"] == "ask whoever sent it for a new one; on the machine itself, run `intermezzo open`"
    assert "If somebody sent you a link, ask them for a new one" in text_of(await browser.get("/login"))
