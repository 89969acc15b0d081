"""Volumes in the browser: made, mounted in a new workspace, named on its page, deleted."""

from playwright.async_api import Page, expect

from browser.site import OWNER, Site
from intermezzo.domain.mounts import DataVolume
from intermezzo.domain.workspace import WorkspaceKey


async def test_a_data_volume_is_made_and_mounted_where_it_was_asked_for(page: Page, site: Site) -> None:
    await site.plane.volumes.create("default", "archive", OWNER)
    await page.goto("/volumes")
    await page.fill("#new-name", "corpus")
    await page.click("#make-volume")
    await expect(page.locator("#volumes")).to_contain_text("default/corpus")

    await page.goto("/new")
    await page.fill("#name", "reader")
    await expect(page.locator("#data")).to_contain_text("archive")
    await expect(page.get_by_label("Path of corpus")).to_be_hidden()
    await page.get_by_label("corpus shared in its namespace").check()
    await page.get_by_label("Path of corpus").fill("/etc")
    await page.get_by_label("Access to corpus").select_option("read only")
    await page.click("#start")
    await expect(page.locator("#data-error")).to_contain_text("/etc is in the way of the system's own directories")
    await page.get_by_label("Path of corpus").fill("/mnt/corpus")
    await page.check("input[value=large]")
    await expect(page.get_by_label("Path of corpus")).to_have_value("/mnt/corpus")
    await page.click("#start")
    await page.wait_for_url("**/w/default/reader")
    record = await site.plane.get(WorkspaceKey("default", "reader"))
    assert (record.spec.pod, record.spec.data) == ("large", (DataVolume("corpus", "/mnt/corpus", read_only=True),))
    await expect(page.locator("dl.layers")).to_contain_text("data volume corpus at /mnt/corpus, read only")
    await expect(page.locator("dl.layers")).to_contain_text(f"home volume {record.home_name}")


async def test_ones_own_homes_that_rest_are_offered(page: Page, site: Site) -> None:
    key = await site.create("short-lived")
    name = (await site.plane.get(key)).home_name
    await page.goto("/new")
    assert await page.locator(f"#homes option[value={name}]").count() == 0
    await site.delete(key)
    await page.goto("/new")
    assert await page.locator(f"#homes option[value={name}]").count() == 1


async def test_a_volume_is_deleted_once_nothing_uses_it(page: Page, site: Site) -> None:
    await site.plane.volumes.create("default", "corpus", OWNER)
    await page.goto("/volumes")
    row = page.locator("tr", has_text="default/corpus")
    await row.locator("summary").click()
    async with page.expect_response("**/volumes/default/corpus"):
        await row.get_by_role("button", name="Delete corpus").click()
    await site.plane.volumes.clear()
    await page.reload()
    await expect(page.locator("#volumes")).not_to_contain_text("default/corpus")


async def test_what_is_used_says_by_whom_and_offers_no_deletion(page: Page, site: Site) -> None:
    home = (await site.plane.get(WorkspaceKey("default", "exp-17"))).home_name
    await page.goto("/volumes")
    row = page.locator("tr", has_text=home)
    await expect(row.get_by_role("link", name="default/exp-17")).to_be_visible()
    await row.locator("summary").click()
    await expect(row).to_contain_text("It cannot be deleted while a workspace uses it.")
    await expect(row.get_by_role("button", name="Delete")).to_have_count(0)
