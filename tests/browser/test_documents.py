"""An administrator applies a kind on its page: what is wrong and what it would do is seen before it is done."""

from pathlib import Path

from playwright.async_api import Page, expect

from browser.site import Site
from intermezzo.kinds import load_shipped_kinds

SHIPPED = load_shipped_kinds()["jupyterlab"].text


async def test_a_kind_is_taken_from_a_file_mended_looked_at_and_applied(page: Page, site: Site, tmp_path: Path) -> None:
    broken = SHIPPED.replace("name: jupyterlab\n", "name: mine\n", 1).replace("home: /home/jovyan", "home: /etc")
    file = tmp_path / "mine.yaml"
    file.write_text(broken)
    await page.goto("/admin/kinds")
    await page.get_by_role("link", name="Apply a kind").click()
    await page.set_input_files("#text-file", file)
    await expect(page.locator("#text")).to_have_value(broken)
    await page.click("#look")
    await expect(page.locator("#text-error")).to_contain_text("spec.podTemplate.volumeMounts.home")
    await page.fill("#text", broken.replace("home: /etc", "home: /home/me"))
    await page.click("#look")
    await expect(page.locator("#review")).to_contain_text("is new")
    await expect(page.locator("#text-error")).to_be_empty()
    assert "mine" not in site.plane.kinds()
    await page.click("#apply")
    await page.wait_for_url("**/admin/kinds")
    await expect(page.get_by_role("row", name="mine")).to_contain_text("applied by")
    assert site.plane.kinds()["mine"].home_mount == "/home/me"


async def test_of_two_who_edit_one_kind_the_later_is_told_and_overwrites_nothing(page: Page, site: Site) -> None:
    edited = {
        name: SHIPPED.replace("displayName: JupyterLab\n", f"displayName: {name}\n", 1) for name in ("A", "B", "C")
    }
    await page.goto("/admin/kinds/by-name/jupyterlab")
    await page.fill("#text", edited["A"])
    await page.click("#look")
    await expect(page.locator("#apply")).to_be_visible()
    await site.plane.conditions.apply(edited["B"], "root")
    for button in ("#apply", "#look"):
        await page.click(button)
        await expect(page.locator("#message")).to_contain_text("jupyterlab has changed since it was read")
        await page.reload()
        await page.fill("#text", edited["C"])
        await site.plane.conditions.apply(edited["A" if button == "#apply" else "B"], "root")
    assert site.plane.kinds()["jupyterlab"].display_name == "B"
    await page.goto("/admin/kinds/by-name/jupyterlab")
    await page.fill("#text", edited["C"])
    await page.click("#look")
    await page.click("#apply")
    await page.wait_for_url("**/admin/kinds")
    assert site.plane.kinds()["jupyterlab"].display_name == "C"


async def test_whom_an_edit_touches_is_seen_and_a_shipped_kind_is_given_back(page: Page, site: Site) -> None:
    key = await site.create("touched", "small")
    await page.goto("/admin/kinds/by-name/jupyterlab")
    await page.fill("#text", SHIPPED.replace("image: intermezzo/jupyterlab:embedded", "image: r/x:2"))
    await page.click("#look")
    row = page.get_by_role("row", name="default/touched")
    await expect(row).to_contain_text("must restart")
    await page.click("#apply")
    await page.wait_for_url("**/admin/kinds")
    await page.goto("/admin/kinds/by-name/jupyterlab")
    await page.click("#take-back summary")
    await page.click("#reset")
    await page.wait_for_url("**/admin/kinds")
    assert site.plane.kinds()["jupyterlab"] == load_shipped_kinds()["jupyterlab"]
    await site.delete(key)
