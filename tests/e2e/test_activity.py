"""Tabs left open in a real browser: what they say by themselves is nobody's activity, what a person does is."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from e2e.browser import LONG_MS, Lab, chromium, log_in, visitor
from e2e.installation import STARTS_S, Installation
from intermezzo.domain.activity import PEOPLE, Source
from intermezzo.domain.workspace import Phase
from node.editor import TERMINAL, reason_to_skip
from node.world import until

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]
# JupyterLab asks for kernels and sessions every ten seconds, VS Code pings every five.
LEFT_ALONE_MS = 60_000
QUIET_MS = 70_000  # VS Code takes whoever opened it for active during its first minute


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


class Talk:
    """How much a page has said to its server: requests and websocket messages."""

    def __init__(self, page: Page) -> None:
        self.said = 0
        page.on("request", lambda request: self._add())
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: self._add()))

    def _add(self) -> None:
        self.said += 1


def people_in(shared: Installation, name: str) -> dict[Source, int]:
    """When people last did something in a workspace, by how it was seen."""
    return {each.source: each.at for each in shared.show(name).activity if each.source in PEOPLE}


def quiet(page: Page, shared: Installation, names: Iterable[str]) -> dict[str, dict[Source, int]]:
    """The activity as soon as what was done before has been told and nothing has followed for a while."""
    while True:
        before = {name: people_in(shared, name) for name in names}
        page.wait_for_timeout(QUIET_MS)
        if {name: people_in(shared, name) for name in names} == before:
            return before


@pytest.fixture
def names(shared: Installation, new_name: Callable[..., str]) -> dict[str, str]:
    """A running workspace of each sort of server."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    made = {"jupyterlab": new_name(), "vscode": new_name()}
    with shared.client as client:
        for kind, name in made.items():
            client.create(name, kind=kind)
        for name in made.values():
            client.wait(name, {Phase.RUNNING}, STARTS_S)
    return made


def test_fr03_tabs_left_open_in_the_background_are_nobodys_activity(
    shared: Installation, browser: Browser, names: dict[str, str]
) -> None:
    desk = visitor(browser)
    log_in(desk, shared.login_link())
    notebook = desk.context.new_page()
    talks = [Talk(notebook)]
    notebook.goto(shared.connection(names["jupyterlab"]).base_url + "lab")
    lab = Lab(notebook)
    lab.new_notebook()
    assert lab.run("print(6 * 7)") == "42"
    notebook.keyboard.press("Control+s")
    notebook.get_by_role("button", name="Rename and Save").click()
    editor = desk.context.new_page()
    talks.append(Talk(editor))
    editor.goto(shared.connection(names["vscode"]).base_url)
    expect(editor.locator("#workbench\\.parts\\.statusbar .statusbar-item").first).to_be_visible(timeout=LONG_MS)
    desk.bring_to_front()
    before = quiet(desk, shared, names.values())
    assert Source.CHANNEL in before[names["jupyterlab"]]

    said = [talk.said for talk in talks]
    desk.wait_for_timeout(LEFT_ALONE_MS)
    assert all(talk.said > count for talk, count in zip(talks, said, strict=True)), "the tabs are alive"
    assert {name: people_in(shared, name) for name in names.values()} == before

    notebook.bring_to_front()
    assert lab.run("print(6 * 8)") == "48"
    last = before[names["jupyterlab"]][Source.CHANNEL]
    until(lambda: people_in(shared, names["jupyterlab"])[Source.CHANNEL] > last, "a cell that is run counts", 0.2)
    editor.bring_to_front()
    _type_a_command(editor, shared, "touch typed")
    last = before[names["vscode"]].get(Source.EDITOR, 0)
    until(lambda: people_in(shared, names["vscode"]).get(Source.EDITOR, 0) > last, "what is typed counts", 0.2)


def _type_a_command(page: Page, shared: Installation, command: str) -> None:
    """In VS Code's own terminal; the keys are heard only once the workbench is ready for them."""

    def opened() -> bool:
        page.keyboard.press("Control+Backquote")
        page.wait_for_timeout(5000)
        return page.locator(TERMINAL).first.is_visible()

    until(opened, "a terminal is open", 1)

    def done() -> list[Path]:
        page.locator(TERMINAL).first.click(timeout=LONG_MS)
        page.keyboard.type(f"{command}\n")
        page.wait_for_timeout(500)
        return list((shared.data_dir / "volumes").glob("*/typed"))

    until(done, "the command was run", 1)
