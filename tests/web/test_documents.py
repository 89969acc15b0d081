"""Kinds and policies over the API: looked at by everybody, changed by administrators, in the compatible API too."""

from typing import Any

import httpx
import yaml

from intermezzo.domain.workspace import Phase, WorkspaceKey, WorkspaceSpec
from intermezzo.kinds import load_shipped_kinds
from web.simulated import Simulated

API = "/api/intermezzo/v1"
KINDS, POLICIES = f"{API}/documents/kinds", f"{API}/documents/policies"
MINE = load_shipped_kinds()["jupyterlab"].text.replace("name: jupyterlab\n", "name: mine\n", 1)
POLICY = """apiVersion: intermezzo.dev/v1alpha1
kind: WorkspacePolicy
metadata: {name: careful}  # of the lab
spec: {match: {kinds: [jupyterlab]}, snapshots: {keep: 5}, priority: 1, preemptible: true}
"""
KEY = WorkspaceKey("default", "exp")


async def apply(api: httpx.AsyncClient, address: str, text: str, **params: Any) -> Any:
    answer = await api.post(address, json={"text": text}, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def running(world: Simulated) -> None:
    await world.plane.create("default", "exp", "ada", WorkspaceSpec("jupyterlab", "", "small"), "ada")
    await world.reached(KEY, Phase.RUNNING)


async def test_a_kind_is_applied_listed_given_back_letter_for_letter_and_forgotten(api: httpx.AsyncClient) -> None:
    [review] = await apply(api, KINDS, MINE, dry_run=True)
    assert (review["name"], review["change"]) == ("mine", "created")
    assert (await api.get(f"{KINDS}/mine")).status_code == 404
    [review] = await apply(api, KINDS, MINE)
    shown = (await api.get(f"{KINDS}/mine")).json()
    assert (shown["text"], shown["origin"], shown["applied_by"], shown["revision"]) == (MINE, "applied", "ada", 1)
    assert "mine" in {kind["name"] for kind in (await api.get(f"{API}/kinds")).json()}
    listed = {each["name"]: each for each in (await api.get(KINDS)).json()}
    assert listed["jupyterlab"]["origin"] == "shipped"
    assert listed["mine"]["text"] == ""
    assert (await api.delete(f"{KINDS}/mine")).status_code == 204
    assert (await api.get(f"{KINDS}/mine")).status_code == 404
    assert (await api.delete(f"{KINDS}/jupyterlab")).status_code == 409


async def test_every_wrong_field_is_named_at_once(api: httpx.AsyncClient) -> None:
    broken = MINE.replace("home: /home/jovyan", "home: /etc").replace("memory: 8Gi}", "memory: 8 Gi}")
    answer = await api.post(KINDS, json={"text": broken}, params={"dry_run": True})
    assert answer.status_code == 422
    large = "spec.podTemplate.options.podConfig.values[2].spec.resources"
    assert set(answer.json()["fields"]) == {
        "spec.podTemplate.volumeMounts.home",
        f"{large}.requests.memory",
        f"{large}.limits.memory",
    }
    answer = await api.post(POLICIES, json={"text": MINE})
    assert (answer.status_code, answer.json()["fields"]) == (422, {"kind": "must be WorkspacePolicy here"})
    answer = await api.post(KINDS, json={"text": "a: [\n"})
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["document"])


async def test_a_text_that_was_written_against_an_older_one_is_refused(api: httpx.AsyncClient) -> None:
    [review] = await apply(api, KINDS, MINE, dry_run=True)
    assert review["revision"] == 0
    read = [{"name": "mine", "revision": 0}]
    assert (await api.post(KINDS, json={"text": MINE, "read": read})).status_code == 200
    for params in ({"dry_run": True}, {}):
        late = await api.post(KINDS, json={"text": MINE + "# late\n", "read": read}, params=params)
        assert (late.status_code, late.json()["code"]) == (409, "stale_write")
        assert "`intermezzo kinds show mine`" in late.json()["hint"]
    assert (await api.get(f"{KINDS}/mine")).json()["text"] == MINE


async def test_an_edit_is_told_by_workspace_before_it_is_made(world: Simulated, api: httpx.AsyncClient) -> None:
    await running(world)
    edited = load_shipped_kinds()["jupyterlab"].text.replace("image: intermezzo/jupyterlab:embedded", "image: r/x:2")
    [review] = await apply(api, KINDS, edited, dry_run=True)
    assert review["touched"] == [
        {
            "namespace": "default",
            "name": "exp",
            "owner": "ada",
            "parts": ["image"],
            "must_restart": True,
            "unusable": [],
        }
    ]
    removed = edited.replace("- id: small", "- id: tiny")
    [review] = await apply(api, KINDS, removed, dry_run=True)
    assert [(each["option"], each["used_by"]) for each in review["removals"]] == [("small", ["default/exp"])]
    assert (await api.post(KINDS, json={"text": removed})).status_code == 409
    await apply(api, KINDS, edited)
    reset = await api.post(f"{KINDS}/jupyterlab/reset")
    assert (reset.status_code, reset.json()["change"]) == (200, "reset")


async def test_saved_sessions_that_would_be_lost_want_a_confirmation(world: Simulated, api: httpx.AsyncClient) -> None:
    shipped = load_shipped_kinds()["jupyterlab"].text
    follows = shipped.replace(
        "pause-keeps: process", 'pause-keeps: process\n    intermezzo.dev/saved-sessions: "follow"'
    )
    await apply(api, KINDS, follows)
    await running(world)
    await world.plane.pause(KEY, "ada")
    await world.reached(KEY, Phase.PAUSED)
    withdrawn = follows.replace("image: intermezzo/jupyterlab:embedded", "image: r/x:2")
    answer = await api.post(KINDS, json={"text": withdrawn})
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["confirm"])
    assert "default/exp of ada" in answer.json()["detail"]
    [review] = await apply(api, KINDS, withdrawn, confirm="unusable-snapshots")
    assert review["touched"][0]["unusable"][0]["why"]


async def test_what_holds_for_a_workspace_is_explained_rule_by_rule(world: Simulated, api: httpx.AsyncClient) -> None:
    await running(world)
    await apply(api, POLICIES, POLICY)
    rules = {
        each["field"]: (each["value"], each["policy"])
        for each in (await api.get(f"{API}/workspaces/default/exp/rules")).json()
    }
    assert rules["snapshots.keep"] == (5, "careful")
    assert rules["priority"] == (1, "careful")
    assert rules["preemptible"] == (True, "careful")
    assert rules["pauseKeeps"] == ("process", "")
    assert rules.keys() >= {"idle.warnBeforeSeconds", "keepAwake.longestSeconds", "recoveryText"}
    [listed] = [each for each in (await api.get(POLICIES)).json() if each["name"] == "careful"]
    assert listed["used_by"] == 1


async def test_what_the_owner_is_told_after_a_failure_is_the_policys_word(
    world: Simulated, api: httpx.AsyncClient
) -> None:
    await running(world)
    text = yaml.safe_load(POLICY)
    text["spec"]["recoveryText"] = "Ask in #lab."
    await apply(api, POLICIES, yaml.safe_dump(text))
    assert (await api.get(f"{API}/workspaces/default/exp")).json()["recovery_text"] == "Ask in #lab."
