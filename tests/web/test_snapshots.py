"""Our API: a workspace's snapshots in their owner's hands, and what is left of a workspace that is deleted."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest

from intermezzo.domain.orders import Problem
from intermezzo.domain.transfer import Transfer, TransferStep
from intermezzo.web.auth.credentials import Credentials
from web.conftest import log_in
from web.simulated import Simulated, program
from web.test_pages import text_of
from web.test_workspaces import WORKSPACES, reach


@pytest.fixture
async def paused(api: httpx.AsyncClient) -> str:
    """The address of a workspace that was paused twice."""
    path: str = (await api.post(WORKSPACES, json={"name": "exp"})).headers["Location"]
    await reach(api, path, "Running")
    await api.post(f"{path}/pause")
    await reach(api, path, "Paused")
    await api.post(f"{path}/resume")
    await reach(api, path, "Running")
    await api.post(f"{path}/pause")
    await reach(api, path, "Paused")
    return path


async def snapshots(api: httpx.AsyncClient, path: str) -> list[dict[str, object]]:
    answer = await api.get(f"{path}/snapshots")
    answer.raise_for_status()
    found: list[dict[str, object]] = answer.json()
    return found


async def test_each_says_whether_it_could_be_restored_and_which_one_a_resume_takes(
    api: httpx.AsyncClient, paused: str
) -> None:
    newest, older = await snapshots(api, paused)
    assert (newest["current"], newest["compatible"], newest["differences"]) == (True, True, [])
    assert (older["current"], older["pinned"], older["verified_at"]) == (False, False, 0)
    assert (newest["outlook"], older["outlook"]) == (None, {"why": "replaced", "at": 0, "warned_at": 0})


async def test_what_differs_is_named_with_what_would_mend_it(
    world: Simulated, api: httpx.AsyncClient, paused: str
) -> None:
    world.cluster.world.digests["jupyter"] = "changed"
    newest, _ = await snapshots(api, paused)
    assert (newest["state"], newest["compatible"]) == ("incompatible", False)
    [difference] = newest["differences"]  # type: ignore[misc]
    assert (difference["aspect"], difference["prevents"]) == ("environment", True)  # type: ignore[has-type]
    assert "make setup" in difference["mend"]  # type: ignore[has-type]


async def test_it_says_where_each_lies_and_how_far_it_is_on_its_way_to_the_store(
    world: Simulated, api: httpx.AsyncClient, paused: str
) -> None:
    newest, older = await snapshots(api, paused)
    assert (newest["places"], newest["stored_in"], newest["encrypted"], newest["transfer"]) == (
        ["node"],
        "",
        False,
        None,
    )
    simulated, uid = world.cluster.world, (await api.get(paused)).json()["uid"]
    simulated.amend(uid, str(older["id"]), stored_in="s3://bucket", stored_at=1, here=False, encrypted_bytes=7)
    simulated.transfers[uid] = [Transfer(str(newest["id"]), TransferStep.SENDING, 250, 1000, 100)]
    newest, older = await snapshots(api, paused)
    assert (older["places"], older["stored_in"], older["encrypted"]) == (["store"], "s3://bucket", True)
    sending = {"step": "sending", "done": 250, "total": 1000, "rate": 100, "left_ms": 7500, "trouble": ""}
    assert newest["transfer"] == sending


async def test_pins_and_verifications_are_idempotent(api: httpx.AsyncClient, paused: str) -> None:
    _, older = await snapshots(api, paused)
    path = f"{paused}/snapshots/{older['id']}"
    for word, status, field, value in [
        ("pin", 200, "pinned", True),
        ("verify", 202, "verifying", False),
        ("unpin", 200, "pinned", False),
    ]:
        for _ in range(2):
            answer = await api.post(f"{path}/{word}")
            assert (answer.status_code, answer.json()[field]) == (status, value)


async def test_a_deletion_needs_the_confirmation_only_where_the_live_state_goes(
    api: httpx.AsyncClient, paused: str
) -> None:
    newest, older = await snapshots(api, paused)
    refused = await api.delete(f"{paused}/snapshots/{newest['id']}")
    assert (refused.status_code, set(refused.json()["fields"])) == (422, {"confirm"})
    assert (await api.delete(f"{paused}/snapshots/{older['id']}")).status_code == 204
    confirmed = await api.delete(f"{paused}/snapshots/{newest['id']}", params={"confirm": "live-state"})
    assert confirmed.status_code == 204
    shown = (await api.get(paused)).json()
    assert (shown["phase"], shown["snapshot"], shown["condition"]["reason"]) == ("Paused", None, "files_only")


async def test_a_damaged_one_is_refused_and_the_older_one_offered(
    world: Simulated, api: httpx.AsyncClient, paused: str
) -> None:
    newest, older = await snapshots(api, paused)
    world.cluster.world.damage((await api.get(paused)).json()["uid"], str(newest["id"]))
    verified = (await api.post(f"{paused}/snapshots/{newest['id']}/verify")).json()
    assert (verified["state"], bool(verified["damage"])) == ("corrupt", True)
    refused = await api.post(f"{paused}/resume")
    assert refused.status_code == 409
    assert str(older["id"]) in refused.json()["hint"]
    assert (await api.post(f"{paused}/resume", json={"snapshot_id": older["id"]})).status_code == 202
    assert (await reach(api, paused, "Running"))["continuity"]["verdict"] == "restored"  # type: ignore[index]


@pytest.mark.parametrize("word", ["pin", "unpin", "verify"])
async def test_what_is_not_there_is_not_found(api: httpx.AsyncClient, paused: str, word: str) -> None:
    for name in ("nonsense", "..%2f..%2fetc", "a%20b"):
        assert (await api.post(f"{paused}/snapshots/{name}/{word}")).status_code == 404
    assert (await api.delete(f"{paused}/snapshots/nonsense")).status_code == 404
    assert (await api.post(f"{paused}/resume", json={"snapshot_id": "nonsense"})).status_code == 404


@pytest.fixture
async def slow() -> AsyncIterator[Simulated]:
    """A cluster in which nothing goes on unless it is told to."""
    simulated = Simulated(delay_s=None)
    async with simulated.working():
        yield simulated


async def stepped(simulated: Simulated, api: httpx.AsyncClient, path: str, phase: str) -> None:
    """Let the cluster go on until the workspace is in that phase; the empty one is that it is gone."""
    while True:
        answer = await api.get(path, params={"after": 0, "wait_s": 0.05})
        if (answer.json().get("phase", "") if answer.status_code == 200 else "") == phase:
            return
        simulated.cluster.step()


async def test_fr28_a_delete_in_the_middle_of_a_restore_leaves_nothing(slow: Simulated) -> None:
    async with program(slow) as api:
        path = (await api.post(WORKSPACES, json={"name": "exp"})).headers["Location"]
        await stepped(slow, api, path, "Running")
        await api.post(f"{path}/pause")
        await stepped(slow, api, path, "Paused")
        await api.post(f"{path}/resume")
        await reach(api, path, "Resuming")
        slow.cluster.faults.fail_next("remove", Problem("disk", "The disk refused."))
        assert (await api.delete(path)).status_code == 202
        for word in ("resume", "restart", "pause"):
            assert (await api.post(f"{path}/{word}")).status_code == 409
        assert (await api.post(f"{path}/connection")).status_code == 409
        assert (await api.delete(path, params={"files": True})).status_code == 202
        await stepped(slow, api, path, "")
        assert await slow.cluster.observe_all() == {}
        assert await slow.store.reservations() == {}
        assert slow.cluster.world.sandboxes == {}


async def test_fr47_a_name_used_again_gets_another_volume_and_a_refused_create_none(
    world: Simulated, api: httpx.AsyncClient
) -> None:
    path = (await api.post(WORKSPACES, json={"name": "exp"})).headers["Location"]
    await reach(api, path, "Running")
    ((first, files),) = world.cluster.world.volumes.items()
    files["old.txt"] = b"old"
    await api.delete(path, params={"files": True})
    while (await api.get(path, params={"after": 0, "wait_s": 1})).status_code != 404:
        pass
    assert world.cluster.world.volumes == {}
    refused = await api.post(WORKSPACES, json={"name": "exp", "spec": {"pod": "no-such-size"}})
    assert (refused.status_code, world.cluster.world.volumes) == (422, {})
    again = (await api.post(WORKSPACES, json={"name": "exp"})).headers["Location"]
    await reach(api, again, "Running")
    ((second, files),) = world.cluster.world.volumes.items()
    assert (second != first, files) == (True, {})


async def test_the_page_says_where_one_lies_how_far_it_is_and_why_it_stands_still(
    world: Simulated, api: httpx.AsyncClient, paused: str, browser: httpx.AsyncClient, credentials: Credentials
) -> None:
    await log_in(browser, credentials)
    newest, older = await snapshots(api, paused)
    simulated, uid = world.cluster.world, (await api.get(paused)).json()["uid"]
    simulated.amend(uid, str(older["id"]), stored_in="s3://bucket", stored_at=1, here=False, encrypted_bytes=7)
    simulated.transfers[uid] = [Transfer(str(newest["id"]), TransferStep.SENDING, 250 << 20, 1 << 30, 10 << 20)]
    page = text_of(await browser.get("/w/default/exp/past"))
    assert "In the store only: a resume fetches it first. Encrypted." in page
    [told] = re.findall(r"Being sent to the store · .*? left", page)
    assert told == "Being sent to the store · 250.0 MiB of 1.0 GiB · 10.0 MiB a second · about 1 min 17 s left"
    trouble = "the snapshot store s3://bucket does not answer"
    simulated.transfers[uid] = [Transfer(str(newest["id"]), TransferStep.SENDING, 0, 1 << 30, 0, trouble)]
    page = text_of(await browser.get("/w/default/exp/past"))
    assert f"it stands still and is tried again by itself: {trouble}" in page
