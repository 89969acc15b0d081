"""Nothing on our pages needs what their own policy forbids, and a page that did would not go unnoticed."""

import pytest
from playwright.async_api import Browser

from browser.site import STOPPED, Site, logged_in


async def test_a_style_that_the_policy_stops_fails_the_test_that_met_it(chromium: Browser, gallery: Site) -> None:
    with pytest.raises(AssertionError, match=STOPPED):
        async with logged_in(chromium, gallery) as page:
            await page.evaluate("document.body.setAttribute('style', 'color: red')")


@pytest.mark.parametrize("path", ["/", "/w/default/exp-17", "/w/default/old-model"])
async def test_a_page_that_is_filled_anew_asks_for_nothing_that_the_policy_stops(
    chromium: Browser, gallery: Site, path: str
) -> None:
    async with logged_in(chromium, gallery) as page:
        await page.goto(path)
        async with page.expect_event("console", lambda message: message.text == "settled"):
            await page.evaluate("""
                document.addEventListener("htmx:afterSettle", () => console.log("settled"));
                htmx.trigger(document.querySelector("#list") ?? document.body, "refresh");
            """)
        assert await page.locator("[style]").count() == 0
