"""Requests to workspaces: who comes through, what arrives, and what does not."""

import asyncio

import httpx

from gateway.served import Served, cookies_of, path_of
from intermezzo.client.gateway import GRANT_COOKIE
from intermezzo.client.sdk import CHANGE_HEADER
from intermezzo.domain.account import Use
from intermezzo.domain.workspace import Workspace


async def test_the_owner_comes_in_by_the_door_and_then_without_the_control_plane(site: Served, exp: Workspace) -> None:
    async with site.browser(await site.session_of()) as browser:
        first = await browser.get(path_of(exp, "lab?reset"))
        assert (first.status_code, first.headers["location"]) == (307, path_of(exp, "lab?reset"))
        second = await browser.get(path_of(exp, "lab?reset"))
    assert second.status_code == 200
    assert (second.json()["path"], second.json()["query"]) == (path_of(exp, "lab"), "reset")


async def test_nobody_else_comes_in(site: Served, exp: Workspace) -> None:
    await site.app.state.people.add_account("mallory")
    async with site.browser() as nobody, site.browser(await site.session_of("mallory")) as stranger:
        assert (await nobody.get(path_of(exp, "api"))).status_code == 401
        page = await nobody.get(path_of(exp, "lab"), headers={"Accept": "text/html"})
        assert (page.status_code, page.headers["location"].partition("?")[0]) == (303, "/login")
        assert (await stranger.get(path_of(exp, "api"))).status_code == 404
    assert (await site.upstream(exp)).requests == []


async def test_a_grant_is_good_for_one_workspace_only(site: Served, exp: Workspace) -> None:
    other = await site.start("other")
    mine = await site.entered(exp)
    grant = next(cookie.value for cookie in mine.cookies.jar if cookie.name == GRANT_COOKIE)
    for headers in ({"Cookie": f"{GRANT_COOKIE}={grant}"}, {"Authorization": f"token {grant}"}):
        async with site.browser(headers=headers) as browser:
            assert (await browser.get(path_of(exp))).status_code == 200
            assert (await browser.get(path_of(other))).status_code == 401
    assert (await site.upstream(other)).requests == []
    await site.delete(other)


