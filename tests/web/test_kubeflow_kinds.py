"""Kinds over Kubeflow's API: what its samples say is kept, shown and changed, and filter rules hold."""

from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from intermezzo.kinds import load_shipped_kinds
from web.kubeflow import BODY, PREFIX, conforms

KINDS = f"{PREFIX}/workspacekinds"
SAMPLES = Path(__file__).parents[3] / "shared" / "kubeflow" / "samples"
YAML = {"Content-Type": "application/yaml"}
NAMES = ("jupyterlab", "codeserver", "rstudio")

needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="Kubeflow's samples are not here")


def sample(name: str) -> str:
    """A sample's text, under a name that no shipped kind has."""
    text = (SAMPLES / f"{name}_v1beta1_workspacekind.yaml").read_text()
    return text.replace(f"name: {name}", f"name: sample-{name}", 1)


async def create(api: httpx.AsyncClient, text: str) -> httpx.Response:
    return await api.post(KINDS, content=text.encode(), headers=YAML)


@needs_samples
@pytest.mark.parametrize("name", NAMES)
async def test_fr16_a_sample_is_made_and_given_back_letter_for_letter(api: httpx.AsyncClient, name: str) -> None:
    text = sample(name)
    made = await create(api, text)
    assert made.status_code == 201, made.text
    conforms(made, "/workspacekinds", "post")
    kept = (await api.get(f"/api/intermezzo/v1/documents/kinds/sample-{name}")).json()
    assert kept["text"] == text
    shown = conforms(await api.get(f"{KINDS}/sample-{name}"), "/workspacekinds/{name}")["data"]
    spec = yaml.safe_load(text)["spec"]
    assert shown["spawner"] == spec["spawner"]
    assert shown["podTemplate"]["ports"] == spec["podTemplate"]["ports"]
    assert shown["activityRules"] == spec["activityRules"]
    conforms(await api.get(KINDS), "/workspacekinds")
    again = await create(api, text)
    conforms(again, "/workspacekinds", "post")
    assert again.status_code == 409
    gone = await api.delete(f"{KINDS}/sample-{name}")
    conforms(gone, "/workspacekinds/{name}", "delete")
    assert gone.status_code == 204


@needs_samples
async def test_a_kind_is_changed_as_it_was_read_and_what_is_not_sent_stays(api: httpx.AsyncClient) -> None:
    await create(api, sample("codeserver"))
    address = f"{KINDS}/sample-codeserver"
    read = (await api.get(address)).json()["data"]
    same = await api.put(address, json={"data": read})
    conforms(same, "/workspacekinds/{name}", "put")
    assert same.status_code == 200, same.text
    read = same.json()["data"]
    read["spawner"]["displayName"] = "Ours"
    changed = await api.put(address, json={"data": read})
    assert changed.json()["data"]["spawner"]["displayName"] == "Ours"
    stale = await api.put(address, json={"data": {**read, "revision": "0"}})
    conforms(stale, "/workspacekinds/{name}", "put")
    assert stale.status_code == 409
    read = changed.json()["data"]
    read["podTemplate"]["volumeMounts"]["home"] = "/etc"
    wrong = await api.put(address, json={"data": read})
    conforms(wrong, "/workspacekinds/{name}", "put")
    causes = wrong.json()["error"]["cause"]["validation_errors"]
    assert [each["field"] for each in causes] == ["spec.podTemplate.volumeMounts.home"]
    kept = yaml.safe_load((await api.get("/api/intermezzo/v1/documents/kinds/sample-codeserver")).json()["text"])
    assert kept["spec"]["filterRules"] == yaml.safe_load(sample("codeserver"))["spec"]["filterRules"]


def filtered(*rules: dict[str, Any]) -> str:
    """The shipped notebook as `filtered`, with these filter rules."""
    document = yaml.safe_load(load_shipped_kinds()["jupyterlab"].text)
    document["metadata"]["name"] = "filtered"
    document["spec"]["filterRules"] = list(rules)
    return yaml.safe_dump(document)


