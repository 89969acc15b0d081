"""The evening and the morning after, by mouse and keyboard: nothing here knows an address that is not on a page."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from e2e.browser import LONG_MS, Lab, chromium, expect_state, log_in, visitor
from e2e.installation import Installation
from intermezzo.domain.workspace import Phase
from node.world import until

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def create(page: Page, name: str, namespace: str = "") -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name="New workspace").click()
    page.get_by_label("Name", exact=True).fill(name)
    if namespace:
        page.get_by_label("Namespace").fill(namespace)
    page.get_by_role("button", name="Start workspace").click()
    expect_state(page, "ready")


def opened(page: Page) -> Page:
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open", exact=True).click()
    return popup.value


def test_an_experiment_is_stopped_in_the_evening_and_goes_on_in_the_morning(
    shared: Installation, browser: Browser, new_name: Callable[..., str]
) -> None:
    name = new_name()
    page = visitor(browser)
    log_in(page, shared.login_link())
    create(page, name)

    tab = opened(page)
    lab = Lab(tab)
    lab.new_notebook()
    assert lab.run("import os, random; x = random.random(); print(os.getpid(), x)")
    said = lab.run("print(os.getpid(), x)")

    page.get_by_role("button", name="Pause", exact=True).click()
    expect_state(page, "paused")
    assert shared.footprint.of(shared.show(name).uid) == []

    another = page.context.new_page()
    another.goto(tab.url)
    expect(another.get_by_text("paused").first).to_be_visible()
    assert shared.show(name).phase is Phase.PAUSED
    another.get_by_role("button", name="Resume").click()
    expect(another.locator(".jp-LabShell, #jupyter-config-data").first).to_be_attached(timeout=LONG_MS)

    expect_state(page, "ready")
    expect(page.get_by_text("restored, same process")).to_be_visible()
    tab.bring_to_front()
    assert lab.run("print(os.getpid(), x)") == said


@pytest.fixture
def teams(shared: Installation) -> None:
    """Ada is in the red team, Bob administers the blue one."""
    for arguments in (
        ("users", "add", "ada"),
        ("users", "add", "bob"),
        ("teams", "add", "red", "--namespace", "red"),
        ("teams", "add", "blue", "--namespace", "blue"),
        ("teams", "join", "red", "ada"),
        ("teams", "join", "blue", "bob", "--role", "admin"),
    ):
        done = shared.run(*arguments)
        assert done.returncode == 0, done.stderr


def test_two_people_of_two_teams_never_meet(
    shared: Installation, browser: Browser, new_name: Callable[..., str], teams: None
) -> None:
    name = new_name("red/hers")
    ada, bob = visitor(browser), visitor(browser)
    log_in(ada, shared.login_link_for("ada"))
    log_in(bob, shared.login_link_for("bob"))
    create(ada, "hers", "red")
    tab = opened(ada)
    expect(tab).to_have_title(re.compile("JupyterLab"), timeout=LONG_MS)

    assert bob.get_by_text("hers").count() == 0
    for address in (ada.url, tab.url, f"{tab.url.partition('/lab')[0]}/api/kernels"):
        answer = bob.goto(address)
        assert answer
        assert answer.status == 404
    stolen = bob.request.post(f"{shared.url}/api/intermezzo/v1/workspaces/red/hers/pause")
    assert stolen.status in {403, 404}
    assert shared.show(name).phase is Phase.RUNNING

    ada.goto(f"{shared.url}/account")
    ada.get_by_role("button", name="Log out").click()
    expect(ada.get_by_role("heading", name="Log in")).to_be_visible(timeout=LONG_MS)
    until(lambda: bool(tab.reload()) and "/login" in tab.url, "the open tab leads to the login")
