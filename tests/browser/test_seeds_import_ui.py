"""Importing seeds in a real Chromium, against a real server: good lines go in, and every bad one is told."""

import re

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.parts.operator import ask, row, seed, sign_in, site
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="session")

IMPORT = re.compile(r"/v2/seeds/import")


async def importing(page: Page, server: Leasehold, slug: str) -> Locator:
    """The dialog that imports, opened among the seeds of a site."""
    site(server, slug)
    await sign_in(page, server.token, f"/ui/seeds?site={slug}")
    await page.get_by_role("button", name="Import seeds").click()
    return page.get_by_role("dialog", name="Import seeds")


async def give(dialog: Locator, name: str, content: bytes) -> None:
    await dialog.get_by_label("File of seeds").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )


async def test_a_file_is_imported_and_its_bad_lines_are_told(page: Page, server: Leasehold) -> None:
    seed(server, "imported", "/old")
    dialog = await importing(page, server, "imported")
    lines = ["url,priority", "https://imported.example/new,7", "https://imported.example/bad,high"]
    lines += ["https://imported.example/old,9", "https://elsewhere.example/,1"]

    await give(dialog, "seeds.csv", "\n".join(lines).encode())
    await expect(dialog.get_by_role("status")).to_contain_text("seeds.csv")
    await expect(dialog.get_by_label("Format")).to_have_value("csv")
    await dialog.get_by_role("button", name="Import", exact=True).click()

    done = page.get_by_role("dialog", name="Seeds imported")
    await expect(done.get_by_role("status")).to_have_text("1 created, 1 updated, 2 rejected.")
    rejected = done.get_by_role("table", name="Rejected lines").get_by_role("row")
    await expect(rejected).to_have_count(3)
    await expect(rejected.nth(1)).to_have_text(re.compile(r"^3\s*priority: must be a whole number"))
    await expect(rejected.nth(2)).to_have_text(re.compile(r"^5\D"))
    await done.get_by_role("button", name="Done").click()
    await expect(done).to_be_hidden()
    await expect(row(page, "imported.example/new")).to_contain_text("Due")
    await expect(row(page, "imported.example/old")).to_be_visible()


OUTLINES = b"""<?xml version="1.0" encoding="ISO-8859-1"?><opml version="2.0"><body><outline text="feeds">
<outline xmlUrl="https://outlined.example/caf\xe9"/><outline url="nothing"/></outline></body></opml>"""


@pytest.mark.parametrize(
    ("slug", "content", "format_", "told"),
    [
        ("rowed", b'{"url": "https://rowed.example/"}\n{"url": 7}\n{', "ndjson", "1 created, 0 updated, 2 rejected."),
        ("listed", b'[\n{"url": "https://listed.example/"}, 7]', "json", "1 created, 0 updated, 1 rejected."),
        ("itemed", b'{"items": [{"url": "https://itemed.example/"}]}', "json", "1 created, 0 updated, 0 rejected."),
        ("outlined", OUTLINES, "opml", "1 created, 0 updated, 1 rejected."),
        ("bare", b"url\n", "csv", "0 created, 0 updated, 0 rejected."),
    ],
)
async def test_every_format_is_known_by_its_content(
    page: Page, server: Leasehold, slug: str, content: bytes, format_: str, told: str
) -> None:
    dialog = await importing(page, server, slug)

    await give(dialog, "seeds.txt", content)
    await expect(dialog.get_by_label("Format")).to_have_value(format_)
    await dialog.get_by_role("button", name="Import", exact=True).click()

    await expect(page.get_by_role("dialog").get_by_role("status")).to_have_text(told)


async def test_a_file_is_sent_byte_for_byte(page: Page, server: Leasehold) -> None:
    """The server reads the encoding that the file names."""
    dialog = await importing(page, server, "outlined")
    await give(dialog, "feeds.opml", OUTLINES)
    await dialog.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_role("dialog", name="Seeds imported")).to_be_visible()

    urls = [one["url"] for one in ask(server, "GET", "/v2/seeds?site=outlined")["items"]]

    assert urls == ["https://outlined.example/caf%C3%A9"]


