"""Labels that administrators give to namespaces."""

import asyncio

import httpx

from web.simulated import Simulated

NAMESPACES = "/api/intermezzo/v1/namespaces"


async def put(api: httpx.AsyncClient, namespace: str, **labels: str) -> int:
    answer = await api.put(f"{NAMESPACES}/{namespace}/labels", json={"labels": labels})
    return answer.status_code


async def test_a_namespace_has_the_labels_that_it_was_given_last(api: httpx.AsyncClient) -> None:
    assert await put(api, "team-a", tier="production", cost="high") == 204
    assert await put(api, "team-b", tier="development") == 204
    assert await put(api, "TEAM-A", tier="test") == 204
    assert (await api.get(NAMESPACES)).json() == [
        {"namespace": "TEAM-A", "labels": {"tier": "test"}},
        {"namespace": "team-b", "labels": {"tier": "development"}},
    ]
    assert await put(api, "team-a") == 204
    assert [each["namespace"] for each in (await api.get(NAMESPACES)).json()] == ["team-b"]


async def test_many_at_once_are_all_kept(api: httpx.AsyncClient, world: Simulated) -> None:
    statuses = await asyncio.gather(*(put(api, f"team-{number}", tier="x") for number in range(20)))
    assert set(statuses) == {204}
    assert len(await world.plane.given_labels()) == 20


async def test_a_wrong_label_is_named_and_nothing_is_changed(api: httpx.AsyncClient, world: Simulated) -> None:
    answer = await api.put(f"{NAMESPACES}/team-a/labels", json={"labels": {"tier": "a b", "fine": "yes"}})
    assert (answer.status_code, set(answer.json()["fields"])) == (422, {"labels.tier"})
    assert await put(api, "%20", tier="x") == 422
    assert await world.plane.given_labels() == {}
