"""What people are told, where they are: in a real JupyterLab, and by a real webhook."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from contract.receivers import Hook, web_server
from e2e.browser import LONG_MS, Lab, chromium, log_in, visitor
from e2e.installation import Installation, installation
from intermezzo.client.notice_models import NoticeShape
from intermezzo.domain.workspace import Phase
from node.world import engine, until

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

SOONER = {r"secondsSinceActive: \d+": "secondsSinceActive: 40", r"minRunningSeconds: \d+": "minRunningSeconds: 0"}
WARNED_SOONER = {r"warnBeforeSeconds: \d+": "warnBeforeSeconds: 30"}
SECRET = "whsec_" + base64.b64encode(bytes(32)).decode()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def hook() -> Iterator[Hook]:
    with web_server() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def told(hook: Hook, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """An installation that tells things to a webhook, with a workspace that runs."""
    secret = tmp_path_factory.mktemp("secret") / "webhook"
    secret.write_text(f"{SECRET}\n")
    for folder in (secret, *list(secret.parents)[:3]):
        folder.chmod(0o755)
    webhook = f'[notify.webhook]\nurl = "{hook.url}"\nsecret_file = "{secret}"\n'
    with installation(f'[engine]\npath = "{engine()}"\n[idle]\nevery_s = 1\n{webhook}') as made:
        made.up()
        yield made


def notebook(browser: Browser, told: Installation, workspace: str) -> Page:
    """A new notebook in a new workspace, as its owner opens it."""
    told.start(workspace)
    page = visitor(browser)
    log_in(page, told.login_link())
    with page.expect_popup() as popup:
        page.get_by_role("link", name=f"Open {workspace}").click()
    Lab(popup.value).new_notebook()
    return popup.value


def mine(told: Installation) -> list[NoticeShape]:
    """What the owner is told now."""
    with told.client as client:
        return client.notices.mine()


def test_the_notebook_tells_what_is_announced_and_a_press_there_dismisses_it(
    told: Installation, browser: Browser, hook: Hook
) -> None:
    tab = notebook(browser, told, "announced")
    toast = tab.locator(".Toastify__toast", has_text="Upgrade at six.")
    made = told.json("announce", "Upgrade at six.")
    expect(toast).to_be_visible(timeout=LONG_MS)
    assert tab.get_by_text("Jupyter news").count() == 0
    toast.get_by_role("button", name="Dismiss").click()
    until(lambda: mine(told) == [], "it is dismissed for good")
    assert [each["id"] for each in told.json("announcements", "list")] == [made["id"]]
    until(lambda: any(each["data"]["text"] == "Upgrade at six." for each in hook.contents()), "the webhook was told")
    told.json("announcements", "end", made["id"])


def test_the_notebook_tells_that_it_is_paused_and_that_the_same_process_goes_on(
    told: Installation, browser: Browser
) -> None:
    tab = notebook(browser, told, "paused")
    lab = Lab(tab)
    said = lab.run("import os; print(os.getpid())")
    told.pause("paused")
    paused = tab.locator(".Toastify__toast", has_text="Paused.")
    expect(paused).to_be_visible(timeout=LONG_MS)
    told.resume("paused")
    expect(tab.locator(".Toastify__toast", has_text="the same process goes on")).to_be_visible(timeout=LONG_MS)
    expect(paused).to_have_count(0)
    assert lab.run("print(os.getpid())") == said


def test_the_notebook_warns_before_an_idle_pause_and_a_press_there_keeps_awake(
    told: Installation, browser: Browser, hook: Hook
) -> None:
    for command, shorter in (("kinds", SOONER), ("policies", WARNED_SOONER)):
        document = told.run(command, "show", "jupyterlab").stdout
        for pattern, replacement in shorter.items():
            document, count = re.subn(pattern, replacement, document)
            assert count, f"{pattern} is not in {document}"
        (told.folder / f"{command}.yaml").write_text(document)
        told.json(command, "apply", str(told.folder / f"{command}.yaml"))
    tab = notebook(browser, told, "idle")
    warning = tab.locator(".Toastify__toast", has_text="idle will be paused at")
    expect(warning).to_be_visible(timeout=LONG_MS)
    assert told.show("idle").phase is Phase.RUNNING
    until(lambda: "notice.idle-pause" in {each["type"] for each in hook.contents()}, "the webhook was told")
    warning.get_by_role("button", name="Keep awake 2 h").click()
    expect(tab.locator(".Toastify__toast", has_text="Kept awake until")).to_be_visible(timeout=LONG_MS)
    expect(warning).to_have_count(0)
    assert "kept_awake" in told.events("idle")
    assert "idle" not in {notice.name for notice in mine(told)}


def test_a_secret_stands_in_no_log_and_in_no_setting_that_is_shown(told: Installation) -> None:
    logs = [file.read_text() for file in (told.data_dir / "run").rglob("*.log")]
    assert logs
    shown = told.run("config", "show").stdout
    assert all(SECRET not in text and SECRET[6:] not in text for text in (*logs, shown))
    assert not any(SECRET in file.read_text(errors="replace") for file in Path(told.data_dir / "run").glob("*.json"))
