"""Logging in with an identity provider: a real one, on this machine's own loopback."""

import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from intermezzo.config.accounts import AccountSettings, Groups, OpenIdConnect
from intermezzo.domain.account import Membership, Standing
from intermezzo.web.application import create_api
from intermezzo.web.auth.origin import Site
from web.simulated import SITE, Simulated
from web.town import API, WORKSPACES, Town

GROUPS = Groups(members={"reds": "red"}, admins={"leads": "red"}, platform_admins="it", auditors="audit")


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """The provider, a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as provider:
        assert provider.stderr is not None
        begun = next(line for line in provider.stderr if "running on" in line)
        reading = threading.Thread(target=provider.stderr.read)  # so that it never waits for a reader
        reading.start()
        try:
            yield f"http://localhost:{re.search(r'127.0.0.1:([0-9]+)', begun)[1]}"  # type: ignore[index]
        finally:
            provider.terminate()
            reading.join()


def application(
    world: Simulated, issuer: str, secret: Path, *, groups: Groups = GROUPS, claim: str = "sub", public_url: str = ""
) -> Town:
    """An installation that knows people by that provider."""
    secret.write_text("s3cret\n")
    oidc = OpenIdConnect(issuer=issuer, client_id="intermezzo", client_secret_file=secret, subject_claim=claim)
    settings = AccountSettings(oidc=oidc, groups=groups)
    return Town(create_api(world.plane, world.store, world.plane.context.clock, Site(public_url), settings))


@pytest.fixture
async def town(world: Simulated, issuer: str, tmp_path: Path) -> Town:
    """Everybody, and the provider."""
    made = application(world, issuer, tmp_path / "secret")
    await made.settle()
    return made


async def tell_provider(issuer: str, subject: str, **claims: object) -> None:
    """Let the provider know somebody."""
    async with httpx.AsyncClient(trust_env=False) as client:
        (await client.put(f"{issuer}/users/{subject}", json=claims)).raise_for_status()


async def approve(sent: httpx.Response, subject: str) -> str:
    """Log in at the provider to which the browser was sent; where the provider sends it back to."""
    async with httpx.AsyncClient(trust_env=False) as provider:
        back = await provider.post(sent.headers["Location"], data={"sub": subject})
    return str(back.headers["Location"])


@asynccontextmanager
async def logged_in(town: Town, subject: str, way_on: str = "/") -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """A browser that has logged in, and where it was sent then."""
    async with town.client() as browser:
        sent = await browser.get("/login/oidc", params={"next": way_on})
        done = await browser.get(await approve(sent, subject))
        assert done.status_code == 303, done.text
        yield browser, done.headers["Location"]


async def test_the_browser_is_sent_with_state_nonce_and_a_challenge(town: Town, issuer: str) -> None:
    async with town.client() as browser:
        sent = await browser.get("/login/oidc")
    asked = parse_qs(urlsplit(sent.headers["Location"]).query)
    assert sent.headers["Location"].startswith(f"{issuer}/oauth2/authorize?")
    assert asked["redirect_uri"] == [f"{SITE}/login/oidc/callback"]
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["code_challenge"][0]) == 43
    assert asked["state"][0] != asked["nonce"][0]
    assert "s3cret" not in sent.headers["Location"]
    cookie = sent.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/login/oidc" in cookie


async def test_somebody_new_gets_an_account_and_the_teams_of_their_groups(town: Town, issuer: str) -> None:
    await tell_provider(issuer, "zoe", groups=["reds", "unknown"])
    async with logged_in(town, "zoe", "/w/red/exp?x=1") as (browser, way_on):
        assert way_on == "/w/red/exp?x=1"
        me = (await browser.get(f"{API}/me")).json()
        assert (me["subject"], me["role"], me["teams"]) == ("zoe", "user", {"red": "member"})
        xsrf = {"Origin": SITE, "X-XSRF-Token": browser.cookies["intermezzo_xsrf"]}
        made = await browser.post(WORKSPACES, json={"namespace": "red", "name": "exp"}, headers=xsrf)
        assert made.status_code == 201


async def test_whoever_comes_is_written_to_where_the_provider_says_unless_they_said_so_themselves(
    town: Town, issuer: str
) -> None:
    contact = f"{API}/me/contact"
    await tell_provider(issuer, "zoe", email="unsure@example.org", email_verified=False)
    async with logged_in(town, "zoe") as (browser, _):
        assert (await browser.get(contact)).json()["address"] == ""
    await tell_provider(issuer, "zoe", email="zoe@example.org", email_verified=True)
    async with logged_in(town, "zoe") as (browser, _):
        assert (await browser.get(contact)).json()["address"] == "zoe@example.org"
        xsrf = {"Origin": SITE, "X-XSRF-Token": browser.cookies["intermezzo_xsrf"]}
        await browser.put(contact, json={"address": "elsewhere@example.org"}, headers=xsrf)
    async with logged_in(town, "zoe") as (browser, _):
        assert (await browser.get(contact)).json()["address"] == "elsewhere@example.org"


async def test_groups_that_are_gone_at_the_next_login_give_nothing_any_more(town: Town, issuer: str) -> None:
    await tell_provider(issuer, "zoe", groups=["leads", "it"])
    async with logged_in(town, "zoe") as (browser, _):
        me = (await browser.get(f"{API}/me")).json()
        assert (me["role"], me["teams"]) == ("platform-admin", {"red": "admin"})
    await town.people.join("blue", "zoe", Membership("", "").role)
    await tell_provider(issuer, "zoe", groups=["audit"])
    async with logged_in(town, "zoe") as (browser, _):
        me = (await browser.get(f"{API}/me")).json()
        assert (me["role"], me["teams"]) == ("auditor", {"blue": "member"})


async def test_a_role_given_here_stays_where_groups_say_nothing(world: Simulated, issuer: str, tmp_path: Path) -> None:
    town = application(world, issuer, tmp_path / "secret", groups=Groups())
    await town.settle()
    async with logged_in(town, "eve") as (browser, _):
        assert (await browser.get(f"{API}/me")).json()["role"] == "auditor"


async def test_fr51_the_provider_may_write_the_name_in_another_case(town: Town) -> None:
    async with logged_in(town, "ADA") as (browser, _):
        assert (await browser.get(f"{API}/me")).json()["subject"] == "ada"


async def test_a_disabled_account_logs_in_to_nothing(town: Town) -> None:
    await town.people.change_account("bob", None, Standing.DISABLED)
    async with town.client() as browser:
        refused = await browser.get(await approve(await browser.get("/login/oidc"), "bob"))
        assert refused.status_code == 401
        assert "intermezzo_session" not in browser.cookies


@pytest.mark.parametrize("subject", ["local", "LOCAL"])
async def test_nobody_from_outside_is_the_account_of_this_machine(town: Town, subject: str) -> None:
    async with town.client() as browser:
        refused = await browser.get(await approve(await browser.get("/login/oidc"), subject))
        assert refused.status_code == 403
        assert "intermezzo_session" not in browser.cookies


async def test_an_answer_that_was_not_asked_for_by_this_browser_is_refused(town: Town) -> None:
    async with town.client() as victim, town.client() as attacker:
        back = await approve(await attacker.get("/login/oidc"), "bob")
        await victim.get("/login/oidc")
        for browser, address in ((victim, back), (town.client(), back), (attacker, back.replace("code=", "code=x"))):
            refused = await browser.get(address)
            assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
            assert "intermezzo_session" not in browser.cookies


async def test_an_answer_is_good_for_one_login(town: Town) -> None:
    async with town.client() as browser:
        back = await approve(await browser.get("/login/oidc"), "ada")
        assert (await browser.get(back)).status_code == 303
        assert (await browser.get(back)).status_code == 401


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "///evil.example", "/\\evil.example", "https:evil.example", f"{SITE}.evil.example"],
)
async def test_fr24_the_way_on_stays_on_this_site(town: Town, target: str) -> None:
    async with logged_in(town, "ada", target) as (_, way_on):
        assert way_on == "/"


@pytest.mark.parametrize(
    ("claims", "status"),
    [({"email": "a b@x.org", "email_verified": True}, 303), ({"email": "a b@x.org"}, 401), ({}, 401)],
)
async def test_an_e_mail_address_is_a_name_only_if_it_was_verified(
    world: Simulated, issuer: str, tmp_path: Path, claims: dict[str, object], status: int
) -> None:
    town = application(world, issuer, tmp_path / "secret", claim="email")
    await tell_provider(issuer, "someone", **claims)
    async with town.client() as browser:
        done = await browser.get(await approve(await browser.get("/login/oidc"), "someone"))
        assert done.status_code == status, done.text
        known = status == 303
        assert ((await browser.get(f"{API}/me")).status_code == 200) == known


async def test_the_public_address_is_the_one_to_come_back_to(world: Simulated, issuer: str, tmp_path: Path) -> None:
    public_url = "https://notebooks.example.org"
    async with application(world, issuer, tmp_path / "secret", public_url=public_url).client() as browser:
        asked = parse_qs(urlsplit((await browser.get("/login/oidc")).headers["Location"]).query)
        assert asked["redirect_uri"] == ["https://notebooks.example.org/login/oidc/callback"]


async def test_a_provider_that_is_not_there_is_said_so(world: Simulated, tmp_path: Path) -> None:
    async with application(world, "http://localhost:9", tmp_path / "secret").client() as browser:
        answer = await browser.get("/login/oidc")
        assert (answer.status_code, answer.json()["code"]) == (503, "unreachable")


async def test_a_provider_of_another_name_is_not_believed(world: Simulated, issuer: str, tmp_path: Path) -> None:
    other = issuer.replace("localhost", "LOCALHOST")
    async with application(world, other, tmp_path / "secret").client() as browser:
        assert (await browser.get("/login/oidc")).status_code == 503


async def test_logins_and_their_failures_are_written_down(town: Town) -> None:
    async with logged_in(town, "ada"):
        pass
    async with town.client() as browser:
        await browser.get("/login/oidc/callback", params={"code": "S3CRET", "state": "S3CRET"})
    [failed, done] = await town.people.audit(2**62, 10)
    assert (done.subject, done.action, done.status) == ("ada", "finish_login", 303)
    assert (failed.subject, failed.action, failed.status) == ("", "finish_login", 401)
    assert "S3CRET" not in repr(failed)


async def test_a_person_gets_a_page_when_the_login_fails(town: Town) -> None:
    async with town.client({"Accept": "text/html"}) as browser:
        page = await browser.get("/login/oidc/callback", params={"error": "access_denied", "state": "x"})
    assert page.status_code == 401
    assert "<h1>" in page.text
    assert "did not succeed" in page.text


async def test_without_a_provider_there_is_no_such_address(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/login/oidc")).status_code == 404
