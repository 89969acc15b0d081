"""The page of a workspace: what keeps it awake, when it would be paused, and when it is paused by itself."""

from playwright.async_api import Browser, Page, expect

from browser.site import OWNER, Site, logged_in
from intermezzo.domain.access import Role
from intermezzo.domain.schedule import Action, rule_of
from intermezzo.domain.workspace import WorkspaceKey

EXP = WorkspaceKey("default", "exp-17")
PAGE = "/w/default/exp-17"
CARD = "#activity"


async def test_the_decision_is_explained_with_every_signal_its_source_and_its_time(page: Page, site: Site) -> None:
    await site.plane.idle_rule.sweep()
    await page.goto(PAGE)
    await expect(page.locator("#decision")).to_contain_text("It will be paused at")
    await expect(page.locator(f"{CARD} .reasons li")).not_to_have_count(0)
    await page.click("#signals summary")
    rows = page.locator("#signals tbody tr")
    await expect(rows.filter(has_text="Kernels")).to_contain_text("the simulated sandbox")
    await expect(rows.filter(has_text="CPU time").locator("time")).not_to_have_count(0)
    await expect(rows.filter(has_text="VS Code")).to_contain_text("it has no VS Code")


async def test_kept_awake_by_a_button_it_says_until_when_and_can_be_released(page: Page, site: Site) -> None:
    await site.plane.idle_rule.sweep()
    await page.goto(PAGE)
    await page.click("#awake-2")
    await expect(page.locator(CARD)).to_contain_text(f"by {OWNER}")
    lease = await site.plane.lease(EXP)
    assert lease is not None
    assert lease.asked_by == OWNER
    await page.click("#release")
    await expect(page.locator("#release")).to_have_count(0)
    assert await site.plane.lease(EXP) is None


async def test_the_list_says_what_keeps_a_workspace_awake_or_when_it_would_be_paused(page: Page, site: Site) -> None:
    await site.plane.idle_rule.sweep()
    record = await site.plane.get(EXP)
    row = page.locator(f"#row-{record.uid}")
    await page.goto("/")
    await expect(row).to_contain_text("if nothing happens")
    await page.goto(PAGE)
    await page.click("#awake-1")
    await expect(page.locator("#release")).to_be_visible()
    await page.goto("/")
    await expect(row).to_contain_text("Kept awake until")


async def test_a_schedule_is_set_and_removed_by_hand_in_the_browser_s_time_zone(chromium: Browser, site: Site) -> None:
    async with logged_in(chromium, site, timezone_id="America/New_York", locale="en-GB") as page:
        await page.goto(PAGE)
        await expect(page.locator("#schedules")).to_contain_text("None.")
        await page.click("#new-schedule > summary")
        await page.fill("#weekly-at", "19:30")
        await page.click("#set-weekly")
        shown = page.locator("#schedule-list li")
        await expect(shown).to_contain_text("Paused Mon–Fri at 19:30")
        (planned,) = await site.plane.schedules(EXP)
        assert (planned.schedule.rule, planned.schedule.zone) == (rule_of("19:30", "mon-fri"), "America/New_York")
        assert planned.schedule.set_by == OWNER
        await page.select_option("#once-action", "ready")
        await page.fill("#once-at", "2031-05-06T09:00")
        await page.click("#set-once")
        await expect(shown.nth(1)).to_contain_text("Ready by then: once, 6 May 2031 at 09:00")
        await shown.nth(0).get_by_role("button", name="Remove").click()
        await expect(shown).to_have_count(1)


async def test_a_time_that_is_over_is_refused_beside_its_field(page: Page, site: Site) -> None:
    await page.goto(PAGE)
    await page.click("#new-schedule > summary")
    await page.fill("#once-at", "2001-01-01T09:00")
    await page.click("#set-once")
    await expect(page.locator("#at-error")).to_contain_text("must be in the future")
    assert await site.plane.schedules(EXP) == []


async def test_who_may_not_change_it_sees_all_of_it_and_no_button(chromium: Browser, site: Site) -> None:
    await site.plane.idle_rule.sweep()
    await site.plane.set_schedule(EXP, Action.PAUSE, rule_of("20:00"), "UTC", OWNER)
    await site.app.state.people.add_account("eve", Role.AUDITOR)
    async with logged_in(chromium, site, "eve") as page:
        await page.goto(PAGE)
        await expect(page.locator("#decision")).to_be_visible()
        await expect(page.locator("#schedule-list li")).to_contain_text("Paused every day at 20:00")
        assert await page.locator(f"{CARD} button, #schedules button").count() == 0
