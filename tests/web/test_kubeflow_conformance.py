"""Kubeflow's description, operation by operation: what its clients may send is answered as it says, in its shapes."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from web.kubeflow import BODY, PREFIX, conforms, swagger
from web.served import Served, served
from web.simulated import Simulated
from web.test_workspaces import reach

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
WORKSPACE = f"{PREFIX}/workspaces/default/exp-17"
JSON = {"Content-Type": "application/json"}
YAML = {"Content-Type": "application/yaml"}
REFUSED = {"data": {"name": "x", "type": "Opaque", "immutable": False, "contents": {}}}
CLAIM = {
    "data": {"name": "v", "accessModes": ["ReadWriteOnce"], "requests": {"storage": "1Gi"}, "storageClassName": "x"}
}

schema = schemathesis.openapi.from_dict(swagger())
schema.config.generation.update(modes=[GenerationMode.POSITIVE])
schema.config.phases.coverage.enabled = False


@pytest.fixture(scope="module")
def installation() -> Iterator[Served]:
    with served() as reached:
        yield reached


# To make up a whole pod template takes minutes; what is sent of one is held to it in test_kubeflow_kinds.
@schema.exclude(method="PUT", path="/workspacekinds/{name}").parametrize()
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_what_its_clients_may_send_is_answered_as_it_says(case: Any, installation: Served) -> None:
    installation.name_what_is_there(case)
    case.call_and_validate(base_url=f"{installation.url}{PREFIX}", headers=installation.headers, checks=CHECKS)


def test_every_operation_of_it_is_served() -> None:
    served_here = {
        (operation, path.removeprefix(PREFIX).replace("{kind_name}", "{name}"))
        for path, operations in Simulated().api().openapi()["paths"].items()
        for operation in operations
        if path.startswith(f"{PREFIX}/")
    }
    assets = {("get", f"/workspacekinds/{{name}}/assets/{asset}") for asset in ("icon", "logo")}
    described = {(method, path) for path, operations in swagger()["paths"].items() for method in operations}
    assert described - assets <= served_here
    assert ("get", "/workspacekinds/{name}/assets/{asset}") in served_here


async def test_volumes_pods_and_logs_of_a_workspace(api: httpx.AsyncClient) -> None:
    await api.post(f"{PREFIX}/workspaces/default", json=BODY)
    await reach(api, "/api/intermezzo/v1/workspaces/default/exp-17", "Running")
    named = "/workspaces/{namespace}/{name}/podtemplate"
    details = conforms(await api.get(f"{WORKSPACE}/podtemplate/details"), f"{named}/details")["data"]
    assert details["pod"]["nodeName"] == "node-1"
    claims = conforms(await api.get(f"{PREFIX}/persistentvolumeclaims/default"), "/persistentvolumeclaims/{namespace}")
    [claim] = claims["data"]
    assert claim["name"] == details["volumes"]["home"]["pvcName"]
    assert claim["workspaces"][0]["name"] == "exp-17"
    conforms(await api.get(f"{WORKSPACE}/podtemplate/logs/batch"), f"{named}/logs/batch")
    kept = await api.delete(f"{PREFIX}/persistentvolumeclaims/default/{claim['name']}")
    conforms(kept, "/persistentvolumeclaims/{namespace}/{name}", "delete")
    assert kept.status_code == 409
    classes = conforms(await api.get(f"{PREFIX}/storageclasses"), "/storageclasses")["data"]
    assert {each["name"]: each["canUse"] for each in classes} == {"home": False, "data": True}
    assert conforms(await api.get(f"{PREFIX}/secrets/default"), "/secrets/{namespace}")["data"] == []

    await api.post(f"{WORKSPACE}/actions/pause", json={"data": {"paused": True}})
    await reach(api, "/api/intermezzo/v1/workspaces/default/exp-17", "Paused")
    assert "pod" not in conforms(await api.get(f"{WORKSPACE}/podtemplate/details"), f"{named}/details")["data"]
    silent = await api.get(f"{WORKSPACE}/podtemplate/logs/batch")
    conforms(silent, f"{named}/logs/batch")
    assert silent.status_code == 400


async def test_a_data_volume_is_made_mounted_and_deleted(api: httpx.AsyncClient, world: Simulated) -> None:
    claims, named = f"{PREFIX}/persistentvolumeclaims/default", "/persistentvolumeclaims/{namespace}"
    claim = {"data": {**CLAIM["data"], "name": "corpus", "storageClassName": "data"}}
    assert conforms(await api.post(claims, json=claim), named, "post") == claim
    conforms(await api.post(claims, json=claim), named, "post")
    [listed] = conforms(await api.get(claims), named)["data"]
    assert (listed["name"], listed["canMount"], listed["workspaces"]) == ("corpus", True, [])
    mounts = [{"pvcName": "corpus", "mountPath": "/mnt/corpus", "readOnly": True}]
    template = {**BODY["data"]["podTemplate"], "volumes": {"data": mounts}}
    made = {"data": {**BODY["data"], "podTemplate": template}}
    conforms(await api.post(f"{PREFIX}/workspaces/default", json=made), "/workspaces/{namespace}", "post")
    await reach(api, "/api/intermezzo/v1/workspaces/default/exp-17", "Running")
    shown = conforms(await api.get(WORKSPACE), "/workspaces/{namespace}/{name}")["data"]["podTemplate"]
    assert shown["volumes"]["data"] == mounts
    details = conforms(
        await api.get(f"{WORKSPACE}/podtemplate/details"), "/workspaces/{namespace}/{name}/podtemplate/details"
    )["data"]
    assert details["volumes"]["data"] == mounts
    used = await api.delete(f"{claims}/corpus")
    conforms(used, f"{named}/{{name}}", "delete")
    assert used.status_code == 409
    assert "default/exp-17" in used.text
    await api.delete(WORKSPACE)
    while (await api.get("/api/intermezzo/v1/workspaces/default/exp-17", params={"after": 0, "wait_s": 1})).is_success:
        pass
    assert (await api.delete(f"{claims}/corpus")).status_code == 204
    await world.plane.volumes.clear()
    assert "corpus" not in {each["name"] for each in (await api.get(claims)).json()["data"]}


async def test_the_options_of_a_kind_are_listed_for_what_is_chosen(api: httpx.AsyncClient) -> None:
    path = f"{PREFIX}/workspacekinds/jupyterlab/podtemplate/options/listvalues"
    named = "/workspacekinds/{name}/podtemplate/options/listvalues"
    chosen = {"namespace": {"name": "default"}, "imageConfig": {"id": "jupyterlab"}, "podConfig": {"id": "small"}}
    for context in ({}, chosen):
        listed = conforms(await api.post(path, json={"data": {"context": context}}), named, "post")["data"]
        assert "small" in {size["id"] for size in listed["podConfig"]["values"]}
    unknown = await api.post(path, json={"data": {"context": {"podConfig": {"id": "none"}}}})
    conforms(unknown, named, "post")
    assert unknown.status_code == 422


@pytest.mark.parametrize(
    ("method", "named", "path", "sent", "status"),
    [
        ("post", "/workspaces/{namespace}", "/workspaces/default", {"content": "{", "headers": JSON}, 400),
        ("post", "/workspaces/{namespace}", "/workspaces/default", {"content": b'"\xff"', "headers": JSON}, 400),
        ("post", "/workspaces/{namespace}", "/workspaces/default", {"json": BODY}, 409),
        ("post", "/workspaces/{namespace}", "/workspaces/default", {"content": b" " * 2**21, "headers": JSON}, 413),
        ("post", "/workspaces/{namespace}", "/workspaces/default", {"content": "data: {}"}, 415),
        ("post", "/workspaces/{namespace}", "/workspaces/default", {"json": {"data": {}}}, 422),
        ("put", "/workspaces/{namespace}/{name}", "/workspaces/default/exp-17", {"content": "{", "headers": JSON}, 400),
        ("put", "/workspaces/{namespace}/{name}", "/workspaces/default/exp-17", {"content": "{}"}, 415),
        ("put", "/workspaces/{namespace}/{name}", "/workspaces/default/exp-17", {"json": {"data": {}}}, 422),
        ("delete", "/workspaces/{namespace}/{name}", "/workspaces/default/none", {}, 404),
        ("get", "/workspacekinds/{name}", "/workspacekinds/none", {}, 404),
        ("get", "/workspacekinds/{name}/assets/icon", "/workspacekinds/jupyterlab/assets/icon", {}, 404),
        ("get", "/workspacekinds/{name}/assets/logo", "/workspacekinds/none/assets/logo", {}, 404),
        (
            "post",
            "/workspacekinds",
            "/workspacekinds",
            {"content": "a: b", "headers": {"Content-Type": "application/yaml"}},
            422,
        ),
        ("post", "/workspacekinds", "/workspacekinds", {"content": "{}", "headers": JSON}, 415),
        ("put", "/workspacekinds/{name}", "/workspacekinds/jupyterlab", {"json": {"data": {}}}, 422),
        ("delete", "/workspacekinds/{name}", "/workspacekinds/jupyterlab", {}, 409),
        ("delete", "/workspacekinds/{name}", "/workspacekinds/none", {}, 404),
        ("post", "/persistentvolumeclaims/{namespace}", "/persistentvolumeclaims/default", {"json": CLAIM}, 422),
        ("delete", "/persistentvolumeclaims/{namespace}/{name}", "/persistentvolumeclaims/default/none", {}, 404),
        ("post", "/secrets/{namespace}", "/secrets/default", {"json": REFUSED}, 403),
        ("get", "/secrets/{namespace}/{name}", "/secrets/default/x", {}, 404),
        ("put", "/secrets/{namespace}/{name}", "/secrets/default/x", {"json": REFUSED}, 404),
        ("delete", "/secrets/{namespace}/{name}", "/secrets/default/x", {}, 404),
    ],
)
async def test_a_refusal_has_the_status_and_the_shape_described(
    api: httpx.AsyncClient, method: str, named: str, path: str, sent: dict[str, Any], status: int
) -> None:
    await api.post(f"{PREFIX}/workspaces/default", json=BODY)
    answer = await api.request(method, f"{PREFIX}{path}", **sent)
    assert answer.status_code == status, answer.text
    assert conforms(answer, named, method)["error"]["code"] == str(status)


async def test_nobody_is_answered_without_credentials(browser: httpx.AsyncClient) -> None:
    for path, operations in swagger()["paths"].items():
        for method in operations:
            if path == "/healthcheck":
                continue
            address = f"{PREFIX}{path}".replace("{namespace}", "default").replace("{name}", "exp-17")
            yaml = (method, path) == ("post", "/workspacekinds")
            headers = YAML if yaml else JSON
            content = b"" if method in {"get", "delete"} else b"{}"
            answer = await browser.request(method, address, headers=headers, content=content)
            assert answer.status_code == 401, (method, path, answer.text)
            conforms(answer, path, method)
