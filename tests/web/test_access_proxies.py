"""What a proxy may say: who asks, and under which name it was asked; and what nobody else may."""

from ipaddress import ip_network

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from intermezzo.config.accounts import AccountSettings, Groups, TrustedHeaders
from intermezzo.domain.account import Standing
from intermezzo.domain.errors import Forbidden
from intermezzo.web.application import create_api
from intermezzo.web.auth.origin import Site
from web.simulated import SITE, Simulated
from web.town import API, WORKSPACES, Town

PROXY = {"x-intermezzo-peer": "10.1.2.3"}
BEHIND = Site(trusted_proxies=(ip_network("10.0.0.0/8"), ip_network("fd00::/8")))


def application(world: Simulated, site: Site = BEHIND, subject: str = "kubeflow-userid") -> Town:
    """An installation behind a proxy that logs people in."""
    settings = AccountSettings(
        headers=TrustedHeaders(subject=subject), groups=Groups(members={"reds": "red"}, platform_admins="it")
    )
    return Town(create_api(world.plane, world.store, world.plane.context.clock, site, settings))


@pytest.fixture
async def town(world: Simulated) -> Town:
    """Everybody, behind the proxy."""
    made = application(world)
    await made.settle()
    return made


async def test_the_proxy_says_who_asks_and_in_which_groups_they_are(town: Town) -> None:
    async with town.client(PROXY) as client:
        headers = {"kubeflow-userid": "zoe@example.org", "kubeflow-groups": "reds, unknown"}
        me = (await client.get(f"{API}/me", headers=headers)).json()
        assert (me["subject"], me["role"], me["teams"]) == ("zoe@example.org", "user", {"red": "member"})
        headers["kubeflow-groups"] = "it"
        me = (await client.get(f"{API}/me", headers=headers)).json()
        assert (me["role"], me["teams"]) == ("platform-admin", {})


@pytest.mark.parametrize("peer", ["192.0.2.7", "11.0.0.1", "fe80::1", "", "10.0.0.0/8", "unix", "10.1.2.3, 192.0.2.7"])
async def test_from_anywhere_else_the_headers_are_ignored(town: Town, peer: str) -> None:
    async with town.client({"x-intermezzo-peer": peer}) as client:
        answer = await client.get(f"{API}/me", headers={"kubeflow-userid": "root"})
        assert answer.status_code == 401
        assert "intermezzo_xsrf" not in client.cookies


async def test_without_the_setting_the_headers_are_ignored(world: Simulated) -> None:
    town = application(world, subject="")
    await town.settle()
    async with town.client(PROXY) as client:
        assert (await client.get(f"{API}/me", headers={"kubeflow-userid": "root"})).status_code == 401


async def test_nobody_is_the_account_of_this_machine_or_has_an_impossible_name(town: Town) -> None:
    async with town.client(PROXY) as client:
        for subject, status in (("local", 403), ("Local", 403), ("a/b", 422), ("..", 422), ("x" * 300, 422)):
            answer = await client.get(f"{API}/me", headers={"kubeflow-userid": subject})
            assert (subject, answer.status_code) == (subject, status)


async def test_fr51_one_account_whatever_the_case(town: Town) -> None:
    async with town.client(PROXY) as client:
        for subject in ("userA1", "USERA1"):
            me = (await client.get(f"{API}/me", headers={"kubeflow-userid": subject})).json()
            assert me["subject"] == "userA1"


async def test_a_disabled_account_is_out_whatever_the_proxy_says(town: Town) -> None:
    async with town.client({**PROXY, "kubeflow-userid": "ada"}) as client:
        credential = (await client.get(f"{API}/me")).json()["credential"]
        assert await town.credentials.live([credential]) == {credential}
        await town.people.change_account("ada", None, Standing.DISABLED)
        assert (await client.get(f"{API}/me")).status_code == 401
        assert await town.credentials.live([credential]) == set()


