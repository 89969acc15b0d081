"""Lists of workspaces: what was rendered before is sent again exactly as long as it is still so."""

import json
from typing import Any

import httpx
from hypothesis import given
from hypothesis import strategies as st

from contract.samples import full, reservation, workspace
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey
from intermezzo.web.api import render
from intermezzo.web.api.rendered import RenderedWorkspaces
from web.simulated import Simulated
from web.test_workspaces import WORKSPACES, reach

records = st.builds(
    lambda number, phase, held, whole: (full if whole else workspace)(f"u{number}").with_(
        key=WorkspaceKey("team", f"n{number}"), phase=phase, reservation=reservation() if held else None
    ),
    st.integers(0, 3),
    st.sampled_from(Phase),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(st.lists(records, max_size=4, unique_by=lambda record: record.uid), min_size=2, max_size=5))
async def test_a_list_is_what_its_records_are_whatever_was_listed_before(lists: list[list[Workspace]]) -> None:
    remembering = RenderedWorkspaces()
    for listed in [*lists, *lists]:
        afresh = [render.workspace(record).model_dump(mode="json") for record in listed]
        assert json.loads(await remembering.array(listed)) == afresh


async def test_more_than_can_be_remembered_is_listed_all_the_same() -> None:
    remembering = RenderedWorkspaces(most=2)
    listed = [workspace(f"u{number}", f"n{number}") for number in range(5)]
    for _ in range(2):
        assert [shown["uid"] for shown in json.loads(await remembering.array(listed))] == [w.uid for w in listed]


async def test_who_has_the_list_is_not_sent_it_again_until_it_changes(api: httpx.AsyncClient) -> None:
    path = (await api.post(WORKSPACES, json={"name": "a"})).headers["Location"]
    await reach(api, path, "Running")
    tag = (await api.get(WORKSPACES)).headers["ETag"]
    for known in (tag, f'"other", {tag}'):
        unchanged = await api.get(WORKSPACES, headers={"If-None-Match": known})
        assert (unchanged.status_code, unchanged.content, unchanged.headers["ETag"]) == (304, b"", tag)

    await api.post(f"{path}/pause")
    await reach(api, path, "Paused")
    changed = await api.get(WORKSPACES, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()[0]["phase"]) == (200, "Paused")
    assert changed.headers["ETag"] != tag


async def test_a_long_list_is_sent_packed_to_those_who_can_unpack(api: httpx.AsyncClient, world: Simulated) -> None:
    for number in range(50):
        await world.store.add(workspace(f"u{number}", f"n{number}").with_(phase=Phase.PAUSED))
    packed = await api.get(WORKSPACES, headers={"Accept-Encoding": "gzip"})
    plain = await api.get(WORKSPACES, headers={"Accept-Encoding": "identity"})
    assert packed.json() == plain.json()
    assert int(packed.headers["Content-Length"]) < len(plain.content) / 5
    assert "Content-Encoding" not in plain.headers


async def test_a_list_answers_as_its_description_says(api: httpx.AsyncClient, world: Simulated) -> None:
    await world.store.add(full("u1").with_(phase=Phase.PAUSED, operation=None))
    description = (await api.get("/api/intermezzo/v1/openapi.json")).json()
    shape: dict[str, Any] = description["components"]["schemas"]["WorkspaceShape"]
    [shown] = (await api.get(WORKSPACES)).json()
    assert set(shape["required"]) <= set(shown) <= set(shape["properties"])
