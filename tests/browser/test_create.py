"""Starting a workspace: everything that matters is said before anything starts."""

import asyncio
from dataclasses import replace

from playwright.async_api import Page, Route, expect

from browser.site import Site
from intermezzo.domain.kind import Redirect
from intermezzo.domain.workspace import WorkspaceKey


async def test_a_workspace_is_made_from_what_was_chosen_and_its_page_opens(page: Page, site: Site) -> None:
    await page.goto("/new")
    await page.fill("#name", "überraschung 1")
    await page.check("input[value=large]")
    await page.click("#start")
    await page.wait_for_url("**/w/default/**")
    await expect(page.locator("h1")).to_contain_text("überraschung 1")
    record = await site.plane.get(WorkspaceKey("default", "überraschung 1"))
    assert (record.spec.pod, record.owner) == ("large", "local")


async def test_a_press_before_the_scripts_have_started_is_carried_out_once_they_have(page: Page, site: Site) -> None:
    started = asyncio.Event()

    async def late(route: Route) -> None:
        await started.wait()
        await route.continue_()

    await page.route("**/vendor/htmx.min.js", late)
    await page.goto("/new", wait_until="commit")
    await page.fill("#name", "early")
    await page.click("#start")
    assert page.url.endswith("/new")
    started.set()
    await page.wait_for_url("**/w/default/early")
    assert (await site.plane.get(WorkspaceKey("default", "early"))).owner == "local"


async def test_a_kind_that_keeps_files_only_says_so_before_anything_starts(page: Page, site: Site) -> None:
    await page.goto("/new")
    before = len(await site.plane.workspaces())
    await expect(page.locator("#outlook")).to_contain_text("Live process: kept.")
    await page.fill("#name", "kept-while-choosing")
    await page.check("input[value=script]")
    await expect(page.locator("#outlook")).to_contain_text("Live process: not kept. A pause here keeps files only")
    assert await page.input_value("#name") == "kept-while-choosing"
    assert len(await site.plane.workspaces()) == before


async def test_the_wait_is_told_before_one_joins_the_queue(page: Page) -> None:
    await page.goto("/new")
    await expect(page.locator("#outlook")).to_contain_text("There is room on gpu-1 now")
    await page.check("input[value=gpu]")
    await expect(page.locator("#outlook")).to_contain_text("It would wait, with 1 ahead")


async def test_an_error_stands_at_its_field_and_nothing_is_made(page: Page, site: Site) -> None:
    await page.goto("/new")
    before = len(await site.plane.workspaces())
    await page.fill("#name", "../etc")
    await page.fill("#home", "/root")
    await page.click("#start")
    await expect(page.locator("#name-error")).to_have_text("must not contain a slash")
    assert await page.evaluate("document.activeElement.id") == "name"
    await page.fill("#name", "good")
    await page.click("#start")
    await expect(page.locator("#home-error")).to_contain_text("must be a volume's name")
    await expect(page.locator("#name-error")).to_be_empty()
    assert len(await site.plane.workspaces()) == before


async def test_a_name_that_is_too_long_is_refused_in_words_and_never_cut(page: Page, site: Site) -> None:
    await page.goto("/new")
    before = len(await site.plane.workspaces())
    await page.locator("#name").press_sequentially("n" * 64)
    await page.check("input[value=large]")
    await page.click("#start")
    await expect(page.locator("#name-error")).to_have_text("must have at most 63 characters, has 64")
    assert await page.input_value("#name") == "n" * 64
    assert len(await site.plane.workspaces()) == before


async def test_a_name_in_use_is_refused_in_words(page: Page) -> None:
    await page.goto("/new")
    await page.fill("#name", "exp-17")
    await page.click("#start")
    await expect(page.locator("#message")).to_contain_text("exp-17")
    assert page.url.endswith("/new")


async def test_an_image_that_should_be_exchanged_says_why_and_offers_the_other(page: Page, site: Site) -> None:
    kind = site.plane.context.kinds["jupyterlab"]
    current = kind.images.values[0]
    text = "Gets no security updates any more."
    retired = replace(current, id="old", display_name="Older", redirect=Redirect(current.id, "Danger", text))
    images = replace(kind.images, values=(current, retired))
    deprecated = replace(kind, images=images, deprecated=True, deprecation_message="Ends in March.")
    site.plane.context.kinds = {**site.plane.context.kinds, "jupyterlab": deprecated}
    await page.goto("/new")
    await expect(page.locator("fieldset.cards")).to_contain_text("Ends in March.")
    advice = page.locator(".level-danger")
    await expect(advice).to_contain_text(text)
    await page.check("input[value=old]")
    await advice.get_by_role("button", name="Take JupyterLab").click()
    await expect(page.locator("input[value=jupyterlab][name='spec.image']")).to_be_checked()
    await expect(advice.get_by_role("button")).to_have_count(0)


async def test_a_kind_that_is_not_prepared_says_what_to_type_before_anything_is_made(page: Page, site: Site) -> None:
    [node] = site.cluster.world.nodes
    site.cluster.world.nodes[:] = [replace(node, environments=("jupyter",))]
    await page.goto("/new")
    await expect(page.locator("#unprepared")).to_have_count(0)
    await page.check("input[value=vscode][name='spec.kind']")
    await expect(page.locator("#unprepared")).to_contain_text("make vscode")
