"""Our API: what a program sees of a workspace's life."""

import asyncio

import httpx

from intermezzo.adapters.memory import MemoryCluster
from intermezzo.domain.orders import Problem
from web.simulated import Simulated, program

WORKSPACES = "/api/intermezzo/v1/workspaces"


async def settled(simulated: Simulated, api: httpx.AsyncClient, path: str, phase: str) -> None:
    """Let the cluster do all its work until the workspace has come to rest."""
    while (await api.get(path, params={"after": 0, "wait_s": 1})).json()["phase"] != phase:
        simulated.cluster.settle()


async def reach(api: httpx.AsyncClient, path: str, *phases: str) -> dict[str, object]:
    """Follow a workspace by long polling until it is in one of the phases."""
    params: dict[str, str | float] = {}
    for _ in range(200):
        answer = await api.get(path, params=params)
        answer.raise_for_status()
        if answer.json()["phase"] in phases:
            found: dict[str, object] = answer.json()
            return found
        params = {"after": answer.headers["Intermezzo-Change"], "wait_s": 1}
    raise AssertionError(f"{path} never became {phases}")


async def test_a_workspace_goes_through_a_whole_life(api: httpx.AsyncClient) -> None:
    created = await api.post(WORKSPACES, json={"name": "exp-17"})
    assert created.status_code == 201
    path = created.headers["Location"]

    ready = await reach(api, path, "Running")
    assert (ready["state"], ready["node"]) == ("ready", "node-1")
    run = await api.post(f"{path}/runs", json={"code": "x = 6 * 7"})
    assert run.status_code == 201
    async with api.stream("GET", f"{run.headers['Location']}/updates") as updates:
        assert "succeeded" in (await updates.aread()).decode()

    assert (await api.post(f"{path}/pause")).status_code == 202
    paused = await reach(api, path, "Paused")
    assert paused["reservation"] is None
    [snapshot] = (await api.get(f"{path}/snapshots")).json()
    assert snapshot["state"] == "complete"

    assert (await api.post(f"{path}/resume")).status_code == 202
    resumed = await reach(api, path, "Running")
    assert resumed["continuity"]["verdict"] == "restored"  # type: ignore[index]
    run = await api.post(f"{path}/runs", json={"code": "print(x)"})
    async with api.stream("GET", f"{run.headers['Location']}/updates") as updates:
        assert "42" in (await updates.aread()).decode()

    events = [entry["event"] for entry in (await api.get(f"{path}/ledger")).json()]
    assert events.index("pause_asked") < events.index("paused") < events.index("resumed")

    deleted = await api.delete(path, params={"files": True})
    assert deleted.status_code == 202
    while (await api.get(path, params={"after": 0, "wait_s": 1})).status_code != 404:
        pass


async def test_a_workspace_says_before_a_pause_what_it_keeps(api: httpx.AsyncClient) -> None:
    path = (await api.post(WORKSPACES, json={"name": "a"})).headers["Location"]
    layers = {layer["name"]: layer for layer in (await api.get(path)).json()["layers"]}
    assert list(layers) == ["persistent files", "application checkpoint", "workspace snapshot", "cluster capacity"]
    assert layers["workspace snapshot"]["kept_by_pause"]
    assert all(layer["statement"] and layer["way_back"] for layer in layers.values())


async def test_a_failed_pause_leaves_it_ready_with_the_reason(api: httpx.AsyncClient, world: Simulated) -> None:
    path = (await api.post(WORKSPACES, json={"name": "a"})).headers["Location"]
    await reach(api, path, "Running")
    cluster: MemoryCluster = world.cluster
    cluster.faults.fail_next("pause", Problem("not_enough_space", "The disk is full", "Free some space."), "frozen")
    await api.post(f"{path}/pause")
    workspace = await reach(api, path, "Running")
    assert "disk is full" in workspace["condition"]["message"]  # type: ignore[index]
    assert workspace["condition"]["hint"] == "Free some space."  # type: ignore[index]


async def test_fr04_a_pause_asked_ten_times_is_one_and_a_resume_meanwhile_is_refused() -> None:
    simulated = Simulated(delay_s=None)
    async with simulated.working(), program(simulated) as api:
        path = (await api.post(WORKSPACES, json={"name": "a"})).headers["Location"]
        await reach(api, path, "Starting")
        await settled(simulated, api, path, "Running")

        answers = await asyncio.gather(*(api.post(f"{path}/pause") for _ in range(10)))
        assert {answer.status_code for answer in answers} == {202}
        [operation] = {answer.json()["id"] for answer in answers}
        refused = await api.post(f"{path}/resume")
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert "intermezzo wait default/a" in refused.json()["hint"]

        await settled(simulated, api, path, "Paused")
        assert len((await api.get(f"{path}/snapshots")).json()) == 1
        ended = (await api.get(f"/api/intermezzo/v1/operations/{operation}")).json()
        assert ended["state"] == "succeeded"
        assert simulated.cluster.violations == []
