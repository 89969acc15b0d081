"""One's own account, and the pages of those who administer: what is shown once, and what holds at once."""

from playwright.async_api import Browser, Page, expect

from browser.site import Site, logged_in
from intermezzo.domain.access import Role, TeamRole

ME = "/api/intermezzo/v1/me"


async def test_a_token_is_shown_once_works_and_is_worth_nothing_once_revoked(page: Page, site: Site) -> None:
    await page.goto("/account")
    await page.fill("#label", "nightly script")
    await page.check("#scope-write")
    await page.click("#make-token")
    await expect(page.locator("#made-text")).not_to_be_empty()
    token = await page.locator("#made-text").text_content()
    assert token is not None
    await expect(page.locator("#own")).to_contain_text("nightly script")
    program = await page.context.browser.new_context(base_url=site.url)  # type: ignore[union-attr]
    headers = {"Authorization": f"Bearer {token}"}
    assert (await program.request.get(ME, headers=headers)).status == 200
    await page.reload()
    assert token not in await page.content()
    await page.get_by_role("row", name="nightly script").get_by_role("button", name="Revoke").click()
    await expect(page.locator("#own")).not_to_contain_text("nightly script")
    assert (await program.request.get(ME, headers=headers)).status == 401
    await program.close()


async def test_whoever_logs_out_is_led_to_the_login_and_back_to_nothing(page: Page) -> None:
    await page.goto("/account")
    await page.click("#logout")
    await page.wait_for_url("**/login")
    await page.goto("/account")
    await page.wait_for_url("**/login?next=%2Faccount")


async def test_an_administrator_makes_an_account_whose_link_logs_it_in(
    page: Page, site: Site, chromium: Browser
) -> None:
    await page.goto("/admin/people")
    await page.fill("#new-subject", "grace h@x.org")
    await page.get_by_role("button", name="Add").first.click()
    row = page.get_by_role("row", name="grace h@x.org")
    await row.get_by_role("button", name="Login link").click()
    await expect(page.locator("#made-text")).not_to_be_empty()
    link = await page.locator("#made-text").text_content()
    assert link is not None
    window = await chromium.new_context()
    tab = await window.new_page()
    await tab.goto(link)
    await expect(tab.locator("header")).to_contain_text("grace h@x.org")
    await expect(tab.locator("main")).to_contain_text("Nothing here yet")
    await expect(tab.locator("header")).not_to_contain_text("Administration")
    await window.close()


async def test_a_new_team_gets_its_namespaces_and_its_members(page: Page, site: Site) -> None:
    await page.goto("/admin/people")
    await page.fill("#team-name", "vision")
    await page.fill("#team-namespaces", "vision-a\nvision b\n")
    await page.locator("form[aria-labelledby=new-team-title] button").click()
    card = page.locator("section.card", has=page.get_by_role("heading", name="Team vision"))
    await expect(card).to_contain_text("vision b, vision-a")
    await card.get_by_role("button", name="Put in").click()
    await expect(card.locator(".members")).to_contain_text("local member")
    [membership] = [m for m in await site.store.accounts.memberships() if m.team == "vision"]
    assert (membership.subject, membership.role) == ("local", TeamRole.MEMBER)


async def test_a_disabled_account_is_out_at_its_next_request(page: Page, site: Site, chromium: Browser) -> None:
    await site.app.state.people.add_account("grace")
    async with logged_in(chromium, site, subject="grace") as tab:
        await page.goto("/admin/people")
        await page.get_by_role("row", name="grace").get_by_role("button", name="Disable").click()
        await expect(page.get_by_role("row", name="grace")).to_contain_text("disabled")
        await tab.goto("/")
        await tab.wait_for_url("**/login?next=%2F")


async def test_a_role_that_is_refused_is_not_shown_as_if_it_held(page: Page, site: Site) -> None:
    await page.goto("/admin/people")
    role = page.get_by_label("Role of local")
    await role.select_option("user")
    await expect(page.locator("#message")).not_to_be_empty()
    await expect(role).to_have_value("platform-admin")
    [account] = await site.store.accounts.accounts()
    assert account.role is Role.PLATFORM_ADMIN


async def test_an_auditor_sees_everything_and_is_offered_no_change(chromium: Browser, site: Site) -> None:
    await site.app.state.people.add_account("otto", Role.AUDITOR)
    async with logged_in(chromium, site, subject="otto") as tab:
        await expect(tab.locator("tbody tr")).to_have_count(8)
        await expect(tab.locator("tbody input")).to_have_count(0)
        for path in ("/w/default/exp-17", "/admin/people", "/admin/credentials", "/admin/audit"):
            await tab.goto(path)
            offered = tab.locator("[hx-post], [hx-patch], [hx-put], [hx-delete]")
            await expect(offered).to_have_count(0)
        await expect(tab.locator("main")).to_contain_text("Who asked for which change")


async def test_the_language_is_switched_and_stays(page: Page) -> None:
    await page.get_by_role("button", name="日本語").click()
    await expect(page.locator("html")).to_have_attribute("lang", "ja")
    await expect(page.locator("tbody")).to_contain_text("停止中")
    await page.goto("/w/default/exp-17")
    await expect(page.locator("h1")).to_contain_text("利用可能")
