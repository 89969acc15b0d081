"""Volumes over the API: who sees which, who changes which, and that nobody learns of other people's homes."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from intermezzo.domain.access import Scope, TeamRole
from web.simulated import Simulated
from web.town import API, WORKSPACES, Town

VOLUMES = f"{API}/volumes"
CORPUS = f"{VOLUMES}/red/corpus"


@pytest.fixture
async def town(world: Simulated) -> Town:
    """Everybody, and cleo, who is a member of red beside ada."""
    made = Town(world.api())
    await made.settle()
    await made.people.add_account("cleo")
    await made.people.join("red", "cleo", TeamRole.MEMBER)
    return made


@pytest.fixture
async def ada(town: Town) -> AsyncIterator[httpx.AsyncClient]:
    async with town.program("ada") as client:
        yield client


async def make(client: httpx.AsyncClient, name: str, namespace: str = "red", **spec: Any) -> httpx.Response:
    return await client.post(WORKSPACES, json={"namespace": namespace, "name": name, "spec": spec})


async def gone(client: httpx.AsyncClient, name: str, *, files: bool = False) -> None:
    """Delete a workspace and wait until it is."""
    path = f"{WORKSPACES}/red/{name}"
    (await client.delete(path, params={"files": files})).raise_for_status()
    while (await client.get(path, params={"after": 0, "wait_s": 1})).status_code != 404:
        pass


async def names(client: httpx.AsyncClient, namespace: str | None = None) -> list[str]:
    found = await client.get(VOLUMES, params={"namespace": namespace} if namespace else {})
    found.raise_for_status()
    return [volume["name"] for volume in found.json()]


async def corpus(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.post(VOLUMES, json={"namespace": "red", "name": "corpus"})
    assert (answer.status_code, answer.headers["Location"]) == (201, CORPUS)
    made: dict[str, Any] = answer.json()
    return made


async def test_everybody_sees_what_their_teams_share_and_their_own_homes(town: Town, ada: httpx.AsyncClient) -> None:
    await corpus(ada)
    (await make(ada, "exp", home="thesis")).raise_for_status()
    expected = {
        "ada": ["corpus", "thesis"],
        "cleo": ["corpus"],
        "boss": ["corpus", "thesis"],
        "root": ["corpus", "thesis"],
        "eve": ["corpus", "thesis"],
        "bob": [],
    }
    for subject, seen in expected.items():
        async with town.program(subject) as client:
            assert await names(client) == seen, subject
            shown = await client.get(f"{VOLUMES}/red/thesis")
            assert shown.status_code == (200 if "thesis" in seen else 404), subject
    async with town.program("bob") as bob:
        assert (await bob.get(VOLUMES, params={"namespace": "red"})).status_code == 403


async def test_the_users_of_a_volume_are_named_to_those_who_see_them(town: Town, ada: httpx.AsyncClient) -> None:
    await corpus(ada)
    (await make(ada, "exp", data=[{"volume": "corpus"}])).raise_for_status()
    async with town.program("cleo") as cleo:
        (await make(cleo, "other", data=[{"volume": "corpus", "read_only": True}])).raise_for_status()
        shown = (await cleo.get(CORPUS)).json()
        assert (shown["users"], shown["used_by"], shown["owner"]) == (2, ["red/other"], "ada")
        assert (await cleo.delete(CORPUS)).status_code == 403
    refused = await ada.delete(CORPUS)
    assert refused.status_code == 409
    assert refused.json()["detail"] == "volume red/corpus is used by red/exp, another workspace"
    async with town.program("boss") as boss:
        assert (await boss.get(CORPUS)).json()["used_by"] == ["red/exp", "red/other"]


async def test_a_mount_shows_where_it_is_and_its_default_path(ada: httpx.AsyncClient) -> None:
    await corpus(ada)
    made = (await make(ada, "exp", data=[{"volume": "corpus", "read_only": True}])).json()
    assert made["spec"]["data"] == [{"volume": "corpus", "path": "/data/corpus", "read_only": True}]
    refused = await make(ada, "second", data=[{"volume": "corpus", "path": "/etc"}, {"volume": "none"}])
    assert refused.status_code == 422
    assert refused.json()["fields"] == {
        "spec.podTemplate.volumes.data[0].path": "/etc is in the way of the system's own directories"
    }


@pytest.mark.parametrize("taken", ["home", "data"])
async def test_a_stranger_is_refused_alike_whatever_stands_behind_a_name(
    town: Town, ada: httpx.AsyncClient, taken: str
) -> None:
    if taken == "home":
        (await make(ada, "exp", home="corpus")).raise_for_status()
        await gone(ada, "exp")
    else:
        await corpus(ada)
    async with town.program("cleo") as cleo:
        refused = await make(cleo, "exp", home="corpus")
        assert (refused.status_code, refused.json()["detail"]) == (422, "'corpus' cannot be the home of this workspace")
        assert "ada" not in refused.text
    async with town.program("bob") as bob:
        (await make(bob, "exp", namespace="blue", home="corpus")).raise_for_status()
        assert (await bob.get(CORPUS)).status_code == 404


async def test_a_home_that_was_left_is_given_on_by_an_administrator(
    town: Town, world: Simulated, ada: httpx.AsyncClient
) -> None:
    first = (await make(ada, "exp", home="thesis")).json()
    async with town.program("boss") as boss:
        in_use = await boss.post(f"{VOLUMES}/red/thesis/give", json={"to": "cleo"})
        assert in_use.status_code == 409
        await gone(ada, "exp")
        (await boss.post(f"{VOLUMES}/red/thesis/give", json={"to": "CLEO"})).raise_for_status()
        outside = await boss.post(f"{VOLUMES}/red/thesis/give", json={"to": "bob"})
        assert (outside.status_code, list(outside.json()["fields"])) == (422, ["to"])
    async with town.program("cleo") as cleo:
        (await make(cleo, "exp", home="thesis")).raise_for_status()
        assert (await cleo.get(f"{VOLUMES}/red/thesis")).json()["owner"] == "cleo"
    assert (await ada.get(f"{VOLUMES}/red/thesis")).status_code == 404
    assert first["owner"] == "ada"


async def test_fr47_with_its_files_a_workspace_takes_its_home_and_leaves_the_data(ada: httpx.AsyncClient) -> None:
    await corpus(ada)
    (await make(ada, "exp", home="thesis", data=[{"volume": "corpus"}])).raise_for_status()
    await gone(ada, "exp", files=True)
    assert await names(ada) == ["corpus"]


async def test_what_is_deleted_is_gone_from_the_disk_and_its_name_free(
    world: Simulated, ada: httpx.AsyncClient
) -> None:
    made = await corpus(ada)
    (await make(ada, "exp", data=[{"volume": "corpus"}])).raise_for_status()
    await gone(ada, "exp")
    assert (await ada.get(f"{CORPUS}/files")).json()["files"] == 0
    deleted = await ada.delete(CORPUS)
    assert (deleted.status_code, deleted.json()["deleting_at"] > 0) == (202, True)
    await world.plane.volumes.clear()
    assert (await ada.get(CORPUS)).status_code == 404
    assert made["id"] not in world.cluster.world.volumes
    assert (await corpus(ada))["id"] != made["id"]


async def test_the_loop_deletes_what_is_to_go_without_being_asked_again(
    world: Simulated, ada: httpx.AsyncClient
) -> None:
    await corpus(ada)
    await world.plane.volumes.delete(await world.plane.volumes.get("red", "corpus"), lambda _: True)
    while (await ada.get(CORPUS)).status_code != 404:
        pass
    assert await names(ada) == []


async def test_a_token_without_the_scope_is_told_which_one_it_lacks(town: Town, ada: httpx.AsyncClient) -> None:
    await corpus(ada)
    async with town.program("cleo", Scope.WRITE) as cleo:
        refused = await cleo.get(CORPUS)
        assert (refused.status_code, "`read`" in refused.text) == (403, True)
        assert (await cleo.get(VOLUMES)).status_code == 403


@pytest.mark.parametrize("name", ["", "Corpus", "../etc", "a/b", "x" * 64])
async def test_a_name_that_no_volume_can_have_is_refused_by_its_field(ada: httpx.AsyncClient, name: str) -> None:
    refused = await ada.post(VOLUMES, json={"namespace": "red", "name": name})
    assert (refused.status_code, list(refused.json()["fields"])) == (422, ["name"])


async def test_whoever_may_not_make_a_volume_is_told_of_volumes(town: Town) -> None:
    async with town.program("bob") as bob:
        refused = await bob.post(VOLUMES, json={"namespace": "red", "name": "mine"})
    assert (refused.status_code, "volumes in red" in refused.json()["detail"]) == (403, True)
