"""Quotas and the queue over the API: everybody sees their own, who oversees the installation sees all."""

from collections.abc import AsyncIterator

import httpx
import pytest

from intermezzo.domain.policy import Allowance, Match, Per, Policy
from web.simulated import Simulated
from web.test_workspaces import reach
from web.town import API, Town

GPU = "nvidia.com/gpu"
POLICY = Policy(
    name="small",
    match=Match(kinds=frozenset({"jupyterlab"})),
    quotas={Per.USER: Allowance(workspaces=1, cpu_millis=500), Per.TEAM: Allowance(cpu_millis=750)},
)


@pytest.fixture
async def town(world: Simulated) -> AsyncIterator[Town]:
    world.plane.context.policies = (POLICY,)
    found = Town(world.api())
    await found.settle()
    yield found


async def create(client: httpx.AsyncClient, namespace: str, name: str) -> httpx.Response:
    body = {"namespace": namespace, "name": name, "spec": {"kind": "jupyterlab", "pod": "small"}}
    return await client.post(f"{API}/workspaces", json=body)


async def test_what_is_allowed_and_used_is_seen_before_anything_is_asked_for(town: Town) -> None:
    async with town.program("ada") as ada:
        user, team = (await ada.get(f"{API}/quotas")).json()
        assert (user["per"], user["name"], user["kinds"]) == ("user", "ada", ["jupyterlab"])
        assert user["items"] == [
            {"resource": "workspaces", "used": 0, "allowed": 1},
            {"resource": "cpu", "used": 0, "allowed": 500},
        ]
        assert (team["per"], team["name"]) == ("team", "red")
        created = await create(ada, "red", "exp")
        await reach(ada, created.headers["Location"], "Running")
        user, team = (await ada.get(f"{API}/quotas")).json()
        assert [item["used"] for item in user["items"]] == [1, 500]
        assert [item["used"] for item in team["items"]] == [500]


async def test_one_too_many_is_refused_with_the_numbers(town: Town) -> None:
    async with town.program("ada") as ada:
        assert (await create(ada, "red", "exp")).status_code == 201
        refused = await create(ada, "red", "more")
        assert refused.status_code == 409
        assert "user ada has 1 of 1 workspaces allowed (policy small)" in refused.text
        assert len((await ada.get(f"{API}/workspaces")).json()) == 1


async def test_one_whom_the_teams_quota_holds_back_is_told_at_which_place_and_by_what(town: Town) -> None:
    async with town.program("ada") as ada, town.program("boss") as boss, town.program("bob") as bob:
        created = await create(ada, "red", "exp")
        await reach(ada, created.headers["Location"], "Running")
        waiting = await create(boss, "red", "waits")
        shown = await reach(boss, waiting.headers["Location"], "Queued")
        (place,) = (await boss.get(f"{API}/queue")).json()
        assert place == {
            "namespace": "red",
            "name": "waits",
            "position": 1,
            "reason": "needs 0.5 CPU, team red has 0.5 of 0.75 allowed (policy small)",
            "expected_at": None,
        }
        assert shown["phase"] == "Queued"
        assert (await bob.get(f"{API}/queue")).json() == []


async def test_only_who_oversees_the_installation_sees_everybodys(town: Town) -> None:
    async with town.program("ada") as ada, town.program("bob") as bob, town.program("eve") as eve:
        await create(ada, "red", "exp")
        await create(bob, "blue", "exp")
        assert (await ada.get(f"{API}/quotas/everybody")).status_code == 403
        assert {each["name"] for each in (await bob.get(f"{API}/quotas")).json()} == {"bob", "blue"}
        everybody = (await eve.get(f"{API}/quotas/everybody")).json()
        assert {(each["per"], each["name"]) for each in everybody} >= {
            ("user", "ada"),
            ("user", "bob"),
            ("team", "red"),
            ("team", "blue"),
        }
