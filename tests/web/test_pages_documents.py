"""The administration's pages about kinds and policies."""

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from intermezzo.domain.workspace import Phase, WorkspaceKey, WorkspaceSpec
from intermezzo.kinds import load_shipped_kinds
from web.simulated import Simulated
from web.town import Town

SHIPPED = load_shipped_kinds()["jupyterlab"].text
KEY = WorkspaceKey("red", "exp")


@pytest.fixture
async def town(world: Simulated) -> Town:
    made = Town(world.api())
    await made.settle()
    return made


@pytest.fixture
async def root(town: Town) -> AsyncIterator[httpx.AsyncClient]:
    """The administrator's browser."""
    async with town.browser("root") as browser:
        yield browser


async def running(world: Simulated) -> None:
    await world.plane.create("red", "exp", "ada", WorkspaceSpec("jupyterlab", "", "small"), "ada")
    await world.reached(KEY, Phase.RUNNING)


async def test_everything_that_is_there_is_listed_with_its_use(world: Simulated, root: httpx.AsyncClient) -> None:
    await running(world)
    kinds = (await root.get("/admin/kinds")).text
    for name in load_shipped_kinds():
        assert f'href="/admin/kinds/by-name/{name}"' in kinds
    assert "Apply a kind" in kinds
    assert (await root.get("/admin/policies")).status_code == 200
    shown = (await root.get("/admin/kinds/by-name/jupyterlab")).text
    assert "intermezzo.dev/pause-keeps: process" in shown
    assert '<a href="/admin/kinds" aria-current="true">' in shown
    assert shown.count("aria-current") == 2
    assert (await root.get("/admin/kinds/by-name/none")).status_code == 404


async def test_what_an_edit_would_do_is_shown_before_the_button_that_applies_it(
    world: Simulated, root: httpx.AsyncClient
) -> None:
    await running(world)
    edited = SHIPPED.replace("image: intermezzo/jupyterlab:embedded", "image: r/x:2")
    review = (await root.post("/admin/kinds/review", json={"text": edited})).text
    assert "red/exp" in review
    assert "must restart" in review
    assert 'id="apply"' in review
    removed = SHIPPED.replace("- id: small", "- id: tiny")
    review = (await root.post("/admin/kinds/review", json={"text": removed})).text
    assert "Cannot be applied" in review
    assert 'id="apply"' not in review
    assert "r/x:2" not in (await root.get("/admin/kinds/by-name/jupyterlab")).text


async def test_errors_name_each_field_in_the_readers_language(root: httpx.AsyncClient) -> None:
    broken = SHIPPED.replace("home: /home/jovyan", "home: /etc")
    answer = await root.post("/admin/kinds/review", json={"text": broken}, headers={"HX-Request": "true"})
    assert answer.status_code == 422
    assert answer.json()["fields"] == {"spec.podTemplate.volumeMounts.home": "must not hide a directory of the system"}


async def test_who_only_oversees_looks_and_who_does_neither_is_refused(town: Town) -> None:
    async with town.browser("eve") as auditor:
        page = (await auditor.get("/admin/kinds/by-name/jupyterlab")).text
        assert "pause-keeps" in page
        assert "<textarea" not in page
        assert (await auditor.post("/admin/kinds/review", json={"text": SHIPPED})).status_code == 403
        assert (await auditor.get("/admin/kinds/new")).status_code == 403
    async with town.browser("ada") as user:
        assert (await user.get("/admin/kinds")).status_code == 403


async def test_a_kind_that_cannot_be_read_any_more_is_shown_with_what_is_wrong(
    world: Simulated, root: httpx.AsyncClient
) -> None:
    await world.plane.conditions.apply(SHIPPED.replace("name: jupyterlab\n", "name: mine\n", 1), "root")
    [stored] = await world.store.catalog.documents()
    await world.store.catalog.put(replace(stored, text=stored.text.replace("memory: 1Gi}", "memory: 1 Gi}", 1)))
    await world.plane.catalogue.load()
    page = (await root.get("/admin/kinds/by-name/mine")).text
    assert "spec.podTemplate.options.podConfig.values[0].spec.resources.requests.memory" in page
    assert "cannot be read any more" in (await root.get("/admin/kinds")).text
