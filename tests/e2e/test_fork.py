"""A session that took long to reach is forked by mouse, and both go on: each in its own browser tab, as itself."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from e2e.browser import LONG_MS, Lab, chromium, expect_state, log_in, visitor
from e2e.installation import Installation
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.workspace import Phase

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def test_a_fork_is_made_on_the_page_and_opens_in_a_browser_as_itself(
    shared: Installation, browser: Browser, new_name: Callable[..., str]
) -> None:
    name, fork = new_name(), new_name()
    shared.start(name, "small")
    shared.cell(name, "import os, random; random.seed(7); x = os.urandom(8).hex(); open('notes.txt', 'w').write('one')")
    said = shared.cell(name, "print(x)").text
    assert shared.pause(name).phase is Phase.PAUSED

    page = visitor(browser)
    log_in(page, shared.login_link())
    page.goto(f"{shared.url}/w/default/{name}")
    page.get_by_text("Fork …").click()
    page.get_by_label("Name of the fork").fill(fork)
    page.get_by_role("button", name="Start the fork").click()
    expect(page).to_have_url(f"{shared.url}/w/default/{fork}", timeout=LONG_MS)
    expect_state(page, "ready")
    expect(page.get_by_text("a fork, with an identity of its own")).to_be_visible()
    found = shared.show(fork)
    assert found.continuity and found.continuity.verdict is Verdict.FORKED

    # In the kernel that was forked: the state, and neither the original's draws nor its files.
    assert shared.cell(fork, "print(x)").text == said
    drawn = shared.cell(fork, "print(random.random())").text
    shared.cell(fork, "open('notes.txt', 'w').write('two')")
    again = shared.resume(name)
    assert again.continuity and again.continuity.verdict is Verdict.RESTORED
    assert shared.cell(name, "print(random.random())").text.strip() == "0.32383276483316237" != drawn.strip()
    assert shared.cell(name, "print(open('notes.txt').read())").text.strip() == "one"

    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open", exact=True).click()
    tab = popup.value
    lab = Lab(tab)
    lab.new_notebook()
    assert lab.run("import os; print(os.environ['NB_PREFIX'])").endswith(f"/default/{fork}/jupyterlab")
    tab.keyboard.press("Control+s")
    tab.get_by_role("button", name="Rename and Save").click()
    tab.reload()
    lab.wait_until_idle()
    assert lab.run("print(open('notes.txt').read())") == "two"
    assert asked and not [url for url in asked if f"/default/{name}/" in url]
