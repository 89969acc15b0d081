"""The list, as it is used at six in the evening and at nine in the morning."""

import re

from playwright.async_api import Page, expect

from browser.site import Site
from intermezzo.domain.workspace import Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp-17")


async def test_a_row_says_by_itself_that_its_workspace_was_paused(page: Page, site: Site) -> None:
    row = page.locator("tr", has_text="Experiment 17")
    await expect(row).to_contain_text("ready")
    await site.pause(EXP)
    await expect(row).to_contain_text("paused")
    await expect(row).to_contain_text("nothing")
    await expect(page.locator("#summary")).to_contain_text("paused 4")


async def test_a_new_workspace_appears_and_a_deleted_one_goes_without_a_reload(page: Page, site: Site) -> None:
    await page.evaluate("window.untouched = true")
    made = await site.create("born-just-now", "small")
    await expect(page.locator("tbody")).to_contain_text("born-just-now")
    await site.delete(made)
    await expect(page.locator("tbody")).not_to_contain_text("born-just-now")
    assert await page.evaluate("window.untouched")


async def test_the_filter_stands_in_the_address_and_holds_after_a_reload(page: Page) -> None:
    await page.fill("#text", "fine")
    await page.wait_for_url(re.compile(r"\?text=fine"))
    await expect(page.locator("tbody tr")).to_have_count(1)
    await page.reload()
    await expect(page.locator("tbody tr")).to_have_count(1)
    assert await page.input_value("#text") == "fine"


async def test_a_state_is_chosen_by_its_chip_and_given_up_by_the_same(page: Page) -> None:
    await page.click("#summary a:has-text('waiting for capacity')")
    await expect(page.locator("tbody tr")).to_have_count(1)
    await page.click("#summary a:has-text('waiting for capacity')")
    await expect(page.locator("tbody tr")).to_have_count(8)


async def test_the_list_is_sorted_by_a_column_and_says_by_which(page: Page) -> None:
    await page.click("thead >> text=Name")
    names = await page.locator("tbody th a").all_text_contents()
    assert names == sorted(names, key=str.casefold)
    assert await page.get_attribute("thead th:has-text('Name')", "aria-sort") == "ascending"


async def test_several_are_paused_at_once_and_what_cannot_be_is_told(page: Page, site: Site) -> None:
    for name in ("Experiment 17", "tables"):
        await page.check(f"tr:has-text('{name}') input")
    await expect(page.locator("#chosen-count")).to_have_text("2 selected")
    await site.pause(EXP)
    await expect(page.locator("#chosen-count")).to_have_text("1 selected")
    await page.click("#pause-chosen")
    await expect(page.locator("#message")).to_contain_text("1 asked to pause")
    paused = await site.settle(WorkspaceKey("default", "tables"))
    assert paused.phase is Phase.PAUSED


async def test_a_tick_stays_while_the_row_beside_it_changes(page: Page, site: Site) -> None:
    await page.check("tr:has-text('tables') input")
    await site.pause(EXP)
    await expect(page.locator("tr", has_text="Experiment 17")).to_contain_text("paused")
    await expect(page.locator("tr:has-text('tables') input")).to_be_checked()


async def test_a_page_that_was_hidden_shows_what_happened_meanwhile(page: Page, site: Site) -> None:
    elsewhere = await page.context.new_page()
    await elsewhere.goto("/new")
    await site.pause(EXP)
    await page.bring_to_front()
    await expect(page.locator("tr", has_text="Experiment 17")).to_contain_text("paused")


async def test_a_paused_one_is_resumed_and_a_ready_one_opened_from_its_row(page: Page, site: Site) -> None:
    await page.get_by_role("button", name="Resume nightly-report").click()
    await expect(page.locator("tr", has_text="nightly-report").locator(".state-starting")).to_be_visible()
    await site.settle(WorkspaceKey("default", "nightly-report"))
    opened = page.get_by_role("link", name="Open nightly-report")
    await expect(opened).to_have_attribute("href", "/workspace/connect/default/nightly-report/jupyterlab/")


async def test_a_page_without_a_connection_says_so_and_is_put_right_by_itself(page: Page, site: Site) -> None:
    await page.route("**/changes", lambda route: route.abort())
    await page.reload()
    await expect(page.locator("#stale")).to_be_visible()
    await site.pause(EXP)
    await page.unroute("**/changes")
    await expect(page.locator("#stale")).to_be_hidden()
    await expect(page.locator("tr", has_text="Experiment 17")).to_contain_text("paused")


async def test_an_open_page_goes_to_the_login_when_its_session_ends(page: Page, site: Site) -> None:
    people, credentials = site.app.state.people, site.app.state.credentials
    await credentials.revoke(*[credential.id for credential in await people.credentials("local")])
    await page.wait_for_url("**/login?next=%2F")


async def test_a_change_that_got_no_answer_is_not_claimed(page: Page, site: Site) -> None:
    await page.route("**/resume", lambda route: route.abort())
    await page.get_by_role("button", name="Resume nightly-report").click()
    await expect(page.locator("#message")).to_contain_text("There was no answer.")
    assert (await site.plane.get(WorkspaceKey("default", "nightly-report"))).phase is Phase.PAUSED
