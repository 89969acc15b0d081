"""People through the API: what is taken away is gone at the next request, and secrets are shown once."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from structlog.testing import capture_logs

from intermezzo.adapters.memory import ManualClock
from intermezzo.domain.access import Scope
from intermezzo.domain.account import Use
from intermezzo.web.application import create_api
from web.simulated import SITE, Simulated
from web.test_workspaces import reach
from web.town import API, WORKSPACES, Town

DAY_MS = 24 * 3600 * 1000


@pytest.fixture
async def town(world: Simulated) -> Town:
    """Everybody."""
    settled = Town(world.api())
    await settled.settle()
    return settled


@pytest.fixture
async def root(town: Town) -> AsyncIterator[httpx.AsyncClient]:
    """The administrator's program."""
    async with town.program("root") as client:
        yield client


async def test_an_administrator_makes_an_account_that_logs_in_by_a_link_once(
    town: Town, root: httpx.AsyncClient
) -> None:
    made = await root.post(f"{API}/accounts", json={"subject": "Zoë", "role": "auditor"})
    assert (made.status_code, made.headers["Location"]) == (201, f"{API}/accounts/Zo%C3%AB")
    link = (await root.post(f"{made.headers['Location']}/login-links")).json()["url"]
    assert link.startswith(f"{SITE}/login#code=")
    async with town.client({"Origin": SITE}) as browser:
        code = {"code": link.partition("=")[2]}
        assert (await browser.post("/login", json=code)).status_code == 200
        me = (await browser.get(f"{API}/me")).json()
        assert (me["subject"], me["role"]) == ("Zoë", "auditor")
        assert (await browser.post("/login", json=code)).status_code == 401


@pytest.mark.parametrize("subject", ["", " a", "a/b", "..", "a\x00b", "x" * 254])
async def test_an_impossible_name_is_refused_at_its_field(root: httpx.AsyncClient, subject: str) -> None:
    answer = await root.post(f"{API}/accounts", json={"subject": subject})
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["subject"])
    assert len((await root.get(f"{API}/accounts")).json()) == 5


@pytest.mark.parametrize("subject", ["_@example.com", "f" * 64, "Ü.Ä", "a b@x.org"])
async def test_fr14_odd_names_work_as_account_team_and_namespace(
    town: Town, root: httpx.AsyncClient, subject: str
) -> None:
    team = subject[:63]
    path = (await root.post(f"{API}/accounts", json={"subject": subject})).headers["Location"]
    made = await root.post(f"{API}/teams", json={"name": team, "namespaces": [subject]})
    member = f"{made.headers['Location']}/members/{path.rpartition('/')[2]}"
    assert (await root.put(member, json={})).status_code == 204
    assert (await root.get(path)).json()["subject"] == subject
    async with town.browser(subject) as browser:
        for name in ("1.13.1", "x" * 63):
            created = await browser.post(WORKSPACES, json={"namespace": subject, "name": name})
            found = await reach(browser, created.headers["Location"], "Running")
            assert (found["namespace"], found["name"], found["owner"]) == (subject, name, subject)


async def test_fr51_one_account_whatever_the_case(town: Town, root: httpx.AsyncClient) -> None:
    await root.post(f"{API}/accounts", json={"subject": "userA1"})
    await root.put(f"{API}/teams/RED/members/userA1", json={})
    async with town.browser("userA1") as first:
        await first.post(WORKSPACES, json={"namespace": "red", "name": "exp"})
    async with town.browser("USERA1") as second:
        assert [w["owner"] for w in (await second.get(WORKSPACES)).json()] == ["userA1"]
        page = await second.get("/", follow_redirects=True)
        assert (page.status_code, len(page.history) <= 2) == (200, True)
        assert (await second.post(f"{WORKSPACES}/red/exp/connection")).status_code in {200, 409}
    assert (await root.post(f"{API}/accounts", json={"subject": "USERa1"})).status_code == 409