async def test_fr23_a_change_needs_the_origin_and_the_xsrf_token_here_too(town: Town) -> None:
    body = {"namespace": "red", "name": "exp"}
    async with town.client({**PROXY, "kubeflow-userid": "ada"}) as client:
        assert (await client.post(WORKSPACES, json=body)).status_code == 403
        await client.get(WORKSPACES)
        xsrf = {"X-XSRF-Token": client.cookies["intermezzo_xsrf"]}
        for headers in ({}, {"Origin": SITE}, xsrf, {**xsrf, "Origin": "http://evil.example"}):
            assert (await client.post(WORKSPACES, json=body, headers=headers)).status_code == 403
        stolen = await client.post(WORKSPACES, json=body, headers={**xsrf, "Origin": SITE, "kubeflow-userid": "boss"})
        assert stolen.status_code == 403
        assert (await client.get(WORKSPACES)).json() == []
        assert (await client.post(WORKSPACES, json=body, headers={**xsrf, "Origin": SITE})).status_code == 201


async def test_a_token_goes_before_what_the_proxy_says(town: Town) -> None:
    headers = {**PROXY, "kubeflow-userid": "root", "Authorization": f"Bearer {await town.token('ada')}"}
    async with town.client(headers) as client:
        assert (await client.get(f"{API}/me")).json()["subject"] == "ada"


async def test_fr23_a_public_origin_is_ours_although_the_proxy_rewrote_the_host(world: Simulated) -> None:
    public = "https://notebooks.example.org"
    body = {"code": "guessed"}
    named = {"Origin": public, "Host": "intermezzo.internal:8750"}
    forwarded = {**named, "Origin": "http://notebooks.example.org", "X-Forwarded-Host": "notebooks.example.org"}
    for site, headers, status in (
        (Site(public_url=public), named, 401),
        (Site(), named, 403),
        (BEHIND, {**forwarded, **PROXY}, 401),
        (BEHIND, {**forwarded, "x-intermezzo-peer": "192.0.2.7"}, 403),
        (Site(), {**forwarded, **PROXY}, 403),
    ):
        async with application(world, site).client() as client:
            answer = await client.post("/login", json=body, headers=headers)
            assert (headers, answer.status_code) == (headers, status)


async def test_a_login_link_has_the_public_address(world: Simulated) -> None:
    town = application(world, Site(public_url="https://notebooks.example.org"))
    await town.settle()
    async with town.program("ada") as ada:
        link = (await ada.post(f"{API}/login-links")).json()["url"]
        assert link.startswith("https://notebooks.example.org/login#code=")


def request(**headers: str) -> Request:
    """A request with these headers."""
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "scheme": "http", "headers": raw, "path": "/", "query_string": b""})


@settings(deadline=None)
@given(st.text(st.characters(codec="ascii"), max_size=40), st.text(st.characters(codec="ascii"), max_size=40))
def test_only_the_very_same_origin_is_ours(origin: str, host: str) -> None:
    try:
        Site().require_own(request(origin=origin, host=host))
    except Forbidden:
        assert origin != f"http://{host}"
    else:
        assert origin == f"http://{host}"


@settings(deadline=None)
@given(st.text(st.characters(codec="ascii"), max_size=40), st.text(st.characters(codec="ascii"), max_size=40))
def test_whoever_is_not_trusted_chooses_no_origin(forwarded: str, peer: str) -> None:
    asked = request(
        origin="http://evil.example", host="ours", x_forwarded_host=forwarded, x_intermezzo_peer=f"192.0.2.{peer}"
    )
    with pytest.raises(Forbidden):
        BEHIND.require_own(asked)


async def test_who_is_vouched_for_gets_pages_and_no_login(town: Town) -> None:
    async with town.client({**PROXY, "kubeflow-userid": "ada"}) as client:
        page: httpx.Response = await client.get("/")
        assert page.status_code == 200
        assert client.cookies["intermezzo_xsrf"]
