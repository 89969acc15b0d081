"""Bad input: the field is named, and nothing is made."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from web.simulated import Simulated

WORKSPACES = "/api/intermezzo/v1/workspaces"

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"name": "a", "spec": {"kind": "no-such-kind"}}, "spec.kind"),
    ({"name": "a", "spec": {"pod": "9999 CPUs"}}, "spec.podTemplate.options.podConfig"),
    ({"name": "a", "spec": {"image": "evil"}}, "spec.podTemplate.options.imageConfig"),
    ({"name": "a", "spec": {"home": "../../etc"}}, "spec.podTemplate.volumes.home"),
    ({"name": "a", "spec": {"home": "/root"}}, "spec.podTemplate.volumes.home"),
    ({"name": "a", "spec": {"memory": "2.0GB"}}, "spec.memory"),
    ({"name": ""}, "name"),
    ({"name": "a/b"}, "name"),
    ({"name": ".."}, "name"),
    ({"name": "a\u0000b"}, "name"),
    ({"name": "x" * 64}, "name"),
    ({"name": "a", "namespace": " "}, "namespace"),
    ({"name": 7}, "name"),
    ({}, "name"),
]


@pytest.mark.parametrize(("body", "field"), WRONG)
async def test_a_wrong_field_is_named_and_nothing_is_made(
    body: dict[str, Any], field: str, api: httpx.AsyncClient, world: Simulated
) -> None:
    answer = await api.post(WORKSPACES, json=body)
    assert answer.status_code == 422
    assert field in answer.json()["fields"], answer.json()
    assert await world.plane.workspaces() == []
    assert await world.plane.ledger() == []


@pytest.mark.parametrize("name", ["a b@x.org", "_@example.com", "Ü.Ä", "1.13.1", "c" * 63, "100%", "é ?#&"])
async def test_fr13_fr14_odd_names_work_and_come_back_as_they_were(name: str, api: httpx.AsyncClient) -> None:
    created = await api.post(WORKSPACES, json={"namespace": name, "name": name})
    assert created.status_code == 201
    assert (await api.get(created.headers["Location"])).json()["name"] == name
    fully_quoted = "".join(f"%{byte:02X}" for byte in name.encode())
    for spelling in (quote(name, safe="@"), quote(name, safe=""), fully_quoted):
        answer = await api.get(f"{WORKSPACES}/{spelling}/{spelling}")
        assert (answer.status_code, answer.json()["namespace"]) == (200, name)


@pytest.mark.parametrize(
    "notebook",
    [
        {},
        {"cells": 7},
        {"nbformat": 4, "nbformat_minor": 5, "cells": "no", "metadata": {}},
        {"nbformat": 99, "cells": []},
    ],
)
async def test_a_notebook_that_is_not_one_is_refused(notebook: Any, api: httpx.AsyncClient, world: Simulated) -> None:
    path = (await api.post(WORKSPACES, json={"name": "a"})).headers["Location"]
    answer = await api.post(f"{path}/runs", json={"path": "a.ipynb", "notebook": notebook})
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["notebook"])
    assert (await api.get(f"{path}/runs")).json() == []


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.ipynb", "a/../../x.ipynb", "~root/x", "a\\b", "a\nb"])
async def test_a_notebook_can_only_lie_under_home(path: str, api: httpx.AsyncClient) -> None:
    workspace = (await api.post(WORKSPACES, json={"name": "a"})).headers["Location"]
    answer = await api.post(f"{workspace}/runs", json={"path": path})
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["path"])


def address(parts: list[str]) -> str:
    """A path with every part quoted."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    method=st.sampled_from(["GET", "POST", "DELETE", "PUT"]),
    path=st.lists(st.text(min_size=1, max_size=12), max_size=5).map(
        lambda p: "/" + "/".join(quote(x, safe="") for x in p)
    ),
    prefix=st.sampled_from(["/api/intermezzo/v1/workspaces", "/api/v1/workspaces", "/api/intermezzo/v1", ""]),
    content=st.binary(max_size=40),
)
async def test_whatever_is_sent_the_answer_is_never_our_fault(
    api: httpx.AsyncClient, method: str, prefix: str, path: str, content: bytes
) -> None:
    if "/events" in path or "/changes" in path:
        return
    answer = await api.request(method, prefix + path, content=content)
    assert answer.status_code < 500, answer.text


@pytest.mark.parametrize("body", [b"{", b"{x: 1}", b'{"name": ', b"no JSON"])
async def test_a_body_that_is_no_json_is_called_the_body(body: bytes, api: httpx.AsyncClient) -> None:
    answer = await api.post(WORKSPACES, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["fields"]) == (422, {"body": "JSON decode error"})
    assert answer.json()["detail"] == "body: JSON decode error"
