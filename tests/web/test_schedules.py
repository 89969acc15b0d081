"""Our API: when a workspace is paused and resumed by itself."""

import httpx
import pytest

from web.test_workspaces import WORKSPACES, reach

EVENING = {"action": "pause", "at": "20:00", "days": "mon-fri", "zone": "Europe/Warsaw"}


@pytest.fixture
async def path(api: httpx.AsyncClient) -> str:
    """The address of the schedules of a workspace that runs."""
    made: str = (await api.post(WORKSPACES, json={"name": "exp"})).headers["Location"]
    await reach(api, made, "Running")
    return f"{made}/schedules"


async def test_what_is_set_is_listed_with_when_it_comes_next_until_it_is_removed(
    api: httpx.AsyncClient, path: str
) -> None:
    made = await api.post(path, json=EVENING)
    assert made.status_code == 201
    shown = made.json()
    assert (shown["action"], shown["rule"], shown["zone"]) == ("pause", "mon-fri 20:00", "Europe/Warsaw")
    assert shown["set_at"] < shown["next_at"] == shown["begins_at"]
    assert (await api.get(path)).json() == [shown]
    assert (await api.delete(f"{path}/{shown['id']}")).status_code == 204
    assert (await api.get(path)).json() == []
    assert (await api.delete(f"{path}/{shown['id']}")).status_code == 404


async def test_to_be_ready_by_a_time_something_begins_before_it(api: httpx.AsyncClient, path: str) -> None:
    shown = (await api.post(path, json={**EVENING, "action": "ready"})).json()
    assert shown["begins_at"] < shown["next_at"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"at": "8pm"}, "at"),
        ({"at": "2001-01-01T20:00", "days": ""}, "at"),
        ({"at": ""}, "at"),
        ({"at": "20:00" * 1000}, "at"),
        ({"days": "someday"}, "days"),
        ({"at": "2026-12-01T20:00"}, "days"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"zone": "../../etc/passwd"}, "zone"),
        ({"action": "delete"}, "action"),
        ({"more": 1}, "more"),
    ],
)
async def test_what_is_wrong_is_named_and_nothing_is_set(
    api: httpx.AsyncClient, path: str, change: dict[str, object], field: str
) -> None:
    answer = await api.post(path, json={**EVENING, **change})
    assert (answer.status_code, list(answer.json()["fields"])) == (422, [field])
    assert (await api.get(path)).json() == []