async def test_a_disabled_account_is_out_at_the_next_request_and_logs_in_anew_when_enabled(
    town: Town, root: httpx.AsyncClient
) -> None:
    async with town.browser("ada") as browser, town.program("ada") as program:
        await root.patch(f"{API}/accounts/ada", json={"standing": "disabled"})
        assert {(await client.get(WORKSPACES)).status_code for client in (browser, program)} == {401}
        link = (await root.post(f"{API}/accounts/ada/login-links")).json()["url"]
        await root.patch(f"{API}/accounts/ada", json={"standing": "enabled"})
        assert {(await client.get(WORKSPACES)).status_code for client in (browser, program)} == {401}
        code = {"code": link.partition("#code=")[2]}
        assert (await browser.post("/login", json=code)).status_code == 401
    async with town.browser("ada") as browser:
        assert (await browser.get(WORKSPACES)).status_code == 200


async def test_a_role_and_a_membership_hold_at_the_next_request(town: Town, root: httpx.AsyncClient) -> None:
    async with town.program("ada") as ada, town.program("bob") as bob:
        await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp"})
        assert (await bob.get(f"{WORKSPACES}/red/exp")).status_code == 404
        await root.put(f"{API}/teams/red/members/bob", json={"role": "admin"})
        assert (await bob.get(f"{WORKSPACES}/red/exp")).status_code == 200
        assert (await bob.post(f"{WORKSPACES}/red/exp/connection")).status_code == 403
        await root.delete(f"{API}/teams/red/members/bob")
        assert (await bob.get(f"{WORKSPACES}/red/exp")).status_code == 404
        await root.patch(f"{API}/accounts/bob", json={"role": "auditor"})
        assert (await bob.get(f"{WORKSPACES}/red/exp")).status_code == 200
        assert (await bob.post(f"{WORKSPACES}/red/exp/pause")).status_code == 403


async def test_who_leaves_the_team_keeps_nothing_in_its_namespace(town: Town, root: httpx.AsyncClient) -> None:
    async with town.program("ada") as ada:
        await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp"})
        await root.delete(f"{API}/teams/red/members/ada")
        assert (await ada.get(WORKSPACES)).json() == []
        assert (await ada.post(WORKSPACES, json={"namespace": "red", "name": "b"})).status_code == 403


async def test_a_team_admin_manages_the_own_team_only(town: Town) -> None:
    async with town.program("boss") as boss:
        assert (await boss.put(f"{API}/teams/red/members/bob", json={"role": "admin"})).status_code == 204
        assert (await boss.put(f"{API}/teams/blue/members/boss", json={})).status_code == 404
        assert [team["name"] for team in (await boss.get(f"{API}/teams")).json()] == ["red"]
        for request in (
            boss.patch(f"{API}/teams/red", json={"namespaces": ["red", "blue"]}),
            boss.delete(f"{API}/teams/red"),
            boss.post(f"{API}/teams", json={"name": "green"}),
        ):
            assert (await request).status_code == 403


async def test_a_namespace_with_workspaces_stays_with_its_team(town: Town, root: httpx.AsyncClient) -> None:
    async with town.program("ada") as ada:
        await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp"})
    assert (await root.delete(f"{API}/teams/red")).status_code == 409
    assert (await root.patch(f"{API}/teams/red", json={"namespaces": ["other"]})).status_code == 409
    assert (await root.get(f"{API}/teams/red")).json()["namespaces"] == ["red"]
    assert (await root.patch(f"{API}/teams/red", json={"namespaces": ["red", "other"]})).status_code == 200
    assert (await root.delete(f"{API}/teams/blue")).status_code == 204


async def test_the_last_administrator_cannot_resign(root: httpx.AsyncClient) -> None:
    for change in ({"role": "user"}, {"standing": "disabled"}):
        assert (await root.patch(f"{API}/accounts/root", json=change)).status_code == 409


async def test_a_token_is_shown_once_and_does_no_more_than_its_scopes(town: Town, world: Simulated) -> None:
    async with town.browser("ada") as ada:
        body = {"label": "laptop", "scopes": ["read"], "days": 30}
        made = (await ada.post(f"{API}/tokens", json=body)).json()
        listed = await ada.get(f"{API}/credentials")
        assert made["token"] not in listed.text
        assert made["token"] not in repr(vars(world.store.accounts))
        token = next(c for c in listed.json() if c["id"] == made["id"])
        assert (token["label"], token["scopes"], token["use"]) == ("laptop", ["read"], "api")
        assert token["expires_at"] - token["created_at"] == 30 * DAY_MS
    async with town.client({"Authorization": f"Bearer {made['token']}"}) as program:
        assert (await program.get(WORKSPACES)).status_code == 200
        assert (await program.post(WORKSPACES, json={"namespace": "red", "name": "a"})).status_code == 403
        assert (await program.post(f"{API}/tokens", json=body)).status_code == 403
        assert (await program.post(f"{API}/login-links")).status_code == 403
        assert (await program.delete(f"{API}/credentials/{made['id']}")).status_code == 403


