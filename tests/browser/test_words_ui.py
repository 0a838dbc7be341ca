"""The words of the search field above jobs in a real Chromium: what is suggested, and the keys that choose."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.parts.broker import failed
from tests.parts.operator import ask, barriers, row, sign_in
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="session")

VIDEO = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "12345678901"}}
WISH = {"owner": "crawler", "platforms": ["youtube"], "ttl_seconds": 600}


@pytest.fixture(scope="module")
def filled(server: Leasehold) -> Leasehold:
    """One job that failed, one that is tried again, one that waits."""
    for job, code in (("worded-dead", "not_found"), ("worded-again", "timeout")):
        ask(server, "POST", "/v2/jobs", {**VIDEO, "job_id": job, "priority": 9, "run_id": "run-of-words"})
        (lease,) = ask(server, "POST", "/v2/tasks/acquire", WISH)["leases"]
        ask(server, "POST", "/v2/tasks/results", {"items": [failed(lease, code)]})
    ask(server, "POST", "/v2/jobs", {**VIDEO, "job_id": "worded-waiting"})
    return server


async def field_of(page: Page, server: Leasehold) -> Locator:
    await sign_in(page, server.token, "/ui/jobs")
    await expect(row(page, "worded-waiting")).to_be_visible()
    field = page.get_by_role("combobox", name="Search jobs")
    await field.focus()
    await expect(field).to_have_attribute("aria-expanded", "true")
    return field


def options(page: Page) -> Locator:
    return page.get_by_role("listbox", name="What could be typed").get_by_role("option")


async def chosen(page: Page, field: Locator) -> str | None:
    """The option that the field says is chosen."""
    name = await field.get_attribute("aria-activedescendant")
    if name is None:
        return None
    option = page.locator(f"[id='{name}']")
    await expect(option).to_have_attribute("aria-selected", "true")
    return (await option.inner_text()).split("\n")[0]


async def test_keys_then_values_are_chosen_with_the_keyboard(page: Page, filled: Leasehold) -> None:
    field = await field_of(page, filled)
    assert [(await one.inner_text()).split("\n")[0] for one in await options(page).all()] == [
        "platform:",
        "status:",
        "error:",
        "run:",
        "attempt:",
        "age:",
    ]
    assert await chosen(page, field) is None

    await field.press("ArrowDown")
    await field.press("ArrowDown")
    assert await chosen(page, field) == "status:"
    await field.press("Enter")
    await expect(field).to_have_value("status:")
    await field.press("ArrowUp")
    assert await chosen(page, field) == "cancelled"
    await field.type("fa")
    await expect(options(page)).to_have_count(1)
    await field.press("Tab")

    await expect(field).to_have_value("status:failed ")
    await expect(field).to_be_focused()
    await expect(field).to_have_attribute("aria-expanded", "false")
    await field.press("Enter")
    await expect(page).to_have_url(re.compile(r"\?status=failed$"))
    await expect(row(page, "worded-dead")).to_be_visible()
    await expect(row(page, "worded-waiting")).to_have_count(0)


async def test_known_platforms_and_errors_are_offered_and_found(page: Page, filled: Leasehold) -> None:
    field = await field_of(page, filled)

    await field.type("platform:you")
    await expect(options(page)).to_have_text([re.compile("^youtube")])
    await options(page).first.click()
    await expect(field).to_have_value("platform:youtube ")
    await field.type("error:")
    await expect(options(page).filter(has_text="timeout")).to_be_visible()
    await expect(options(page).filter(has_text="not_found")).to_be_visible()
    await field.type("time")
    await field.press("ArrowDown")
    await field.press("Enter")
    await field.press("Enter")

    await expect(page).to_have_url(re.compile(r"platform=youtube&error=timeout$"))
    await expect(row(page, "worded-again")).to_be_visible()
    await expect(row(page, "worded-dead")).to_have_count(0)
    await expect(page.get_by_text("Searching the last 7 days")).to_be_visible()
    await page.get_by_role("button", name="Drop error:timeout").click()
    await expect(row(page, "worded-dead")).to_be_visible()


async def test_what_is_typed_in_full_works_as_well(page: Page, filled: Leasehold) -> None:
    field = await field_of(page, filled)

    await field.fill("run:run-of-words attempt:>1 age:>1d")
    await field.press("Enter")
    await expect(page).to_have_url(re.compile("run=run-of-words"))
    await expect(page.get_by_text("No job matches")).to_be_visible()
    await page.get_by_label("Age", exact=True).select_option("Any age")
    await expect(row(page, "worded-again")).to_be_visible()
    await expect(row(page, "worded-dead")).to_have_count(0)
    await page.get_by_role("button", name="Drop attempt:>1").click()
    await expect(row(page, "worded-dead")).to_be_visible()
    await expect(row(page, "worded-waiting")).to_have_count(0)


async def test_several_statuses_go_by_commas_and_what_is_in_the_middle_is_completed(
    page: Page, filled: Leasehold
) -> None:
    field = await field_of(page, filled)

    await field.fill("status:failed,pen age:>1h")
    for _ in range(len(" age:>1h")):
        await field.press("ArrowLeft")
    await expect(options(page)).to_have_text([re.compile("^pending")])
    await field.press("Tab")

    await expect(field).to_have_value("status:failed,pending age:>1h")
    assert await field.evaluate("one => one.selectionStart") == len("status:failed,pending ")


async def test_esc_closes_what_is_suggested_and_then_leaves(page: Page, filled: Leasehold) -> None:
    field = await field_of(page, filled)
    await field.type("st")
    await expect(options(page)).to_have_count(1)

    await field.press("Escape")
    await expect(field).to_have_attribute("aria-expanded", "false")
    await expect(field).to_be_focused()
    await expect(field).to_have_value("st")
    await field.press("ArrowDown")
    await expect(field).to_have_attribute("aria-expanded", "true")
    await field.press("Escape")
    await field.press("Escape")

    await expect(field).not_to_be_focused()


async def test_a_word_that_says_nothing_is_told(page: Page, filled: Leasehold) -> None:
    field = await field_of(page, filled)

    await field.fill("status:broken attempt:3")
    await field.press("Enter")

    await expect(page.get_by_role("alert")).to_have_text("status:broken attempt:3 says nothing here.")
    await expect(page).to_have_url(re.compile("/ui/jobs$"))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_suggestions_fit_and_are_accessible(page: Page, filled: Leasehold, width: int, scheme: str) -> None:
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await page.set_viewport_size({"width": width, "height": 844})
    field = await field_of(page, filled)
    await field.press("ArrowDown")
    await expect(field).to_have_attribute("aria-activedescendant", re.compile("."))

    assert await barriers(page) == []
    overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
