"""Pictures of the main pages for people who read the documentation, taken of what the tests look at.

They lie in build/screenshots. With INTERMEZZO_DOCS_IMAGES=1 they are written to docs/images as well.
"""

import os
from pathlib import Path

import pytest
from playwright.async_api import Browser

from browser.site import Site, logged_in

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build" / "screenshots"
PUBLISHED = ROOT / "docs" / "images"
PNG = b"\x89PNG"

PICTURES = {
    "workspaces": ("/", "light"),
    "new-workspace": ("/new", "light"),
    "workspace-ready": ("/w/default/exp-17", "light"),
    "workspace-activity": ("/w/default/llm-eval", "light"),
    "workspace-paused": ("/w/default/embeddings", "dark"),
    "workspace-failed-resume": ("/w/default/old-model", "light"),
    "paused-door": ("/workspace/connect/default/embeddings/jupyterlab/", "light"),
    "administration": ("/admin", "light"),
    "quotas": ("/admin/quotas", "light"),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_a_picture_is_taken(chromium: Browser, gallery: Site, name: str) -> None:
    path, scheme = PICTURES[name]
    async with logged_in(chromium, gallery, color_scheme=scheme, viewport={"width": 1200, "height": 800}) as page:
        await page.goto(path)
        await page.wait_for_selector("h1")
        picture = await page.screenshot(full_page=True, caret="initial")
    for folder in (BUILT, *([PUBLISHED] if os.environ.get("INTERMEZZO_DOCS_IMAGES") else [])):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.png").write_bytes(picture)
    assert picture.startswith(PNG)