async def test_who_may_but_whose_token_may_not_reads_which_scope_it_lacks(town: Town) -> None:
    async with town.program("ada") as ada, town.program("ada", Scope.READ) as reading:
        await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp"})
        for asked, scope in (("exp/connection", "connect"), ("exp/pause", "write")):
            refused = await reading.post(f"{WORKSPACES}/red/{asked}")
            assert (refused.status_code, refused.json()["detail"], refused.json()["hint"]) == (
                403,
                f"this token lacks the scope `{scope}`",
                f"use one with the scope `{scope}`",
            )
    async with town.program("boss", Scope.READ) as boss:
        refused = await boss.post(f"{WORKSPACES}/red/exp/connection")
        assert (refused.json()["detail"], refused.json()["hint"]) == (
            "only its owner may enter red/exp",
            "ask its owner",
        )


async def test_a_token_that_may_not_read_does_not_tell_whether_a_strangers_workspace_is_there(town: Town) -> None:
    async with town.program("ada") as ada, town.program("bob", Scope.WRITE, Scope.CONNECT) as bob:
        await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp"})
        for path in ("exp/pause", "none/pause", "exp/connection", "none/connection"):
            assert (await bob.post(f"{WORKSPACES}/red/{path}")).status_code == 404


async def test_a_token_never_gives_more_than_its_account(town: Town) -> None:
    async with town.program("ada", Scope.ADMIN, Scope.READ) as ada:
        assert (await ada.get(f"{API}/accounts")).status_code == 403
        assert (await ada.post(f"{API}/accounts", json={"subject": "x"})).status_code == 403
    async with town.program("root", Scope.READ) as root:
        assert (await root.get(f"{API}/accounts")).status_code == 200
        assert (await root.post(f"{API}/accounts", json={"subject": "x"})).status_code == 403
    async with town.program("root", Scope.WRITE) as root:
        assert (await root.get(WORKSPACES)).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        {"label": "", "scopes": ["read"]},
        {"label": "a\nb", "scopes": ["read"]},
        {"label": "a", "scopes": []},
        {"label": "a", "scopes": ["root"]},
        {"label": "a", "scopes": ["read"], "days": 0},
        {"label": "a", "scopes": ["read"], "days": 400},
    ],
)
async def test_an_impossible_token_is_refused(town: Town, body: dict[str, object]) -> None:
    async with town.browser("ada") as ada:
        assert (await ada.post(f"{API}/tokens", json=body)).status_code == 422


async def test_a_token_ends_by_itself(world: Simulated) -> None:
    clock = ManualClock()
    town = Town(create_api(world.plane, world.store, clock))
    await town.settle()
    issued = await town.credentials.make("ada", Use.API, "short", frozenset(Scope), DAY_MS)
    async with town.client({"Authorization": f"Bearer {issued.secret}"}) as program:
        clock.advance(DAY_MS - 1)
        assert (await program.get(WORKSPACES)).status_code == 200
        clock.advance(1)
        assert (await program.get(WORKSPACES)).status_code == 401
        assert await town.credentials.live([issued.credential.id]) == set()


async def test_logging_out_ends_the_session_everywhere_at_once(town: Town) -> None:
    async with town.browser("ada") as ada, town.browser("ada") as other:
        stolen = dict(ada.cookies)
        assert (await ada.post("/logout")).status_code == 204
        assert "intermezzo_session" not in ada.cookies
        async with town.client() as thief:
            thief.cookies.update(stolen)
            assert (await thief.get(WORKSPACES)).status_code == 401
        assert (await other.get(WORKSPACES)).status_code == 200


async def test_sessions_are_listed_and_revoked_one_by_one(town: Town, root: httpx.AsyncClient) -> None:
    async with town.browser("ada") as ada, town.browser("bob") as bob:
        mine = (await ada.get(f"{API}/credentials")).json()
        assert {credential["subject"] for credential in mine} == {"ada"}
        his = (await bob.get(f"{API}/credentials")).json()[0]["id"]
        assert (await ada.delete(f"{API}/credentials/{his}")).status_code == 404
        assert (await bob.get(WORKSPACES)).status_code == 200
        assert (await root.delete(f"{API}/credentials/{his}")).status_code == 204
        assert (await bob.get(WORKSPACES)).status_code == 401
        assert (await ada.delete(f"{API}/credentials/{mine[0]['id']}")).status_code == 204
        assert (await ada.get(WORKSPACES)).status_code == 401


