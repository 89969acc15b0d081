"""Notices on the pages: seen without a reload, answered with one press, gone when they are no longer so."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, Page, expect

from browser.site import OWNER, Site, logged_in
from intermezzo.domain.access import Role
from intermezzo.domain.account import Contact
from intermezzo.domain.activity_rules import ActivityRule, ActivityRules, Protection
from intermezzo.domain.lease import LeaseSource
from intermezzo.domain.notice import Sort
from intermezzo.domain.policy import Policy, Rules
from intermezzo.domain.workspace import WorkspaceKey

EXP = WorkspaceKey("default", "exp-17")
HOUR_S, DAY_S = 3600, 24 * 3600


async def let_a_lease_end_soon(site: Site) -> None:
    """Experiment 17 was kept awake, and its owner is warned now that it will be paused afterwards."""
    context = site.plane.context
    hourly = ActivityRules(rules=(ActivityRule(pauses=True, idle_s=HOUR_S),), protection=Protection(frozenset()))
    context.kinds = {name: replace(kind, activity=hourly) for name, kind in context.kinds.items()}
    context.policies = (Policy(name="early", rules=Rules(warn_before_s=HOUR_S + 60, keep_awake_longest_s=DAY_S)),)
    await site.plane.keep_awake(EXP, context.clock.now() + 60_000, OWNER, LeaseSource.CLI)
    await site.plane.idle_rule.sweep()


async def announced(site: Site) -> list[str]:
    """The announcements that the owner is told."""
    return [n.message for n in await site.plane.notices_for(OWNER) if n.sort is Sort.ANNOUNCEMENT]


async def test_a_warning_appears_by_itself_and_one_press_keeps_awake(page: Page, site: Site) -> None:
    row = page.locator("tr", has_text="Experiment 17")
    await expect(row).not_to_contain_text("to be paused at")
    await let_a_lease_end_soon(site)
    warning = page.locator(".notice", has_text="exp-17 will be paused at")
    await expect(warning).to_be_visible()
    await expect(row).to_contain_text("to be paused at")
    await warning.get_by_role("button", name="Keep awake 2 h").click()
    await expect(warning).to_have_count(0)
    await expect(row).not_to_contain_text("to be paused at")
    lease = await site.plane.lease(EXP)
    assert lease is not None
    assert lease.source.value == "page"


async def test_the_page_of_a_workspace_warns_as_well(page: Page, site: Site) -> None:
    await page.goto("/w/default/exp-17")
    await let_a_lease_end_soon(site)
    warning = page.locator(".notice", has_text="exp-17 will be paused at")
    await expect(warning).to_be_visible()
    await warning.get_by_role("button", name="Keep awake 2 h").click()
    await expect(warning).to_have_count(0)
    assert await site.plane.lease(EXP) is not None


async def test_an_announcement_is_shown_until_its_reader_dismisses_it(page: Page, site: Site) -> None:
    await site.plane.announce("Upgrade at six.\nEverything is paused and comes back as it was.")
    for path in ("/", "/w/default/exp-17"):
        await page.goto(path)
        await expect(page.locator(".notice")).to_contain_text("Upgrade at six.")
    await page.locator(".notice").get_by_role("button", name="Dismiss").click()
    await expect(page.locator(".notice")).to_have_count(0)
    await page.goto("/")
    await expect(page.locator(".notice")).to_have_count(0)
    assert len(await site.plane.announcements()) == 1


async def test_whoever_only_looks_on_is_offered_nothing(chromium: Browser, site: Site) -> None:
    await site.app.state.people.add_account("eve", Role.AUDITOR)
    await let_a_lease_end_soon(site)
    async with logged_in(chromium, site, "eve") as page:
        await page.goto("/w/default/exp-17")
        await expect(page.locator(".notice")).to_contain_text("exp-17 will be paused at")
        await expect(page.locator(".notice").get_by_role("button")).to_have_count(0)


async def test_what_happened_at_night_is_there_in_the_morning_and_what_a_row_says_itself_is_not_said_twice(
    page: Page, site: Site
) -> None:
    record = await site.plane.get(EXP)
    await site.plane.tell(record, Sort.RESUME_FAILED, "o0", "The engine ended.")
    await site.plane.tell(record, Sort.PREEMPTED, "o1", "It was idle.")
    await expect(page.locator(".notice")).to_have_count(1)
    await expect(page.locator(".notice")).to_contain_text("exp-17 was paused to make room")
    await page.locator(".notice").get_by_role("link", name="Look at exp-17").click()
    await page.wait_for_url(f"{site.url}/w/default/exp-17")
    await page.locator(".notice").get_by_role("button", name="Dismiss").click()
    await expect(page.locator(".notice")).to_have_count(0)


async def test_an_administrator_announces_and_takes_back_on_a_page(page: Page, site: Site) -> None:
    await page.goto("/admin/announcements")
    await page.fill("#text", "Upgrade at six.")
    await page.click("#announce")
    row = page.locator("#announcements tbody tr")
    await expect(row).to_contain_text("Upgrade at six.")
    assert await announced(site) == ["Upgrade at six."]
    await row.get_by_role("button", name="Take back").click()
    await expect(row).to_have_count(0)
    assert await announced(site) == []


async def test_an_announcement_may_end_at_a_moment_of_the_reader_s_own_time_zone(chromium: Browser, site: Site) -> None:
    async with logged_in(chromium, site, timezone_id="Asia/Tokyo") as page:
        await page.goto("/admin/announcements")
        await page.fill("#text", "Upgrade at six.")
        await page.fill("#until", "2001-01-01T09:00")
        await page.click("#announce")
        await expect(page.locator("#until-error")).to_have_text("is over already")
        assert await site.plane.announcements() == []
        await page.fill("#until", "2031-05-06T09:00")
        await page.click("#announce")
        await expect(page.locator("#announcements tbody tr")).to_contain_text("Upgrade at six.")
        (made,) = await site.plane.announcements()
        assert made.expires_at == int(datetime(2031, 5, 6, tzinfo=UTC).timestamp() * 1000)


async def test_one_says_on_the_account_page_where_one_is_written_to(page: Page, site: Site) -> None:
    await page.goto("/account")
    await expect(page.locator("#own")).to_contain_text("no address is known")
    await page.fill("#address", "ada@example.org")
    await page.select_option("#contact-language", "pl")
    await page.select_option("#contact-zone", "Europe/Warsaw")
    await page.click("#save-contact")
    await expect(page.locator("#own")).to_contain_text("is sent to ada@example.org")
    kept = await site.store.accounts.account(OWNER)
    assert kept is not None
    assert kept.contact == Contact("ada@example.org", "pl", "Europe/Warsaw")


@pytest.mark.parametrize("language", ["en", "ja", "pl"])
async def test_everybody_can_use_a_notice(chromium: Browser, site: Site, language: str) -> None:
    await let_a_lease_end_soon(site)
    await site.plane.announce("Upgrade at six.")
    async with logged_in(chromium, site, locale=language, viewport={"width": 320, "height": 700}) as page:
        for path in ("/", "/w/default/exp-17"):
            await page.goto(path)
            await expect(page.locator(".notice").first).to_be_visible()
            assert (await Axe().run(page)).violations_count == 0
            assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
