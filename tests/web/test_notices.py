"""Notices over the API: each to whom it concerns, in their language, with what they may do about it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from intermezzo.domain.notice import Sort
from intermezzo.domain.workspace import Workspace, WorkspaceKey, WorkspaceSpec
from web.simulated import Simulated
from web.town import API, Town

EXP = WorkspaceKey("red", "exp")


@dataclass
class Scene:
    """The town, with a workspace of ada's."""

    world: Simulated
    town: Town
    exp: Workspace

    async def ask(self, subject: str, method: str, path: str, **request: Any) -> httpx.Response:
        """What somebody is answered."""
        headers = {"Authorization": f"Bearer {await self.town.token(subject)}", **request.pop("headers", {})}
        async with self.town.client(headers) as client:
            return await client.request(method, f"{API}{path}", **request)

    async def told(self, subject: str) -> list[str]:
        """The messages that somebody is shown."""
        return [notice["message"] for notice in (await self.ask(subject, "GET", "/notices")).json()]


@pytest.fixture
async def scene(world: Simulated) -> AsyncIterator[Scene]:
    town = Town(world.api())
    await town.settle()
    yield Scene(world, town, await world.plane.create("red", "exp", "ada", WorkspaceSpec("jupyterlab", "", ""), "ada"))


async def test_a_notice_about_a_workspace_is_its_owners_and_seen_by_whoever_sees_the_workspace(scene: Scene) -> None:
    await scene.world.plane.tell(scene.exp, Sort.PREEMPTED, "o1", "It was idle.")
    (mine,) = (await scene.ask("ada", "GET", "/notices")).json()
    assert mine["headline"] == "exp was paused to make room for something more urgent."
    assert (mine["message"], mine["namespace"], mine["name"]) == ("It was idle.", "red", "exp")
    assert await scene.told("boss") == []
    for subject, status in {"ada": 200, "boss": 200, "eve": 200, "bob": 404}.items():
        answer = await scene.ask(subject, "GET", "/workspaces/red/exp/notices")
        assert answer.status_code == status
        if status == 200:
            assert [notice["id"] for notice in answer.json()] == [mine["id"]]


async def test_a_dismissed_notice_is_gone_for_good_and_only_its_person_may_dismiss_it(scene: Scene) -> None:
    await scene.world.plane.tell(scene.exp, Sort.PREEMPTED, "o1", "It was idle.")
    (mine,) = (await scene.ask("ada", "GET", "/notices")).json()
    assert (await scene.ask("boss", "POST", f"/notices/{mine['id']}/dismiss")).status_code == 404
    for _ in range(2):
        assert (await scene.ask("ada", "POST", f"/notices/{mine['id']}/dismiss")).status_code == 204
    assert await scene.told("ada") == []


async def test_an_announcement_is_made_seen_and_taken_back(scene: Scene) -> None:
    refused = await scene.ask("root", "POST", "/announcements", json={"text": "", "kind": "none", "until": 1})
    assert refused.status_code == 422
    assert set(refused.json()["fields"]) == {"text", "kind", "until"}
    made = await scene.ask("root", "POST", "/announcements", json={"text": "Upgrade at six."})
    assert made.status_code == 201
    assert await scene.told("bob") == ["Upgrade at six."]
    (listed,) = (await scene.ask("eve", "GET", "/announcements")).json()
    assert listed == made.json()
    assert (await scene.ask("root", "DELETE", f"/announcements/{listed['id']}")).status_code == 204
    assert await scene.told("bob") == []
    assert (await scene.ask("root", "DELETE", "/announcements/unknown")).status_code == 404


async def test_the_words_of_an_announcement_are_its_makers_and_the_rest_is_the_readers(scene: Scene) -> None:
    await scene.ask("root", "POST", "/announcements", json={"text": "exp could not be paused."})
    answer = await scene.ask("ada", "GET", "/notices", headers={"Accept-Language": "pl"})
    (told,) = answer.json()
    assert told["message"] == "exp could not be paused."
    assert told["headline"] == "Od administratorów"


async def test_everybody_says_how_they_are_written_to(scene: Scene) -> None:
    assert (await scene.ask("ada", "GET", "/me/contact")).json() == {"address": "", "language": "", "timezone": ""}
    contact = {"address": "ada@example.org", "language": "ja", "timezone": "Asia/Tokyo"}
    assert (await scene.ask("ada", "PUT", "/me/contact", json=contact)).json() == contact
    assert (await scene.ask("ada", "GET", "/me/contact")).json() == contact
    kept = await scene.world.store.accounts.account("ada")
    assert kept is not None
    assert kept.address == "ada@example.org"


@pytest.mark.parametrize(
    "address",
    ["ada", "ada@", "@example.org", "a b@example.org", "ada@example.org, eve@example.org", "ada@example.org\nBcc: eve"],
)
async def test_what_is_no_single_address_is_refused(scene: Scene, address: str) -> None:
    wrong = {"address": address, "timezone": "Mars/Olympus"}
    refused = await scene.ask("ada", "PUT", "/me/contact", json=wrong)
    assert refused.status_code == 422
    assert set(refused.json()["fields"]) == {"address", "timezone"}
    assert (await scene.ask("ada", "PUT", "/me/contact", json={"language": "tlh"})).status_code == 422
