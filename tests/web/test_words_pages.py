"""Whole pages in each language: they say which it is, and nothing that a person reads or hears is left in English."""

import re
from html.parser import HTMLParser

import httpx
import pytest

from intermezzo.domain.orders import Problem
from intermezzo.domain.transfer import Transfer, TransferStep
from intermezzo.web.auth.credentials import Credentials
from intermezzo.web.words.catalog import LANGUAGES
from web.conftest import log_in
from web.simulated import Simulated
from web.test_workspaces import WORKSPACES, reach

HEARD = ("aria-label", "title", "placeholder", "alt", "data-label", "data-words", "data-done")
UNREAD = {"script", "style", "pre", "code", "time"}
VOID = {"input", "meta", "link", "img", "br", "hr", "wbr", "col"}
COMMON = "an|the|of|is|are|it|its|in|and|or|not|this|that|for|with|from|be|can|now|here|what|where|which|new|last"
ENGLISH = re.compile(rf"(?:\b[A-Za-z]+ )?\b(?:{COMMON})\b(?: [a-z]+)?(?= |$)", re.IGNORECASE)
KEPT = ("intermezzo up", "intermezzo open", "make setup", "make vscode", "JupyterLab")

PAGES = [
    "/",
    "/?state=Paused",
    "/?text=nothing",
    "/new",
    "/new?kind=script",
    "/w/default/ready",
    "/w/default/paused",
    "/w/default/refused",
    "/w/default/broken",
    "/w/default/script",
    "/w/default/nowhere",
    "/workspace/connect/default/paused/jupyterlab/lab",
    "/account",
    "/admin",
    "/admin/people",
    "/admin/credentials",
    "/admin/audit",
    "/login",
]


class Reader(HTMLParser):
    """What a person reads on a page, or hears from it, apart from what is meant for a machine."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.language = ""
        self._within: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "html":
            self.language = values.get("lang") or ""
        if tag != "time":
            self.texts += [value for name in HEARD if (value := values.get(name))]
        if tag not in VOID:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._within and self._within.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not UNREAD & set(self._within):
            self.texts.append(" ".join(data.split()))


async def made(api: httpx.AsyncClient, name: str, kind: str = "jupyterlab", state: str = "Running") -> str:
    """A workspace in that state; its address."""
    answer = await api.post(WORKSPACES, json={"name": name, "spec": {"kind": kind}})
    path = str(answer.headers["Location"])
    await reach(api, path, state)
    return path


async def on_their_way(world: Simulated, api: httpx.AsyncClient, path: str) -> None:
    """Its snapshot is in a store, encrypted, and being worked on."""
    detail = (await api.get(path)).json()
    uid, snapshot_id = detail["uid"], detail["snapshot"]["id"]
    world.cluster.world.amend(uid, snapshot_id, stored_in="s3://bucket", stored_at=1, encrypted_bytes=9)
    world.cluster.world.transfers[uid] = [Transfer(snapshot_id, TransferStep.SENDING, 250, 1000, 100)]


@pytest.fixture
async def varied(world: Simulated, api: httpx.AsyncClient) -> None:
    """Workspaces in the states that last, and what goes wrong most often."""
    world.cluster.faults.fail_next("start", Problem("engine_failure", "the server ended at once"))
    await made(api, "broken", state="Failed")
    await made(api, "ready")
    await made(api, "script", "script")
    paused = await made(api, "paused")
    await api.post(f"{paused}/pause")
    await reach(api, paused, "Paused")
    await on_their_way(world, api, paused)
    refused = await made(api, "refused")
    full = Problem("not_enough_space", "the disk for snapshots is full", "Free some space, then try again.", "ENOSPC")
    world.cluster.faults.fail_next("pause", full)
    await api.post(f"{refused}/pause")
    await reach(api, refused, "Running")


def english(page: str) -> list[str]:
    """What is left in English."""
    left = []
    for text in Reader(page).texts:
        for kept in KEPT:
            text = text.replace(kept, "")
        left += ENGLISH.findall(text)
    return left


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.usefixtures("varied")
async def test_a_whole_page_is_in_its_readers_language(
    browser: httpx.AsyncClient, credentials: Credentials, language: str
) -> None:
    await log_in(browser, credentials)
    for path in PAGES:
        page = await browser.get(path, headers={"Accept-Language": language, "Sec-Fetch-Mode": "navigate"})
        assert "text/html" in page.headers["Content-Type"], path
        assert Reader(page.text).language == language, path
        assert language == "en" or english(page.text) == [], (path, language)