async def test_a_refused_text_stays_and_is_sent_as_the_format_one_chooses(page: Page, server: Leasehold) -> None:
    dialog = await importing(page, server, "chosen")
    text = dialog.get_by_label("Or paste it here")
    await text.fill("site,url\nchosen,https://chosen.example/a")
    await dialog.get_by_label("Format").select_option("OPML")
    await dialog.get_by_role("button", name="Import", exact=True).click()
    await expect(dialog.get_by_role("alert")).to_contain_text("This is not OPML")
    await expect(text).to_have_value("site,url\nchosen,https://chosen.example/a")

    await dialog.get_by_label("Format").select_option("CSV")
    await dialog.get_by_role("button", name="Import", exact=True).click()

    await expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("1 created")


async def test_lines_that_name_no_site_are_of_the_one_chosen(page: Page, server: Leasehold) -> None:
    site(server, "otherwise")
    dialog = await importing(page, server, "presumed")
    await expect(dialog.get_by_label("Site of lines that name none")).to_have_value("presumed")

    await dialog.get_by_label("Or paste it here").fill("url\nhttps://otherwise.example/a")
    await dialog.get_by_role("button", name="Import", exact=True).click()
    done = page.get_by_role("dialog", name="Seeds imported")
    await expect(done.get_by_role("status")).to_have_text("0 created, 0 updated, 1 rejected.")
    await done.get_by_role("button", name="Import another").click()
    await dialog.get_by_label("Or paste it here").fill("url\nhttps://otherwise.example/a")
    await dialog.get_by_label("Site of lines that name none").select_option("The one at its address")
    await dialog.get_by_role("button", name="Import", exact=True).click()

    await expect(done.get_by_role("status")).to_have_text("1 created, 0 updated, 0 rejected.")
    assert len(ask(server, "GET", "/v2/seeds?site=otherwise")["items"]) == 1


async def test_every_bad_line_can_be_seen_however_many(page: Page, server: Leasehold) -> None:
    dialog = await importing(page, server, "awful")
    await give(dialog, "seeds.csv", "\n".join(["url", *("nothing" for _ in range(150))]).encode())
    await dialog.get_by_role("button", name="Import", exact=True).click()
    done = page.get_by_role("dialog", name="Seeds imported")
    await expect(done).to_contain_text("No line was taken")
    await expect(done.get_by_role("row")).to_have_count(101)

    await done.get_by_role("button", name="Show all 150").click()

    await expect(done.get_by_role("row")).to_have_count(151)
    await done.get_by_role("button", name="Import another").click()
    await expect(dialog.get_by_label("File of seeds")).to_be_attached()


async def test_an_import_that_got_no_answer_can_be_sent_again(page: Page, server: Leasehold) -> None:
    dialog = await importing(page, server, "offline")
    button = dialog.get_by_role("button", name=re.compile("^Import"))
    await expect(button).to_be_disabled()
    await dialog.get_by_label("Or paste it here").fill("url\nhttps://offline.example/a")
    await page.route(IMPORT, lambda route: route.abort())
    await button.click()
    await expect(dialog.get_by_role("alert")).to_contain_text("cannot be reached")

    waiting: list[Route] = []
    await page.unroute(IMPORT)
    await page.route(IMPORT, lambda route: waiting.append(route))
    await button.click()
    await expect(button).to_have_attribute("aria-busy", "true")
    await expect(dialog.get_by_role("alert")).to_have_count(0)
    await button.dispatch_event("click")
    (only,) = waiting
    await only.continue_()

    await expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("1 created")


async def test_seeds_are_imported_by_keyboard(page: Page, server: Leasehold) -> None:
    site(server, "typed")
    await sign_in(page, server.token, "/ui/seeds?site=typed")
    opener = page.get_by_role("button", name="Import seeds")
    await opener.press("Enter")
    dialog = page.get_by_role("dialog", name="Import seeds")
    await expect(dialog.get_by_label("File of seeds")).to_be_focused()

    await page.keyboard.press("Tab")
    await expect(dialog.get_by_label("Or paste it here")).to_be_focused()
    await page.keyboard.insert_text("url\nhttps://typed.example/a")
    await dialog.get_by_role("button", name="Import", exact=True).press("Enter")
    await expect(page.get_by_role("dialog", name="Seeds imported")).to_contain_text("1 created")
    await page.keyboard.press("Escape")

    await expect(opener).to_be_focused()
    await expect(row(page, "typed.example/a")).to_be_visible()
