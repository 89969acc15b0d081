"""A file that was edited under a paused session: what API and page say, and how its owner decides."""

import httpx

from intermezzo.web.auth.credentials import Credentials
from web.conftest import log_in
from web.simulated import Simulated
from web.test_workspaces import WORKSPACES, reach

NOTES = "notes.txt"


async def paused_with_an_edited_file(world: Simulated, api: httpx.AsyncClient) -> str:
    """The address of a paused workspace, of which a file that it holds open was written to since."""
    path: str = (await api.post(WORKSPACES, json={"name": "exp"})).headers["Location"]
    await reach(api, path, "Running")
    live = world.cluster.sandbox((await api.get(path)).json()["uid"])
    assert live is not None
    home = world.cluster.world.volumes[live.spec.volume_id]
    home[NOTES] = b"then"
    live.memory.opened.add(f"{live.spec.home_mount}/{NOTES}")
    await api.post(f"{path}/pause")
    await reach(api, path, "Paused")
    home[NOTES] = b"later"
    return path


async def test_it_is_told_with_a_code_of_its_own_and_resumed_once_that_is_accepted(
    world: Simulated, api: httpx.AsyncClient
) -> None:
    path = await paused_with_an_edited_file(world, api)
    refused = await api.post(f"{path}/resume")
    assert (refused.status_code, refused.json()["code"]) == (409, "files_changed")
    assert NOTES in refused.json()["detail"]
    assert "--accept-changed-files" in refused.json()["hint"]
    [snapshot] = (await api.get(f"{path}/snapshots")).json()
    assert (snapshot["state"], snapshot["compatible"]) == ("complete", True)
    assert [(d["aspect"], d["prevents"]) for d in snapshot["differences"]] == [("held_files", False)]
    wrong = await api.post(f"{path}/resume", json={"accept": "everything"})
    assert wrong.status_code == 422
    accepted = await api.post(f"{path}/resume", json={"accept": "changed-files"})
    assert accepted.status_code == 202
    await reach(api, path, "Running")
    assert (await api.get(path)).json()["continuity"]["verdict"] == "restored"


async def test_the_page_names_the_file_and_its_button_accepts_it(
    world: Simulated, api: httpx.AsyncClient, browser: httpx.AsyncClient, credentials: Credentials
) -> None:
    await paused_with_an_edited_file(world, api)
    await log_in(browser, credentials)
    page = (await browser.get("/w/default/exp")).text
    assert "/notes.txt, which the session holds open, was written to" in page
    assert "Resume this one with the changed files" in page
    assert '"accept": "changed-files"' in page
