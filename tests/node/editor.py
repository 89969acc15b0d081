"""A person at VS Code in a sandbox: a real browser behind a door, the terminal, and the guest's interface."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, sync_playwright

from intermezzo.domain.continuity import Witness, WitnessReport
from intermezzo.domain.orders import Endpoint, Observed, SandboxSpec
from intermezzo.domain.server import Server
from node.door import Door
from node.world import TOKEN, Node, environments, specification, until

PREFIX = "/workspace/connect/team/editor/vscode"
HEADERS = {"Authorization": f"token {TOKEN}"}
CHROMIUM = Path("/usr/bin/chromium")
APPEARS_MS = 120_000
TERMINAL = ".terminal-wrapper .xterm"


def reason_to_skip() -> str:
    """Why VS Code cannot be tried here; empty if it can."""
    prepared = environments()["vscode"]
    if prepared is None or not (prepared / "share/code-server/package-lock.json").is_file():
        return "VS Code is not prepared (make vscode)"
    return "" if CHROMIUM.exists() else "Chromium is not installed (apt-get install chromium)"


def editor_specification(volume: str, **changes: Any) -> SandboxSpec:
    """A sandbox for VS Code."""
    kind: dict[str, Any] = {"environment": "vscode", "server": Server.CODE_SERVER, "base_path": "/"}
    return specification(volume, **kind, env={"NB_PREFIX": PREFIX}, **changes)


class Editor:
    """One session as seen from the host."""

    def __init__(self, node: Node, uid: str, volume: str, observed: Observed) -> None:
        assert observed.sandbox
        self._node = node
        self._uid = uid
        self.home = node.configuration.volumes_dir / volume
        self.endpoint: Endpoint = observed.sandbox.endpoint

    def get(self, path: str, headers: dict[str, str]) -> httpx.Response:
        address = f"http://{self.endpoint.host}:{self.endpoint.port}{path}"
        return httpx.get(address, headers=headers, timeout=60, trust_env=False)

    def plant(self, nonce: str) -> WitnessReport:
        return self._report("POST", {"nonce": nonce})

    def witness(self) -> WitnessReport:
        return self._report("GET", None)

    def processes(self) -> dict[str, int]:
        """Start times of what belongs to the editor and its terminals, by pid and kind of process."""
        command = (
            "for p in /proc/[0-9]*; do echo ${p#/proc/} $(cut -d' ' -f22 $p/stat) $(tr '\\0' ' ' <$p/cmdline); done"
        )
        code, told = self._node.execute(self._uid, "sh", "-c", f"{command} 2>/dev/null")
        assert code == 0, told
        kinds = ("entry", "--type=extensionHost", "--type=ptyHost", "shellIntegration")
        lines = [line.split(maxsplit=2) for line in told.splitlines() if len(line.split(maxsplit=2)) == 3]
        return {f"{pid} {kind}": int(at) for pid, at, words in lines for kind in kinds if f"{kind}" in words}

    def reads(self, name: str) -> str:
        """A file in home, on the host's own disk; empty while it is not there."""
        file = self.home / name
        return file.read_text().strip() if file.exists() else ""

    def _report(self, method: str, content: Any) -> WitnessReport:
        address = f"http://{self.endpoint.host}:{self.endpoint.guest_port}/witness"
        answer = httpx.request(method, address, headers=HEADERS, json=content, timeout=60, trust_env=False)
        found = answer.raise_for_status().json()
        return WitnessReport(found["at"], tuple(Witness(**w) for w in found["witnesses"]), found["last_activity"])


class Tab:
    """VS Code open in a browser, with one terminal."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def open_terminal(self) -> None:
        """A terminal that takes what is typed; the keys are heard only once the workbench is ready for them."""

        def opened() -> bool:
            self._page.keyboard.press("Control+Backquote")
            self._page.wait_for_timeout(5000)
            return self._page.locator(TERMINAL).first.is_visible()

        until(opened, "a terminal is open", 1)

    def type_in(self, line: str) -> None:
        """Type a line into the terminal."""
        self._page.locator(TERMINAL).first.click(timeout=APPEARS_MS)
        self._page.keyboard.type(f"{line}\n")

    def say(self, editor: Editor, line: str, name: str) -> str:
        """Type a command, as often as it takes for the tab to be connected, and read what it wrote to a file."""

        def written() -> str:
            self.type_in(f"{line} > {name}")
            self._page.wait_for_timeout(500)
            return editor.reads(name)

        return until(written, f"{line!r} wrote something", 1)


@contextmanager
def tab(editor: Editor) -> Iterator[Tab]:
    """A browser with VS Code in it, as it comes up through the gateway."""
    with Door(editor.endpoint, TOKEN, PREFIX) as door, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            page = browser.new_page()
            page.goto(door.url, timeout=APPEARS_MS)
            page.locator("#workbench\\.parts\\.statusbar .statusbar-item").first.wait_for(timeout=APPEARS_MS)
            yield Tab(page)
        finally:
            browser.close()
