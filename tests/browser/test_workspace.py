"""The page of one workspace, from the evening's pause to the morning's resume."""

import re
from dataclasses import replace

from playwright.async_api import Browser, Page, Route, expect

from browser.site import Site, logged_in
from intermezzo.domain.access import Role
from intermezzo.domain.orders import Problem
from intermezzo.domain.workspace import Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp-17")
GZIP = b"\x1f\x8b"
NOW = "#now"


async def test_a_pause_and_a_resume_from_the_page_end_with_the_proof(page: Page, site: Site) -> None:
    await page.goto("/w/default/exp-17")
    await expect(page.locator(NOW)).to_contain_text("keeps the live process and the files")
    await page.click("#do-pause")
    await expect(page.locator(NOW)).to_contain_text("You can leave this page; it goes on.")
    await site.settle(EXP)
    await expect(page.locator(f"{NOW} .state-paused")).to_be_visible()
    await expect(page.locator(NOW)).to_contain_text("came free on gpu-1")
    await expect(page.locator(NOW)).to_contain_text("There is room on gpu-1 now; no wait expected.")
    await page.click("#do-resume")
    await expect(page.locator(f"{NOW} .state-resuming")).to_be_visible()
    await site.settle(EXP)
    await expect(page.locator("#proof summary")).to_contain_text("restored, same process")
    await page.click("#proof summary")
    await expect(page.locator("#proof")).to_contain_text("same value in memory")
    assert await page.get_attribute("#open", "href") == "/workspace/connect/default/exp-17/jupyterlab/"


async def test_what_is_folded_open_stays_open_while_the_state_changes(page: Page, site: Site) -> None:
    await page.goto("/w/default/exp-17")
    await page.click("#events summary")
    await site.pause(EXP)
    await expect(page.locator(f"{NOW} .state-paused")).to_be_visible()
    await expect(page.locator("#events table")).to_be_visible()


async def test_a_failed_pause_shows_the_reason_and_that_the_session_runs_on(page: Page) -> None:
    await page.goto("/w/default/tables")
    await expect(page.locator(f"{NOW} .state-running")).to_be_visible()
    reason = page.locator(".reason")
    await expect(reason).to_contain_text("The disk is full: 500 MiB are needed, 100 MiB are free")
    await expect(reason).to_contain_text("The session runs on; nothing was lost.")
    await expect(reason.get_by_role("button", name="try again")).to_be_visible()
    await expect(page.locator("#detail-text")).to_be_hidden()


async def test_the_ways_out_of_a_failed_resume_are_buttons_safest_first(page: Page, site: Site) -> None:
    await page.goto("/w/default/old-model")
    ways = await page.locator(".ways button").all_text_contents()
    assert ways[0] == "try again"
    assert ways[-1].startswith("start fresh from the files")
    for way in await page.locator(".ways li", has=page.locator("button, a")).all():
        await expect(way).to_contain_text("Brings back:")
        await expect(way).to_contain_text("Loses:")
    await expect(page.locator(".ways li").nth(1)).to_contain_text("Not possible now. There is no other snapshot.")
    await expect(page.locator(".ways li").nth(2)).to_contain_text("The snapshots stay")
    async with page.expect_download() as downloading:
        await page.click(".ways #export")
    downloaded = await downloading.value
    assert downloaded.suggested_filename.startswith("default-old-model-")
    assert (await downloaded.path()).read_bytes().startswith(GZIP)
    await page.click(".ways button >> nth=0")
    await expect(page.locator(f"{NOW} .state-resuming")).to_be_visible()
    settled = await site.settle(WorkspaceKey("default", "old-model"))
    assert settled.phase is Phase.RUNNING
    await expect(page.locator("#proof summary")).to_contain_text("restored, same process")


async def test_one_that_waits_says_for_what_and_at_which_place(page: Page) -> None:
    await page.goto("/w/default/late-comer")
    await expect(page.locator(NOW)).to_contain_text("Position 1 in the queue.")
    await expect(page.locator(NOW)).to_contain_text("0 of 2 free")


async def test_a_kind_that_keeps_files_only_says_so_before_a_pause(page: Page, site: Site) -> None:
    await site.resume(WorkspaceKey("default", "nightly-report"))
    await page.goto("/w/default/nightly-report")
    await expect(page.locator(NOW)).to_contain_text("nothing in memory is kept")


async def test_a_refusal_is_told_and_nothing_is_claimed(page: Page, site: Site) -> None:
    await page.goto("/w/default/exp-17")
    await page.route("**/pause", lambda route: route.continue_(url=f"{site.url}/api/intermezzo/v1/nothing"))
    await page.click("#do-pause")
    await expect(page.locator("#message")).to_contain_text("there is nothing at this address")
    assert (await site.plane.get(EXP)).phase is Phase.RUNNING


async def test_a_refusal_is_told_even_if_the_page_was_filled_anew_before_it_came(page: Page, site: Site) -> None:
    await page.goto("/w/default/exp-17")

    async def late(route: Route) -> None:
        async with page.expect_response(lambda answer: answer.url.endswith("/exp-17/now") and answer.ok):
            await page.evaluate("htmx.trigger(document.body, 'refresh')")
        await page.wait_for_function("!document.contains(pressed)")
        await route.continue_(url=f"{site.url}/api/intermezzo/v1/nothing")

    await page.evaluate("window.pressed = document.getElementById('do-pause')")
    await page.route("**/pause", late)
    await page.click("#do-pause")
    await expect(page.locator("#message")).to_contain_text("there is nothing at this address")


