"""VS Code by the public ways in: the command line, the gateway, a browser."""

import re
from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from e2e.browser import LONG_MS, chromium, expect_state, log_in, visitor
from e2e.installation import STARTS_S, Installation, installation
from intermezzo.domain.workspace import Phase
from node.editor import TERMINAL, reason_to_skip
from node.world import until

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def editor(shared: Installation, new_name: Callable[..., str]) -> str:
    """A running workspace with VS Code."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    name = new_name()
    with shared.client as client:
        client.create(name, kind="vscode")
        client.wait(name, {Phase.RUNNING}, STARTS_S)
    return name


def test_what_is_not_prepared_is_refused_before_anything_is_made() -> None:
    with installation() as fresh:
        fresh.file.write_text(re.sub(r'vscode = ".*"', f'vscode = "{fresh.folder}/nothing"', fresh.file.read_text()))
        fresh.up()
        refused = fresh.run("create", "editor", "--kind", "vscode")
        assert refused.returncode != 0
        assert "VS Code is not prepared on this machine yet" in refused.stderr
        assert "make vscode" in refused.stderr
        assert fresh.json("list") == []


def test_code_cannot_be_run_in_it_and_that_is_said(shared: Installation, editor: str) -> None:
    refused = shared.run("run", editor, "-c", "print(1)")
    assert refused.returncode != 0
    assert "no kernel" in refused.stderr
    assert shared.json("pause", editor)["paused"]
    resumed = shared.json("resume", editor)
    assert (resumed["phase"], resumed["continuity"]["verdict"]) == ("Running", "restored")


def test_nobody_without_a_login_sees_it(shared: Installation, editor: str) -> None:
    """Neither through the gateway nor, past it, at the sandbox's own address."""
    link = shared.connection(editor).base_url
    assert httpx.get(link, trust_env=False, follow_redirects=False).status_code in (303, 307, 401, 404)
    answered = httpx.get(f"{link}healthz", trust_env=False, follow_redirects=False, headers={"Accept": "*/*"})
    assert answered.status_code != 200


def test_an_editor_is_stopped_in_the_evening_and_its_terminal_goes_on_in_the_morning(
    shared: Installation, browser: Browser, editor: str
) -> None:
    page = visitor(browser)
    log_in(page, shared.login_link())
    page.get_by_role("link", name=editor).first.click()
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open", exact=True).click()
    tab = popup.value
    expect(tab.locator("#workbench\\.parts\\.statusbar .statusbar-item").first).to_be_visible(timeout=LONG_MS)
    _open_terminal(tab)
    volume = next(
        path for path in (shared.data_dir / "volumes").iterdir() if (path / ".local/share/code-server").is_dir()
    )

    def say(line: str, name: str) -> str:
        def written() -> str:
            tab.locator(TERMINAL).first.click(timeout=LONG_MS)
            tab.keyboard.type(f"{line} > {name}\n")
            tab.wait_for_timeout(500)
            return (volume / name).read_text() if (volume / name).exists() else ""

        return until(written, f"{line} was run", 1)

    # Typed again where nothing came of it: the value must be the same however often the line is run.
    said = say("x=${x:-$RANDOM}; echo $$ $x", "before")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect_state(page, "paused")
    page.get_by_role("button", name="Resume").first.click()
    expect_state(page, "ready")
    expect(page.get_by_text("restored, same process")).to_be_visible()
    tab.bring_to_front()
    assert say("echo $$ $x", "after") == said


def _open_terminal(tab: Page) -> None:
    def opened() -> bool:
        tab.keyboard.press("Control+Backquote")
        tab.wait_for_timeout(5000)
        return tab.locator(TERMINAL).first.is_visible()

    until(opened, "a terminal is open", 1)