async def test_a_list_shows_the_own_the_teams_or_all(town: Town) -> None:
    async with town.program("ada") as ada, town.program("boss") as boss, town.program("bob") as bob:
        for client, namespace, name in ((ada, "red", "a"), (boss, "red", "b"), (bob, "blue", "c")):
            await client.post(WORKSPACES, json={"namespace": namespace, "name": name})
    seen = {}
    for subject in ("ada", "boss", "bob", "root", "eve"):
        async with town.program(subject) as client:
            seen[subject] = sorted(w["owner"] for w in (await client.get(WORKSPACES)).json())
            ledger = {entry["actor"] for entry in (await client.get(f"{API}/ledger")).json()}
            assert sorted(ledger) == seen[subject]
    assert seen == {
        "ada": ["ada"],
        "boss": ["ada", "boss"],
        "bob": ["bob"],
        "root": ["ada", "bob", "boss"],
        "eve": ["ada", "bob", "boss"],
    }


async def test_capacity_names_only_holders_one_may_see_and_totals_are_for_all(town: Town) -> None:
    async with town.program("ada") as ada, town.program("bob") as bob:
        path = (await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp"})).headers["Location"]
        await reach(ada, path, "Running")
        [mine], [his] = [(await client.get(f"{API}/capacity")).json() for client in (ada, bob)]
    assert list(mine["holders"]) == ["red/exp"]
    assert his["holders"] == {}
    assert his["held"] == mine["held"] != {"cpu_millis": 0, "memory_bytes": 0, "accelerators": {}, "virtual": []}


async def test_what_happened_to_a_deleted_workspace_stays_visible_to_its_owner_only(town: Town) -> None:
    async with town.program("ada") as ada, town.program("bob") as bob, town.program("boss") as boss:
        path = (await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp"})).headers["Location"]
        await reach(ada, path, "Running")
        await ada.delete(path)
        while (await ada.get(path, params={"after": 0, "wait_s": 1})).status_code != 404:
            pass
        for client, sees in ((ada, True), (boss, True), (bob, False)):
            events = {entry["event"] for entry in (await client.get(f"{API}/ledger")).json()}
            assert ("deleted" in events) == sees


async def test_fr22_a_token_in_an_address_reaches_no_record_of_ours(
    town: Town, root: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    secret = {"token": "S3CRET", "code": "S3CRET"}
    with capture_logs() as logged:
        await ask_for_everything_with(secret, town)
    ours = "".join(record.getMessage() for record in caplog.records if record.name != "httpx")  # the test's client
    audit = (await root.get(f"{API}/audit")).json()
    assert {"create_workspace", "pause", "log_in"} <= {record["action"] for record in audit}
    for told in (json.dumps(audit), (await root.get(f"{API}/ledger")).text, repr(logged), ours):
        assert "S3CRET" not in told


async def ask_for_everything_with(secret: dict[str, str], town: Town) -> None:
    """Requests that succeed, are refused, are nowhere and fail, each with a secret in its address."""
    async with town.browser("ada") as ada:
        await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp"}, params=secret)
        await ada.post(f"{WORKSPACES}/red/exp/pause", params=secret)
        await ada.get("/", params=secret)
        await ada.get("/workspace/connect/red/exp/jupyterlab/", params=secret)
        await ada.post("/nowhere", params=secret)
        await ada.post("/login", json={"code": "S3CRET"}, params=secret)
        await ada.get(WORKSPACES, params=secret, headers={"Authorization": "Bearer S3CRET"})


async def test_many_changes_at_once_to_one_account_end_in_one_of_them(town: Town, root: httpx.AsyncClient) -> None:
    bodies = [{"role": role} for role in ("user", "auditor", "platform-admin")] * 5
    answers = await asyncio.gather(*(root.patch(f"{API}/accounts/ada", json=body) for body in bodies))
    assert {answer.status_code for answer in answers} == {200}
    assert (await root.get(f"{API}/accounts/ada")).json()["role"] in {"user", "auditor", "platform-admin"}