async def test_a_delete_says_what_goes_and_what_stays(page: Page, site: Site) -> None:
    await page.goto("/w/default/embeddings")
    await page.click("#more summary")
    sheet = page.locator("#more .sheet")
    await expect(page.locator("#do-delete")).to_be_hidden()
    await sheet.get_by_text("Delete workspace …").click()
    await expect(sheet).to_contain_text("deletes its snapshots at once; they cannot be had back")
    await expect(sheet).to_contain_text("Otherwise its home volume")
    await page.click("#do-delete")
    await page.wait_for_url(f"{site.url}/")
    await site.gone(WorkspaceKey("default", "embeddings"))
    await expect(page.locator("tbody")).not_to_contain_text("embeddings")


async def test_the_engines_own_words_fold_open_for_the_administrator(page: Page) -> None:
    await page.goto("/w/default/old-model")
    await page.click("#detail summary")
    await expect(page.locator("#detail-text")).to_have_text("exit 128")


async def test_a_session_that_was_lost_says_what_is_safe(page: Page, site: Site) -> None:
    lost = Problem("session_lost", "The engine broke down")
    site.cluster.faults.fail_next("pause", lost, "frozen")
    await page.goto("/w/default/exp-17")
    await page.click("#do-pause")
    await expect(page.locator(f"{NOW} .state-pausing")).to_be_visible()
    await site.settle(EXP)
    await expect(page.locator(f"{NOW} .state-failed")).to_contain_text("needs you")
    await expect(page.locator(".reason")).to_contain_text("the files are safe")


async def test_a_snapshot_is_pinned_unpinned_and_deleted_by_its_owner(page: Page, site: Site) -> None:
    await site.pause(EXP)
    await page.goto("/w/default/exp-17")
    listed = page.locator(".snapshots > li")
    await expect(listed).to_have_count(2)
    await expect(listed.first).to_contain_text("the next resume takes this one")
    await expect(listed.first).to_contain_text("Fits here.")
    older = listed.last
    await older.get_by_role("button", name="Pin").click()
    await expect(older).to_contain_text("pinned")
    await expect(older.get_by_text("Delete …")).to_have_count(0)
    await older.get_by_role("button", name="Unpin").click()
    await older.get_by_text("Delete …").click()
    await expect(older).to_contain_text("It would be gone for good. The session and the files stay as they are.")
    await older.get_by_role("button", name="Delete this snapshot").click()
    await expect(listed).to_have_count(1)
    assert [found.current for found in await site.plane.snapshots(EXP)] == [True]


async def test_a_snapshot_is_forked_by_keyboard_alone_into_a_workspace_that_says_what_it_is(
    page: Page, site: Site
) -> None:
    await site.pause(EXP)
    await page.goto("/w/default/exp-17")
    await page.get_by_text("Fork …").first.focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("Name of the fork").first.focus()
    await page.keyboard.type("exp-17-b")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("/w/default/exp-17-b$"))
    await expect(page.locator(NOW)).to_contain_text("To be a fork of default/exp-17.")
    await site.settle(WorkspaceKey("default", "exp-17-b"))
    await expect(page.get_by_role("heading", level=1)).to_contain_text("ready")
    await expect(page.locator(NOW)).to_contain_text("A fork of default/exp-17")
    await expect(page.locator("#proof")).to_contain_text("a fork, with an identity of its own")
    fork = await site.plane.get(WorkspaceKey("default", "exp-17-b"))
    assert fork.origin is not None and fork.origin.key == EXP


async def test_deleting_the_live_session_itself_says_what_is_left(page: Page, site: Site) -> None:
    key = WorkspaceKey("default", "embeddings")
    await page.goto("/w/default/embeddings")
    await page.get_by_text("Delete …").click()
    await expect(page.locator(".snapshots")).to_contain_text("This is the live session itself")
    await page.get_by_role("button", name="Delete this snapshot").click()
    await expect(page.locator("#past")).to_contain_text("None yet.")
    await expect(page.locator(NOW)).to_contain_text("There is no snapshot")
    assert (await site.plane.get(key)).snapshot is None


async def test_a_snapshot_that_does_not_fit_here_says_why_and_what_would_help(page: Page, site: Site) -> None:
    [node] = site.cluster.world.nodes
    site.cluster.world.nodes[:] = [replace(node, engine=replace(node.engine, version="2"))]
    await page.goto("/w/default/embeddings")
    listed = page.locator(".snapshots > li")
    await expect(listed).to_contain_text("Does not fit here:")
    await expect(listed).to_contain_text("saved by memory 1; gpu-1 has 2")
    await expect(listed).to_contain_text("Install memory 1")


async def test_a_silent_node_leaves_the_page_whole_and_says_so(page: Page, site: Site) -> None:
    site.cluster.faults.unreachable = True
    await page.goto("/w/default/exp-17")
    await expect(page.locator("#past")).to_contain_text("The node does not answer; its snapshots cannot be listed now.")
    await expect(page.locator(NOW)).to_contain_text("Unknown: the node does not answer.")


async def test_its_owner_makes_a_key_for_a_local_client_and_nobody_else_is_offered_one(
    page: Page, site: Site, chromium: Browser
) -> None:
    await page.goto("/w/default/exp-17")
    await page.click("#connect summary")
    await expect(page.locator("#address")).to_have_text(f"{site.url}/workspace/connect/default/exp-17/jupyterlab/")
    await page.click("#make-key")
    await expect(page.locator("#key-text")).to_have_text(re.compile(r"^[\w-]+\.[\w-]+\.[\w-]+$"))
    await site.app.state.people.add_account("otto", Role.AUDITOR)
    async with logged_in(chromium, site, subject="otto") as tab:
        await tab.goto("/w/default/exp-17")
        await expect(tab.locator("#make-key")).to_have_count(0)
        await expect(tab.locator("#open")).to_have_count(0)
