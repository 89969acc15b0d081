"""In front of a workspace that does not run: what a forgotten tab gets, and what a person gets."""

from playwright.async_api import Page, expect

from browser.site import Site
from intermezzo.domain.workspace import Phase, WorkspaceKey

KEY = WorkspaceKey("default", "nightly-report")
DOOR = "/workspace/connect/default/nightly-report/jupyterlab/"


async def test_the_page_says_what_comes_back_and_resumes_only_when_asked(page: Page, site: Site) -> None:
    await page.goto(DOOR)
    await expect(page.locator("h1")).to_contain_text("paused")
    await expect(page.locator("main")).to_contain_text("What comes back")
    await page.reload()
    assert (await site.plane.get(KEY)).phase is Phase.PAUSED
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator("h1")).to_contain_text("starting")
    await expect(page.locator("#announcement")).to_contain_text("starting")


async def test_fr11_what_polls_at_a_paused_workspace_is_refused_and_resumes_nothing(page: Page, site: Site) -> None:
    await page.goto("/")
    polled = "path => fetch(path).then(answer => answer.status)"
    assert {await page.evaluate(polled, f"{DOOR}api/kernels") for _ in range(20)} == {409}
    assert (await site.plane.get(KEY)).phase is Phase.PAUSED


async def test_a_refused_resume_is_told_in_words(page: Page, site: Site) -> None:
    # The page asks how it is by itself, and would go elsewhere as soon as it hears that nothing is left.
    await page.route("**/door/**", lambda route: route.abort())
    await page.goto(DOOR)
    await site.delete(KEY)
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator("#message")).to_contain_text("there is no workspace default/nightly-report")
