"""What lies on the disks, by API and on the page; and a warning that a snapshot will go, with the way to keep it."""

from dataclasses import replace

import httpx
import pytest

from intermezzo.domain.policy import Policy, Rules
from intermezzo.domain.workspace import Phase, WorkspaceKey, WorkspaceSpec
from intermezzo.web.auth.credentials import Credentials
from web.conftest import log_in
from web.simulated import Simulated
from web.test_pages import text_of
from web.town import API

EXP = WorkspaceKey("default", "exp")


@pytest.fixture
async def paused(world: Simulated) -> WorkspaceKey:
    """A workspace of ada's that was paused twice."""
    await world.plane.create("default", "exp", "ada", WorkspaceSpec("jupyterlab", "", ""), "ada")
    await world.reached(EXP, Phase.RUNNING)
    await world.plane.pause(EXP, "ada")
    await world.reached(EXP, Phase.PAUSED)
    await world.plane.resume(EXP, "ada")
    await world.reached(EXP, Phase.RUNNING)
    await world.plane.pause(EXP, "ada")
    await world.reached(EXP, Phase.PAUSED)
    return EXP


@pytest.mark.usefixtures("paused")
async def test_an_orphan_is_told_and_cleared_and_what_is_none_is_refused(
    world: Simulated, api: httpx.AsyncClient, browser: httpx.AsyncClient, credentials: Credentials
) -> None:
    await log_in(browser, credentials)
    found = (await api.get(f"{API}/storage/audit")).json()
    assert (found["agrees"], found["orphans"], found["listed_bytes"]) == (True, 0, found["disk_bytes"])
    assert [(line["name"], line["snapshots"]) for line in found["workspaces"]] == [("exp", 2)]
    assert "Every byte is listed." in text_of(await browser.get("/admin/storage"))
    world.cluster.world.partials = {"gone": {"begun": 7}}
    (orphan,) = (await api.get(f"{API}/storage/audit")).json()["findings"]
    assert (orphan["verdict"], orphan["what"], orphan["bytes"]) == ("orphan", "partial", 7)
    page = text_of(await browser.get("/admin/storage"))
    assert "1 orphan takes 7 B." in page and "nothing refers to it" in page
    snapshot = (await world.plane.snapshots(EXP))[1].manifest
    where = {"place": orphan["place"]}
    refused = await api.delete(f"{API}/storage/snapshot/{snapshot.workspace_uid}/{snapshot.id}", params=where)
    assert refused.status_code == 409
    for _ in range(2):
        assert (await api.delete(f"{API}/storage/partial/gone/begun", params=where)).status_code == 204
    assert (await api.get(f"{API}/storage/audit")).json()["agrees"] is True
    assert len(await world.plane.snapshots(EXP)) == 2


@pytest.mark.usefixtures("paused")
async def test_a_silent_node_leaves_the_page_standing(
    world: Simulated, browser: httpx.AsyncClient, credentials: Credentials
) -> None:
    await log_in(browser, credentials)
    world.cluster.faults.unreachable = True
    assert "cannot be counted now" in text_of(await browser.get("/admin/storage"))


@pytest.mark.usefixtures("paused")
async def test_a_snapshot_that_will_go_is_warned_of_and_one_press_keeps_it(
    world: Simulated, api: httpx.AsyncClient, browser: httpx.AsyncClient, credentials: Credentials
) -> None:
    await log_in(browser, credentials)
    older = (await world.plane.snapshots(EXP))[1].manifest
    rules = Rules(keep_snapshots=5, snapshot_age_s=1, snapshot_warn_s=86_400)
    world.plane.context.policies = (replace(Policy(name="short"), rules=rules),)
    await world.plane.retention.look()
    (notice,) = (await api.get(f"{API}/notices")).json()
    assert (notice["sort"], notice["snapshot_id"]) == ("snapshot-expiring", older.id)
    assert notice["headline"].startswith("The snapshot of exp from ")
    page = text_of(await browser.get("/w/default/exp"))
    assert "will be deleted at" in page and "Keep it" in page
    assert "for its age, unless it is pinned" in page
    await api.post(f"{API}/workspaces/default/exp/snapshots/{older.id}/pin")
    await world.plane.retention.look()
    assert (await api.get(f"{API}/notices")).json() == []