async def test_a_forged_grant_opens_nothing(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    header, claims, signature = cookies_of(mine)["Cookie"].rpartition("=")[2].split(".")
    for grant in (f"{header}.{claims}.{signature[::-1]}", f"eyJhbGciOiJub25lIn0.{claims}.", "x.y.z", ""):
        async with site.browser() as browser:
            answer = await browser.get(path_of(exp), headers={"Cookie": f"{GRANT_COOKIE}={grant}"})
            assert answer.status_code == 401


async def test_tools_send_their_grant_as_jupyters_clients_do(site: Served, exp: Workspace) -> None:
    token = await _tool_grant(site, exp)
    async with site.browser() as browser:
        by_header = await browser.get(path_of(exp, "api"), headers={"Authorization": f"token {token}"})
        by_query = await browser.get(path_of(exp, "api"), params={"token": token, "kept": "1"})
    assert by_header.json()["headers"]["authorization"] == f"token {site.plane.access_token(exp)}"
    assert by_query.json()["query"] == "kept=1"


async def test_fr25_what_is_ours_does_not_reach_a_workspace(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    mine.cookies.set("theme", "dark")
    mine.cookies.set("_xsrf", "2|of-the-notebook-server")
    seen = (await mine.get(path_of(exp, "api"), headers={"X-Intermezzo-Peer": "10.0.0.1"})).json()
    assert sorted(seen["headers"]["cookie"].split("; ")) == ["_xsrf=2|of-the-notebook-server", "theme=dark"]
    assert seen["headers"]["authorization"] == f"token {site.plane.access_token(exp)}"
    text = str(seen)
    assert "intermezzo" not in text.lower()
    secrets = [cookie.value for cookie in mine.cookies.jar if cookie.name.startswith("intermezzo_")]
    assert len(secrets) == 2
    assert not any(str(secret) in text for secret in secrets)


async def test_a_workspace_cannot_set_our_cookies(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    wanted = ["intermezzo_session=evil; Path=/", "theme=dark; Path=/", "intermezzo_grant=evil; Path=/"]
    answer = await mine.get(path_of(exp), params=[("set-cookie", cookie) for cookie in wanted])
    assert answer.headers.get_list("set-cookie") == ["theme=dark; Path=/"]


async def test_another_sites_page_changes_nothing_in_a_workspace(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    for origin, status in (("http://127.0.0.1:1", 403), ("null", 403), (site.url, 200)):
        answer = await mine.post(path_of(exp, "api/kernels"), headers={"Origin": origin})
        assert answer.status_code == status, origin
    assert [r["method"] for r in (await site.upstream(exp)).requests].count("POST") == 1


async def test_large_bodies_pass_whatever_the_control_plane_takes(site: Served, exp: Workspace) -> None:
    async with site.browser(await site.session_of(), follow_redirects=True) as browser:
        answer = await browser.put(path_of(exp, "api/contents/big"), content=b"x" * 5_000_000)
    assert (answer.status_code, answer.json()["body_bytes"]) == (200, 5_000_000)


async def test_fr10_after_a_resume_nothing_goes_to_the_old_address(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    before = await site.upstream(exp)
    await site.resume(await site.pause(exp))
    after = await site.upstream(exp)
    assert before.port != after.port
    asked_before = len(before.requests)

    async def arrives() -> bool:
        return (await mine.get(path_of(exp, "now"), follow_redirects=True)).status_code == 200

    await site.until(arrives, "requests arrive again")
    assert len(before.requests) == asked_before
    assert [request["path"] for request in after.requests] == [path_of(exp, "now")]


async def test_what_is_withdrawn_is_turned_away_though_its_grant_has_not_expired(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    identity = await site.app.state.credentials.identify(mine.cookies["intermezzo_session"], Use.SESSION)
    await site.app.state.credentials.revoke(identity.credential)

    async def is_refused() -> bool:
        return (await mine.get(path_of(exp, "api"))).status_code == 401

    await site.until(is_refused, "the grant is worth nothing")


async def test_what_is_odd_within_a_prefix_arrives_as_it_was_sent(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    inside = await mine.get(path_of(exp, "files/a%2Fb//c%252Fd%20e"))
    assert inside.json()["path"] == path_of(exp, "files/a%2Fb//c%252Fd%20e")
    raw = httpx.URL(site.url, path=f"/workspace//connect/default/{exp.key.name}/jupyterlab/api")
    assert (await mine.get(raw)).status_code == 404


async def _tool_grant(site: Served, exp: Workspace) -> str:
    async with site.browser(headers={"Authorization": f"Bearer {await _api_token(site)}"}) as program:
        answer = await program.post(f"/api/intermezzo/v1/workspaces/default/{exp.key.name}/connection")
    assert answer.status_code == 200, answer.text
    assert answer.json()["base_url"] == site.url + path_of(exp)
    token: str = answer.json()["token"]
    return token


async def _api_token(site: Served) -> str:
    secret: str = await site.app.state.credentials.issue("ada", Use.API)
    return secret


async def test_while_the_control_plane_starts_again_everybody_waits_and_nobody_is_refused(
    site: Served, exp: Workspace
) -> None:
    path, control = f"/api/intermezzo/v1/workspaces/default/{exp.key.name}", site.settings.web_socket
    async with site.browser(await site.session_of()) as browser:
        now = (await browser.get(path)).headers[CHANGE_HEADER]
        away = control.rename(control.with_name("away"))
        asked = [asyncio.create_task(browser.get(path, params={"after": now, "wait_s": 2})) for _ in range(50)]
        answered, _ = await asyncio.wait(asked, timeout=1)
        assert not answered
        away.rename(control)
        assert {answer.status_code for answer in await asyncio.gather(*asked)} == {200}
