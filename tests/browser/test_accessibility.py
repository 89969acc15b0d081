"""Everybody can use every page: no violation that axe-core knows, by keyboard, on a narrow screen, at double size."""

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, Page

from browser.site import OWNER, Site, logged_in
from intermezzo.domain.workspace import WorkspaceKey, WorkspaceSpec

PAGES = {
    "list": "/",
    "empty search": "/?text=nothing-is-called-so",
    "new": "/new",
    "volumes": "/volumes",
    "ready and restored": "/w/default/exp-17",
    "ready, with schedules": "/w/default/llm-eval",
    "kept awake": "/w/default/fine-tune",
    "paused": "/w/default/embeddings",
    "failed resume": "/w/default/old-model",
    "failed pause": "/w/default/tables",
    "queued": "/w/default/late-comer",
    "door": "/workspace/connect/default/embeddings/jupyterlab/",
    "administration": "/admin",
    "kinds": "/admin/kinds",
    "a kind": "/admin/kinds/by-name/gpu-session",
    "a policy": "/admin/policies/new",
    "quotas": "/admin/quotas",
    "storage": "/admin/storage",
    "announcements": "/admin/announcements",
    "people": "/admin/people",
    "credentials": "/admin/credentials",
    "audit": "/admin/audit",
    "account": "/account",
    "no such page": "/w/default/no-such-workspace",
    "no such address": "/nothing",
    "an address that is not understood": "/?state=zz",
    "login": "/login",
}
RUNS_OUT_OF_A_CARD = """
    [...document.querySelectorAll(".card")].filter((card) => card.scrollWidth > card.clientWidth).map((card) => card.id)
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ja", "pl"])
async def test_axe_finds_no_violation_on_any_page(chromium: Browser, gallery: Site, language: str, scheme: str) -> None:
    async with logged_in(chromium, gallery, locale=language, color_scheme=scheme) as page:
        for name, path in PAGES.items():
            await page.goto(path)
            assert await page.get_attribute("html", "lang") == language
            for folded in await page.query_selector_all("details"):
                await folded.evaluate("element => element.open = true")
            results = await Axe().run(page)
            assert results.violations_count == 0, f"{name}: {results.generate_report()}"


@pytest.mark.parametrize("width", [320, 640])
async def test_no_page_scrolls_sideways_when_narrow_or_at_twice_the_size(
    chromium: Browser, gallery: Site, width: int
) -> None:
    # 640 wide at a factor of 2 is what a window of 1280 becomes at 200% zoom.
    viewport = {"width": width, "height": 700}
    async with logged_in(chromium, gallery, viewport=viewport, device_scale_factor=2, locale="pl") as page:
        for name, path in PAGES.items():
            await page.goto(path)
            needed = await page.evaluate("document.documentElement.scrollWidth")
            assert needed <= width, name
            assert await page.evaluate(RUNS_OUT_OF_A_CARD) == [], name


@pytest.mark.parametrize("language", ["en", "ja", "pl"])
async def test_the_list_never_scrolls_sideways_in_any_language_with_everybody_s_workspaces(
    chromium: Browser, site: Site, language: str
) -> None:
    spec = WorkspaceSpec("jupyterlab", "", "small")
    await site.plane.create("default", "of-another", "marie.sklodowska-curie@example.org", spec, OWNER)
    async with logged_in(chromium, site, locale=language) as page:
        for path in ("/", "/?sort=held", "/?sort=owner"):
            await page.goto(path)
            for width in (320, 640, 900, 1040, 1041, 1200):
                await page.set_viewport_size({"width": width, "height": 700})
                assert await page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)


async def test_the_tables_of_the_administration_are_stacked_on_a_narrow_screen(
    chromium: Browser, gallery: Site
) -> None:
    async with logged_in(chromium, gallery, viewport={"width": 320, "height": 700}) as page:
        for part in ("", "/kinds", "/quotas", "/storage", "/people", "/credentials", "/audit"):
            await page.goto(f"/admin{part}")
            for table in await page.query_selector_all("table"):
                assert await table.evaluate(
                    "table => table.parentElement.scrollWidth <= table.parentElement.clientWidth"
                )
                cells = await table.query_selector_all("tbody tr:first-child > *")
                tops = [box["y"] for cell in cells if (box := await cell.bounding_box())]
                assert len(cells) > 2, part
                assert tops == sorted(set(tops)), part


async def test_the_first_stop_of_the_keyboard_leads_past_the_navigation(page: Page) -> None:
    await page.goto("/")
    await page.keyboard.press("Tab")
    assert await focused(page) == "Skip to the content"
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "content"


async def test_every_stop_of_the_keyboard_can_be_seen(page: Page) -> None:
    for path in ("/", "/new", "/w/default/exp-17"):
        await page.goto(path)
        stops = 0
        await page.keyboard.press("Tab")
        while await page.evaluate("document.activeElement !== document.body"):
            outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", await focused(page)
            stops += 1
            await page.keyboard.press("Tab")
        assert stops > 10


async def test_a_workspace_is_paused_by_keyboard_alone_and_the_change_is_told(page: Page, site: Site) -> None:
    await page.goto("/w/default/exp-17")
    await page.focus("#do-pause")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#now .state-pausing")
    await site.settle(WorkspaceKey("default", "exp-17"))
    await page.wait_for_selector("#now .state-paused")
    assert await page.text_content("#announcement") == "exp-17: paused"


async def focused(page: Page) -> str:
    """The words on what has the focus."""
    words: str = await page.evaluate("document.activeElement.textContent.trim()")
    return words
