"""Our API: a workspace made of a snapshot of another one, by those who may read it."""

from typing import Any

import httpx
import pytest

from web.test_snapshots import paused, snapshots
from web.test_workspaces import WORKSPACES, reach

__all__ = ["paused"]


async def test_a_fork_is_recorded_at_once_and_followed_like_any_workspace(api: httpx.AsyncClient, paused: str) -> None:
    newest, older = await snapshots(api, paused)
    answer = await api.post(f"{paused}/forks", json={"name": "other", "snapshot_id": older["id"]})
    assert answer.status_code == 201
    path, made = answer.headers["Location"], answer.json()
    assert (made["namespace"], made["name"], made["operation"]["kind"]) == ("default", "other", "fork")
    found: dict[str, Any] = await reach(api, path, "Running")
    assert found["continuity"]["verdict"] == "forked"
    origin = found["origin"]
    assert (origin["name"], origin["snapshot_id"]) == ("exp", older["id"])
    assert origin["forked_at"] == found["phase_since"]
    assert (await api.get(paused)).json()["origin"] is None
    assert newest["id"] != older["id"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "exp"}, 409),
        ({"name": ""}, 422),
        ({"name": "a/b"}, 422),
        ({"name": "other", "snapshot_id": "nonsense"}, 404),
        ({"name": "other", "pod": "nonsense"}, 422),
        ({"name": "other", "owner": "eve"}, 422),
    ],
)
async def test_what_cannot_be_forked_is_refused_and_makes_nothing(
    api: httpx.AsyncClient, paused: str, body: dict[str, str], status: int
) -> None:
    answer = await api.post(f"{paused}/forks", json=body)
    assert answer.status_code == status
    assert [each["name"] for each in (await api.get(WORKSPACES)).json()] == ["exp"]


async def test_a_workspace_that_was_never_paused_says_what_to_type(api: httpx.AsyncClient) -> None:
    path = (await api.post(WORKSPACES, json={"name": "new"})).headers["Location"]
    await reach(api, path, "Running")
    answer = await api.post(f"{path}/forks", json={"name": "other"})
    assert answer.status_code == 409
    assert "intermezzo pause default/new" in answer.json()["hint"]
