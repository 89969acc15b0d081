"""Odd names: one workspace, many spellings, and one of them for its server."""

from re import fullmatch
from urllib.parse import quote, unquote

import httpx
from hypothesis import given
from hypothesis import strategies as st

from gateway.served import Served, cookies_of, echo, path_of
from intermezzo.domain.workspace import Workspace
from intermezzo.gateway.spelling import is_plain, pattern

NAMESPACE = "a b@x.org"
PREFIX = "/workspace/connect/a%20b@x.org/{name}/jupyterlab/"
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
FILE = "files/c%252Fd%20%C3%A9.ipynb"


async def test_fr13_both_spellings_reach_the_same_workspace_and_nothing_is_encoded_twice(site: Served) -> None:
    exp = await site.start("ü 1.13.1", NAMESPACE)
    canonical = PREFIX.format(name="%C3%BC%201.13.1")
    other = canonical.replace("@", "%40").replace("%C3%BC", "%c3%bc")
    async with site.browser(await site.session_of()) as browser:
        assert (await browser.get(canonical + FILE)).status_code == 307
        grant = next(cookie.value for cookie in browser.cookies.jar if cookie.name == "intermezzo_grant")
    headers = {"Cookie": f"intermezzo_grant={grant}"}
    async with site.browser(headers=headers) as browser:

        async def routed() -> bool:
            return (await browser.get(canonical + FILE)).status_code == 200

        await site.until(routed, "the gateway knows the way")
        for prefix in (canonical, other):
            answer = await browser.get(prefix + FILE)
            assert (answer.status_code, answer.json()["path"]) == (200, canonical + FILE)
            async with site.socket(prefix + "api/kernels/1/channels?session_id=a%2Fb", headers) as socket:
                assert await echo(socket, "hello") == "hello"
    seen = (await site.upstream(exp)).requests
    assert {request["path"] for request in seen} == {canonical + FILE, canonical + "api/kernels/1/channels"}
    assert {request["query"] for request in seen if request["method"] == "WEBSOCKET"} == {"session_id=a%2Fb"}
    assert "%2520" not in str(seen)
    await site.delete(exp)


async def test_names_as_long_and_as_odd_as_they_may_be_hinder_nobody(site: Served) -> None:
    longest = await site.start("@" + "\U0001f9ea" * 62, "é+" * 31)
    after = await site.start("after")
    for each in (longest, after):
        mine = await site.entered(each)
        answer = await mine.get(path_of(each, "api/status"), follow_redirects=True)
        assert answer.status_code == 200
        assert unquote(answer.json()["path"]) == path_of(each, "api/status")
        await site.delete(each)


async def test_without_a_grant_another_spelling_leads_to_the_one_that_the_server_knows(site: Served) -> None:
    exp = await site.start("x+y", NAMESPACE)
    canonical = PREFIX.format(name="x%2By") + FILE
    async with site.browser(await site.session_of()) as browser:
        answer = await browser.get(canonical.replace("@", "%40").replace("x%2By", "%78+y") + "?a=1")
        assert (answer.status_code, answer.headers["location"]) == (307, canonical + "?a=1")

        async def led_in() -> bool:
            return (await browser.get(canonical, follow_redirects=True)).status_code == 200

        await site.until(led_in, "the gateway has heard of the workspace")
        final = await browser.get(answer.headers["location"], follow_redirects=True)
    assert (final.status_code, final.json()["path"], final.json()["query"]) == (200, canonical, "a=1")
    await site.delete(exp)


async def test_an_address_without_its_last_slash_leads_to_the_one_with_it(site: Served, exp: Workspace) -> None:
    async with site.browser(await site.session_of()) as browser:
        answer = await browser.get(path_of(exp).rstrip("/") + "?a=b")
        assert (answer.status_code, answer.headers["location"]) == (307, f"{path_of(exp)}?a=b")


async def test_a_name_differs_from_another_by_more_than_its_spelling(site: Served) -> None:
    one, two = await site.start("a.b"), await site.start("a-b")
    async with site.browser(await site.session_of()) as browser:
        await browser.get("/workspace/connect/default/a.b/jupyterlab/")
        headers = cookies_of(browser)
        for name, status in (("a.b", 200), ("a-b", 307), ("axb", 404)):
            answer = await browser.get(f"/workspace/connect/default/{name}/jupyterlab/", headers=headers)
            assert answer.status_code == status, name
    await site.delete(one)
    await site.delete(two)


@given(NAMES)
def test_every_spelling_of_a_path_matches_and_says_the_same(name: str) -> None:
    prefix = f"/workspace/connect/{quote(name, safe='@')}/"
    spellings = [prefix, prefix.lower() if "%" in prefix and name.islower() else prefix]
    spellings.append("/workspace/connect/" + quote(name, safe="") + "/")
    for spelling in spellings:
        assert fullmatch(pattern(prefix), spelling), (prefix, spelling)
        assert unquote(spelling) == unquote(prefix)


@given(NAMES, st.text("abc%/@ é.", max_size=20))
def test_no_other_path_matches(name: str, other: str) -> None:
    prefix, sent = f"/{quote(name, safe='@')}/", f"/{quote(other, safe='/%')}/"
    if fullmatch(pattern(prefix), sent):
        assert unquote(sent) == unquote(prefix)
        assert sent.count("/") == prefix.count("/")
    assert is_plain(prefix) == ("%" not in prefix and "@" not in prefix and httpx.URL(prefix).path == prefix)
