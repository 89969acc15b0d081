"""A real browser in front of a furnished site. Skips, saying so, where there is no Chromium."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from browser.site import Site, logged_in, serving

CHROMIUM = Path("/usr/bin/chromium")
INSTALLED = CHROMIUM.exists()


HERE = Path(__file__).parent

expect.set_options(timeout=30_000)  # how long it may take at most, on a machine that does much else


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One event loop for all of these tests, so that one browser serves them all."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """Debian's Chromium."""
    if not INSTALLED:
        pytest.skip(f"there is no {CHROMIUM}; install Debian's package `chromium`")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def gallery() -> AsyncIterator[Site]:
    """The same, only to be looked at: tests that change nothing share it."""
    site = Site()
    async with serving(site):
        await site.furnish()
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncIterator[Site]:
    """An installation in which something is in every state."""
    site = Site()
    async with serving(site):
        await site.furnish()
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium: Browser, site: Site) -> AsyncIterator[Page]:
    """A logged-in tab on the list. An error in its script, or anything that the page's own policy stops, fails."""
    async with logged_in(chromium, site) as tab:
        yield tab