def labelled(subject: str, key: str, operator: str, *values: str) -> dict[str, Any]:
    expression = {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    return {subject: {"selector": {"matchExpressions": [expression]}}}


HERE = labelled("matchNamespace", "kubernetes.io/metadata.name", "In", "default")
ACCELERATED = labelled("matchPodConfig", "gpu", "Exists")
DENY = {"api": {"deny": True, "denyMessage": {"text": "Ask in #gpu."}}}


async def listed(api: httpx.AsyncClient, namespace: str) -> dict[str, Any]:
    found = conforms(await api.get(KINDS, params={"namespaceFilter": namespace}), "/workspacekinds")["data"]
    return {kind["name"]: kind for kind in found}


async def test_what_is_denied_is_shown_with_the_reason_and_refused(api: httpx.AsyncClient) -> None:
    await create(api, filtered({"scope": "POD_CONFIG", "effect": DENY, "match": [ACCELERATED, HERE]}))
    sizes = {
        size["id"]: size
        for size in (await listed(api, "default"))["filtered"]["podTemplate"]["options"]["podConfig"]["values"]
    }
    assert sizes["gpu"]["restrictions"] == {"deny": True, "denyMessage": {"text": "Ask in #gpu."}}
    assert sizes["small"]["restrictions"] == {"deny": False}
    elsewhere = (await listed(api, "elsewhere"))["filtered"]["podTemplate"]["options"]["podConfig"]["values"]
    assert not any(size["restrictions"]["deny"] for size in elsewhere)
    template = {**BODY["data"]["podTemplate"], "options": {"imageConfig": "jupyterlab", "podConfig": "gpu"}}
    body = {"data": {**BODY["data"], "kind": "filtered", "podTemplate": template}}
    refused = await api.post(f"{PREFIX}/workspaces/default", json=body)
    conforms(refused, "/workspaces/{namespace}", "post")
    assert (refused.status_code, "Ask in #gpu." in refused.text) == (409, True)
    small = {
        **body["data"],
        "podTemplate": {**template, "options": {"imageConfig": "jupyterlab", "podConfig": "small"}},
    }
    assert (await api.post(f"{PREFIX}/workspaces/default", json={"data": small})).status_code == 201
    ours = (await api.get("/api/intermezzo/v1/kinds", params={"namespace": "default"})).json()
    [kind] = [each for each in ours if each["name"] == "filtered"]
    assert {size["id"]: size["denied"] for size in kind["pods"]}["gpu"] == "Ask in #gpu."


async def test_what_is_hidden_by_a_rule_is_marked_and_what_is_withheld_is_not_told(api: httpx.AsyncClient) -> None:
    hide = {"scope": "IMAGE_CONFIG", "effect": {"ui": {"hide": True}}, "match": [HERE]}
    withhold = {"scope": "POD_CONFIG", "effect": {"api": {"hide": True}}, "match": [ACCELERATED]}
    await create(api, filtered(hide, withhold))
    options = (await listed(api, "default"))["filtered"]["podTemplate"]["options"]
    assert [image["hidden"] for image in options["imageConfig"]["values"]] == [True]
    assert "gpu" not in {size["id"] for size in options["podConfig"]["values"]}
    await api.delete(f"{KINDS}/filtered")
    await create(api, filtered({"scope": "WORKSPACE_KIND", "effect": {"api": {"hide": True}}, "match": [HERE]}))
    assert "filtered" not in await listed(api, "default")
    assert "filtered" in await listed(api, "elsewhere")
    page = await api.get("/api/intermezzo/v1/kinds", params={"namespace": "default"})
    assert "filtered" not in {kind["name"] for kind in page.json()}


async def test_a_condition_on_the_other_choice_holds_once_that_is_chosen(api: httpx.AsyncClient) -> None:
    await create(api, filtered({"scope": "IMAGE_CONFIG", "effect": DENY, "match": [ACCELERATED]}))
    path = f"{KINDS}/filtered/podtemplate/options/listvalues"
    denied = []
    for pod in ("small", "gpu"):
        context = {"namespace": {"name": "default"}, "podConfig": {"id": pod}}
        answer = conforms(
            await api.post(path, json={"data": {"context": context}}),
            "/workspacekinds/{name}/podtemplate/options/listvalues",
            "post",
        )
        denied.append(answer["data"]["imageConfig"]["values"][0]["restrictions"]["deny"])
    assert denied == [False, True]


async def test_every_wrong_field_of_a_rule_is_named(api: httpx.AsyncClient) -> None:
    wrong = filtered(
        {"scope": "POD", "effect": {}, "match": []},
        {
            "scope": "POD_CONFIG",
            "effect": {"api": {"denyMessage": {"text": "x"}}},
            "match": [{}, labelled("matchPodConfig", "gpu", "In")],
        },
    )
    answer = await create(api, wrong)
    assert answer.status_code == 422
    fields = {each["field"] for each in answer.json()["error"]["cause"]["validation_errors"]}
    assert fields == {
        "spec.filterRules[0].scope",
        "spec.filterRules[0].effect",
        "spec.filterRules[0].match",
        "spec.filterRules[1].effect.api.denyMessage",
        "spec.filterRules[1].match[0]",
        "spec.filterRules[1].match[1].matchPodConfig.selector.matchExpressions[0].values",
    }
