"""The compatible API: Kubeflow's paths, shapes, statuses and errors, checked against its own description."""

import httpx

from web.kubeflow import BODY, conforms
from web.simulated import Simulated
from web.test_workspaces import reach

OURS = "/api/intermezzo/v1/workspaces"


async def test_lists_and_answers_have_kubeflows_shapes(api: httpx.AsyncClient) -> None:
    created = await api.post("/api/v1/workspaces/default", json=BODY)
    conforms(created, "/workspaces/{namespace}", "post")
    assert (created.status_code, created.headers["Location"]) == (201, "/api/v1/workspaces/default/exp-17")

    [item] = conforms(await api.get("/api/v1/workspaces/default"), "/workspaces/{namespace}")["data"]
    assert (item["name"], item["displayName"]) == ("exp-17", "Experiment 17")
    assert item["services"][0]["httpService"]["httpPath"] == "/workspace/connect/default/exp-17/jupyterlab/"
    conforms(await api.get("/api/v1/workspaces"), "/workspaces")
    one = conforms(await api.get("/api/v1/workspaces/default/exp-17"), "/workspaces/{namespace}/{name}")
    assert one["data"]["podTemplate"]["options"]["podConfig"] == "small"

    kinds = conforms(await api.get("/api/v1/workspacekinds"), "/workspacekinds")["data"]
    assert "jupyterlab" in {kind["name"] for kind in kinds}
    conforms(await api.get("/api/v1/workspacekinds/jupyterlab"), "/workspacekinds/{name}")
    conforms(await api.get("/api/v1/namespaces"), "/namespaces")
    conforms(await api.get("/api/v1/healthcheck"), "/healthcheck")


async def test_pausing_and_starting_again(api: httpx.AsyncClient) -> None:
    await api.post("/api/v1/workspaces/default", json=BODY)
    path = "/api/v1/workspaces/default/exp-17/actions/pause"
    await reach(api, f"{OURS}/default/exp-17", "Running")
    early = await api.post(path, json={"data": {}})
    conforms(early, "/workspaces/{namespace}/{name}/actions/pause", "post")
    assert early.status_code == 409

    assert (await api.post(path, json={"data": {"paused": True}})).json() == {"data": {"paused": True}}
    await reach(api, f"{OURS}/default/exp-17", "Paused")
    [item] = (await api.get("/api/v1/workspaces/default")).json()["data"]
    assert (item["state"], item["paused"]) == ("Paused", True)
    assert item["pausedTime"] > 0
    assert (await api.post(path, json={"data": {"paused": True}})).status_code == 409

    assert (await api.post(path, json={"data": {}})).status_code == 200
    await reach(api, f"{OURS}/default/exp-17", "Running")


async def test_deleting_answers_204(api: httpx.AsyncClient) -> None:
    await api.post("/api/v1/workspaces/default", json=BODY)
    assert (await api.delete("/api/v1/workspaces/default/exp-17")).status_code == 204


async def test_errors_come_in_kubeflows_envelope(api: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    missing = await api.get("/api/v1/workspaces/default/none")
    conforms(missing, "/workspaces/{namespace}/{name}")
    assert missing.json()["error"]["code"] == "404"
    conforms(await browser.get("/api/v1/workspaces"), "/workspaces")
    wrong = {"data": {**BODY["data"], "kind": "none"}}
    unknown = await api.post("/api/v1/workspaces/default", json=wrong)
    conforms(unknown, "/workspaces/{namespace}", "post")
    [problem] = unknown.json()["error"]["cause"]["validation_errors"]
    assert problem["field"] == "spec.kind"


async def test_what_cannot_be_honoured_is_refused_by_name(api: httpx.AsyncClient, world: Simulated) -> None:
    secrets = [{"secretName": "x", "mountPath": "/x"}]
    template = {**BODY["data"]["podTemplate"], "volumes": {"data": [], "secrets": secrets}}
    answer = await api.post("/api/v1/workspaces/default", json={"data": {**BODY["data"], "podTemplate": template}})
    assert answer.status_code == 422
    assert "data.podTemplate.volumes.secrets" in answer.text
    assert await world.plane.workspaces() == []
