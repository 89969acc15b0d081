"""What a person is about to write is theirs: a page that is filled anew under their hands takes nothing of it."""

import pytest
from playwright.async_api import Page, expect

from browser.site import Site
from intermezzo.domain.workspace import WorkspaceKey

EXP = WorkspaceKey("default", "exp-17")


async def filled_anew(page: Page, part: str) -> None:
    """Have the page asked for again, and wait until that part of it is another."""
    before = await page.wait_for_selector(part)
    assert before is not None
    await page.evaluate("htmx.trigger(document.body, 'refresh')")
    await before.wait_for_element_state("hidden")


async def test_what_is_typed_and_where_stays_under_a_page_that_is_filled_anew(page: Page, site: Site) -> None:
    await site.pause(EXP)
    await page.goto("/w/default/exp-17")
    await page.get_by_text("Fork …").first.focus()
    await filled_anew(page, "#past")
    await page.keyboard.press("Enter")
    name = page.get_by_label("Name of the fork").first
    await name.focus()
    await page.keyboard.type("exp-7")
    await page.keyboard.press("ArrowLeft")
    await filled_anew(page, "#past")
    await page.keyboard.type("1")
    await expect(name).to_have_value("exp-17")
    await expect(name).to_be_focused()


async def test_what_is_chosen_stays_until_it_is_sent_and_then_the_page_shows_what_came_of_it(page: Page) -> None:
    await page.goto("/admin/people")
    await page.fill("#new-subject", "grace@x.org")
    await page.select_option("#new-role", "auditor")
    await page.fill("#team-name", "vision")
    await filled_anew(page, "#people")
    await expect(page.locator("#new-subject")).to_have_value("grace@x.org")
    await expect(page.locator("#new-role")).to_have_value("auditor")
    await page.get_by_role("button", name="Add").first.click()
    await expect(page.get_by_role("row", name="grace@x.org")).to_be_visible()
    await expect(page.locator("#new-subject")).to_have_value("")
    await expect(page.locator("#team-name")).to_have_value("vision")
    await page.fill("#new-subject", "grace@x.org")
    await filled_anew(page, "#people")
    await expect(page.locator("#new-subject")).to_have_value("grace@x.org")


async def test_why_a_field_was_refused_stays_until_the_next_try(page: Page) -> None:
    await page.goto("/admin/announcements")
    await page.fill("#text", "Upgrade at six.")
    await page.fill("#until", "2020-01-01T06:00")
    await page.click("#announce")
    await expect(page.locator("#until-error")).not_to_be_empty()
    await filled_anew(page, "#announcements")
    await expect(page.locator("#until-error")).not_to_be_empty()
    await expect(page.locator("#until")).to_have_attribute("aria-invalid", "true")
    await expect(page.locator("#until")).to_have_value("2020-01-01T06:00")
    await page.fill("#until", "")
    await page.click("#announce")
    await expect(page.get_by_role("row", name="Upgrade at six.")).to_be_visible()
    await expect(page.locator("#until-error")).to_be_empty()


async def test_what_is_written_for_one_team_does_not_become_anothers_that_takes_its_place(page: Page) -> None:
    await page.goto("/admin/people")
    await page.fill("#team-name", "vision")
    await page.locator("#new-team-title + form button").click()
    written = page.get_by_role("form", name="Namespaces of vision").get_by_role("textbox")
    await written.fill("vision-a")
    await page.fill("#team-name", "audio")
    await page.locator("#new-team-title + form button").click()
    await expect(page.get_by_role("heading", name="Team audio")).to_be_visible()
    await expect(written).to_have_value("vision-a")
    await expect(page.get_by_role("form", name="Namespaces of audio").get_by_role("textbox")).to_have_value("")


@pytest.mark.parametrize("pressed_by", ["finger", "space bar"])
async def test_a_button_stays_until_it_is_pressed_and_then_the_page_catches_up(
    page: Page, site: Site, pressed_by: str
) -> None:
    await site.pause(EXP)
    await page.goto("/w/default/exp-17")
    pin = page.get_by_role("button", name="Pin").first
    if pressed_by == "finger":
        await pin.hover()
        await page.mouse.down()
    else:
        await pin.focus()
        await page.keyboard.down(" ")
    before = await page.wait_for_selector("#past")
    assert before is not None
    async with page.expect_response(lambda answer: answer.url.endswith("/exp-17/past")):
        await page.evaluate("htmx.trigger(document.body, 'refresh')")
    assert await before.is_visible()
    await (page.mouse.up() if pressed_by == "finger" else page.keyboard.up(" "))
    await expect(page.get_by_role("button", name="Unpin").first).to_be_visible()


async def test_an_input_method_is_let_finish_its_word(page: Page, site: Site) -> None:
    await page.goto("/admin/announcements")
    text = page.get_by_role("textbox").first
    await text.focus()
    typing = await page.context.new_cdp_session(page)
    await typing.send("Input.imeSetComposition", {"text": "こうか", "selectionStart": 3, "selectionEnd": 3})
    async with page.expect_response(lambda answer: answer.url.endswith("/admin/announcements")):
        await page.evaluate("htmx.trigger(document.body, 'refresh')")
    await expect(text).to_have_value("こうか")
    await typing.send("Input.insertText", {"text": "公開"})
    await expect(text).to_have_value("公開")
    await expect(text).to_be_focused()
