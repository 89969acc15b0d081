"""A person at a real browser: follows the link that was printed, clicks what is on the page, reads what it says."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from playwright.sync_api import TimeoutError as TookTooLong

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE_MS = 60_000
LONG_MS = 150_000
TROUBLES: WeakKeyDictionary[BrowserContext, list[str]] = WeakKeyDictionary()
"""By visitor, what went wrong in the browser so far: errors of scripts, requests that failed or were refused."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium without a window."""
    if not CHROMIUM.exists():
        pytest.skip("there is no Chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def visitor(browser: Browser, language: str = "en-GB") -> Page:
    """A person who has never been here: no cookies, nothing cached."""
    context = browser.new_context(locale=language, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    TROUBLES[context] = troubles = []
    context.on("console", lambda said: troubles.append(f"{said.type}: {said.text}") if said.type == "error" else None)
    context.on("weberror", lambda error: troubles.append(f"not caught: {error.error}"))
    context.on("requestfailed", lambda request: troubles.append(f"{request.failure}: {request.url}"))
    context.on(
        "response", lambda answer: troubles.append(f"{answer.status}: {answer.url}") if answer.status >= 400 else None
    )
    return context.new_page()


@contextmanager
def told_why(page: Page) -> Iterator[None]:
    """What does not come in time fails with what the page shows and with all that went wrong in its browser."""
    try:
        yield
    except TookTooLong as error:
        troubles = "\n".join(TROUBLES[page.context])
        shown = page.locator("body").inner_text(timeout=PATIENCE_MS)
        pytest.fail(f"{error}\n{page.url} shows:\n{shown}\n\nwhat went wrong:\n{troubles}")


def log_in(page: Page, link: str) -> None:
    """Follow a login link."""
    page.goto(link)
    expect(page.get_by_role("heading", name="Workspaces")).to_be_visible(timeout=60000)


def expect_state(page: Page, state: str) -> None:
    """The word of the state stands on the workspace's page."""
    expect(page.get_by_role("heading", level=1)).to_contain_text(state, timeout=LONG_MS)


class Lab:
    """A notebook that is open in JupyterLab."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._cells = 0

    def new_notebook(self) -> None:
        """Start one from the launcher, as a person does."""
        with told_why(self.page):
            self.page.locator('.jp-LauncherCard[data-category="Notebook"]').first.click(timeout=LONG_MS)
        expect(self.page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(1, timeout=LONG_MS)
        self.wait_until_idle()

    def run(self, code: str) -> str:
        """Type into the last cell, run it, and give back what it printed."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").nth(self._cells)
        editor = cell.locator(".cm-content")
        editor.click()
        editor.fill(code)
        expect(editor).to_have_text(code, timeout=PATIENCE_MS)
        self.page.locator('[data-command="notebook:run-cell-and-select-next"]').first.click()
        self._cells += 1
        output = cell.locator(".jp-OutputArea-output pre").first
        expect(output).to_have_text(re.compile(r"\S"), timeout=LONG_MS)
        return output.inner_text().strip()

    def wait_until_idle(self) -> None:
        """The status bar is what a person looks at; it says so only once the kernel has answered."""
        expect(self.page.locator("#jp-bottom-panel")).to_contain_text("| Idle", timeout=LONG_MS)
