"""Editing a workspace through the compatible API: nothing is lost to those who write beside it."""

import asyncio
from typing import Any

import httpx

from intermezzo.domain.workspace import WorkspaceKey
from web.kubeflow import BODY, PREFIX, conforms
from web.simulated import Simulated
from web.test_workspaces import WORKSPACES, reach

PATH = f"{PREFIX}/workspaces/default/exp-17"
NAMED = "/workspaces/{namespace}/{name}"
KEY = WorkspaceKey("default", "exp-17")


async def read(api: httpx.AsyncClient) -> dict[str, Any]:
    """The workspace as a client would change it."""
    body: dict[str, Any] = conforms(await api.get(PATH), NAMED)
    return body


async def put(api: httpx.AsyncClient, body: dict[str, Any], status: int) -> dict[str, Any]:
    answer = await api.put(PATH, json=body)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = conforms(answer, NAMED, "put")
    return found


async def test_fr49_fifty_edits_during_constant_status_writes_and_the_last_accepted_one_is_stored(
    api: httpx.AsyncClient, world: Simulated
) -> None:
    await api.post(f"{PREFIX}/workspaces/default", json=BODY)
    await reach(api, f"{WORKSPACES}/default/exp-17", "Running")
    ended = asyncio.Event()

    async def write_status() -> int:
        writes = 0
        while not ended.is_set():
            record = await world.store.get(KEY)
            await world.store.save(record.with_(phase_since=record.phase_since + 1))
            writes += 1
            await asyncio.sleep(0)
        return writes

    writing = asyncio.create_task(write_status())
    accepted = []
    for number in range(50):
        body = await read(api)
        body["data"]["displayName"] = f"Edit {number}"
        answer = await api.put(PATH, json=body)
        assert answer.status_code in {200, 409}
        accepted += [f"Edit {number}"] if answer.status_code == 200 else []
    ended.set()
    assert await writing >= 50
    assert len(accepted) == 50, "a status write is no reason to refuse an edit"
    assert (await read(api))["data"]["displayName"] == accepted[-1]


async def test_fr49_of_edits_that_meet_one_is_accepted_and_the_others_are_told(api: httpx.AsyncClient) -> None:
    await api.post(f"{PREFIX}/workspaces/default", json=BODY)
    body = await read(api)
    bodies = [{"data": {**body["data"], "displayName": f"Edit {number}"}} for number in range(10)]
    answers = await asyncio.gather(*(api.put(PATH, json=each) for each in bodies))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 9
    [winner] = [each for each, answer in zip(bodies, answers, strict=True) if answer.status_code == 200]
    assert (await read(api))["data"]["displayName"] == winner["data"]["displayName"]


async def test_an_edit_of_the_size_takes_effect_at_the_next_start(api: httpx.AsyncClient, world: Simulated) -> None:
    await api.post(f"{PREFIX}/workspaces/default", json=BODY)
    running = await reach(api, f"{WORKSPACES}/default/exp-17", "Running")
    world.cluster.lose_sandbox(str(running["uid"]))
    await reach(api, f"{WORKSPACES}/default/exp-17", "Failed")
    body = await read(api)
    body["data"]["podTemplate"]["options"]["podConfig"] = "large"
    edited = await put(api, body, 200)
    assert edited["data"]["podTemplate"]["options"]["podConfig"] == "large"
    assert edited["data"]["revision"] != body["data"]["revision"]

    await api.post(f"{WORKSPACES}/default/exp-17/restart")
    await reach(api, f"{WORKSPACES}/default/exp-17", "Running")
    held = (await world.store.get(KEY)).reservation
    assert held is not None
    assert held.amount == world.plane.kinds()["jupyterlab"].pod("large").demand


async def test_a_live_or_saved_session_keeps_what_it_was_made_from(api: httpx.AsyncClient) -> None:
    await api.post(f"{PREFIX}/workspaces/default", json=BODY)
    await reach(api, f"{WORKSPACES}/default/exp-17", "Running")
    body = await read(api)
    body["data"]["podTemplate"]["options"]["podConfig"] = "medium"
    assert "belong to its session" in (await put(api, body, 409))["error"]["message"]
    await api.post(f"{WORKSPACES}/default/exp-17/pause")
    await reach(api, f"{WORKSPACES}/default/exp-17", "Paused")
    body["data"]["paused"] = True
    assert "saved session" in (await put(api, body, 409))["error"]["message"]
    assert (await read(api))["data"]["podTemplate"]["options"]["podConfig"] == "small"


async def test_what_an_edit_cannot_change_is_named_and_nothing_is_changed(api: httpx.AsyncClient) -> None:
    await api.post(f"{PREFIX}/workspaces/default", json=BODY)
    before = await read(api)
    for field, value in (("home", "other"), ("secrets", [{"secretName": "x", "mountPath": "/x"}])):
        volumes = {**before["data"]["podTemplate"]["volumes"], field: value}
        template = {**before["data"]["podTemplate"], "volumes": volumes}
        refused = await put(api, {"data": {**before["data"], "displayName": "X", "podTemplate": template}}, 422)
        [problem] = refused["error"]["cause"]["validation_errors"]
        assert problem["field"] == f"data.podTemplate.volumes.{field}"
    refused = await put(api, {"data": {**before["data"], "paused": not before["data"]["paused"]}}, 422)
    assert refused["error"]["cause"]["validation_errors"][0]["field"] == "data.paused"
    assert (await read(api))["data"] == before["data"]


async def test_an_edit_is_in_the_ledger_by_the_names_of_its_fields(api: httpx.AsyncClient, world: Simulated) -> None:
    await api.post(f"{PREFIX}/workspaces/default", json=BODY)
    body = await read(api)
    body["data"]["displayName"] = "Renamed"
    await put(api, body, 200)
    [entry] = [entry for entry in await world.plane.ledger(KEY) if entry.event.value == "edited"]
    assert (entry.actor, entry.details) == ("ada", {"fields": ["display_name"]})
