"""Captures in a real Chromium, against a real server: what an operator does with them."""

import asyncio
import re

import pytest
from playwright.async_api import Page, expect

from tests.parts.operator import (
    acquire,
    ask,
    barriers,
    capture,
    choose,
    faults_of,
    opened,
    release,
    row,
    sign_in,
    viewer,
)
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="session")

CAPTURES = re.compile(r"/v2/captures(\?|$)")
HOSTILE = b"<script>document.title = 'taken over'</script>"
TRIES = 5


def stuck(server: Leasehold, slug: str) -> str:
    """A capture that no consumer could take; returns its id."""
    made = capture(server, slug, {"page.html": HOSTILE, "shot.png": b"x" * 1200})
    for _ in range(TRIES):
        release(server, acquire(server, "captures", slug, "parser-1"), "failed", reason="ValueError at line 12")
    return made


def state(server: Leasehold, made: str) -> str:
    found: str = ask(server, "GET", f"/v2/captures/{made}")["state"]
    return found


async def test_a_new_user_is_told_how_a_capture_comes_to_be(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/captures")

    await expect(page.get_by_text("No captures yet")).to_be_visible()
    await expect(page.get_by_text("POST /v2/captures")).to_be_visible()


async def test_filters_are_in_the_address(page: Page, server: Leasehold) -> None:
    capture(server, "sieved", {"a.html": b"a"}, "/first")
    release(server, acquire(server, "captures", "sieved", "parser-1"), "rejected", reason="not a thread")
    capture(server, "sieved", {"b.html": b"b"}, "/second")
    await sign_in(page, server.token, "/ui/captures?site=sieved&state=rejected")
    await expect(row(page, "/first")).to_contain_text("not a thread")
    await expect(row(page, "/second")).to_have_count(0)

    await page.get_by_label("State").select_option("Received")
    await expect(page).to_have_url(re.compile(r"\?site=sieved&state=received$"))
    await expect(row(page, "/second")).to_be_visible()
    await expect(row(page, "/first")).to_have_count(0)

    await page.get_by_role("textbox", name="URL").fill("https://sieved.example/first")
    await expect(page.get_by_text("No capture matches")).to_be_visible()
    await page.get_by_role("button", name="Clear the filters").click()
    await expect(row(page, "sieved.example/first")).to_be_visible()


async def test_a_claim_elsewhere_shows_by_itself(page: Page, server: Leasehold) -> None:
    capture(server, "claimed", {"page.html": b"x"})
    await sign_in(page, server.token, "/ui/captures?site=claimed")
    await expect(row(page, "claimed.example")).to_contain_text("Received")

    acquire(server, "captures", "claimed", "parser-7")

    await expect(row(page, "claimed.example")).to_contain_text("parser-7", timeout=20_000)
    await page.get_by_role("button", name="Actions on claimed.example").click()
    await expect(page.get_by_role("menuitem", name="Delete")).to_be_disabled()


async def test_a_file_is_downloaded_as_it_came_and_never_shown(page: Page, server: Leasehold) -> None:
    made = capture(server, "hostile", {"page.html": HOSTILE})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await sign_in(page, server.token, f"/ui/captures/{made}")

    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download page.html").click()

    saved = await download.value
    assert saved.suggested_filename == "page.html"
    assert await asyncio.to_thread((await saved.path()).read_bytes) == HOSTILE
    await expect(page.locator("iframe, object, embed, img")).to_have_count(0)
    assert "taken over" not in await page.title()
    assert server.token
    assert not [url for url in asked if server.token in url]


async def test_the_text_of_a_file_is_shown_as_text_and_does_nothing(page: Page, server: Leasehold) -> None:
    long = b"<p>page</p>\n" * 8000
    made = capture(server, "read", {"page.html": HOSTILE, "long.html": long, "shot.png": b"x" * 1200})
    await sign_in(page, server.token, f"/ui/captures/{made}")
    await expect(page.get_by_role("button", name="Show the text of shot.png")).to_have_count(0)

    await page.get_by_role("button", name="Show the text of page.html").click()

    dialog = page.get_by_role("dialog", name="Text of page.html")
    await expect(dialog.get_by_label("The text")).to_have_text(HOSTILE.decode())
    await expect(dialog.get_by_text("All of it, ")).to_be_visible()
    await expect(dialog.locator("script, iframe, object, embed, img")).to_have_count(0)
    assert "taken over" not in await page.title()
    assert await barriers(page) == []
    await dialog.get_by_role("button", name="Close").last.click()
    await page.get_by_role("button", name="Show the text of long.html").click()
    await expect(page.get_by_text(re.compile("^The first 6.* of 9"))).to_be_visible()


async def test_a_download_that_failed_is_said(page: Page, server: Leasehold) -> None:
    made = capture(server, "broken", {"page.html": b"x"})
    await sign_in(page, server.token, f"/ui/captures/{made}")
    await page.route(re.compile("/files/"), lambda route: route.abort())

    await page.get_by_role("button", name="Download page.html").click()

    await expect(page.get_by_role("alert")).to_contain_text("page.html could not be downloaded")


async def test_a_stuck_capture_tells_its_life_and_is_put_back(page: Page, server: Leasehold) -> None:
    made = stuck(server, "stuck")
    await sign_in(page, server.token, f"/ui/captures/{made}")
    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("the last with: ValueError at line 12")
    life = page.get_by_role("list", name="Its life")
    await expect(life.get_by_role("listitem").first).to_contain_text("Received")
    await expect(life.get_by_role("listitem").last).to_contain_text("Stuck")

    await page.get_by_role("button", name="Requeue").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Reason").fill("the parser was mended")
    assert state(server, made) == "stuck"
    await dialog.get_by_role("button", name="Requeue").click()

    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("Waits for a consumer")
    await expect(life.get_by_role("listitem").last).to_contain_text("the parser was mended")
    await expect(page.get_by_role("button", name="Requeue")).to_have_count(0)
    assert state(server, made) == "received"


async def test_a_rejected_capture_is_put_back_from_its_row(page: Page, server: Leasehold) -> None:
    made = capture(server, "rejected", {"page.html": b"x"})
    release(server, acquire(server, "captures", "rejected", "parser-1"), "rejected")
    await sign_in(page, server.token, "/ui/captures?site=rejected")

    dialog = await choose(page, "Actions on rejected.example", "Requeue")
    await dialog.get_by_role("button", name="Requeue").click()

    await expect(row(page, "rejected.example")).to_contain_text("Received")
    assert state(server, made) == "received"


async def test_a_deleted_capture_is_gone_and_its_life_is_still_told(page: Page, server: Leasehold) -> None:
    made = stuck(server, "deleted")
    await sign_in(page, server.token, f"/ui/captures/{made}")

    await page.get_by_role("button", name="Delete").click()
    assert state(server, made) == "stuck"
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page).to_have_url(re.compile(r"/ui/captures$"))
    await page.goto(f"/ui/captures/{made}")

    await expect(page.get_by_text("There is no such capture")).to_be_visible()
    await expect(page.get_by_role("list", name="Its life").get_by_role("listitem").last).to_contain_text("Deleted")


async def test_a_lease_leads_to_the_capture_it_is_on(page: Page, server: Leasehold) -> None:
    made = capture(server, "leased", {"page.html": b"x"})
    acquire(server, "captures", "leased", "parser-9")
    await sign_in(page, server.token, "/ui/leases?owner=parser-9")

    await page.get_by_role("table", name="Leases").get_by_role("link").first.click()

    await expect(page).to_have_url(re.compile(f"/ui/captures/{made}$"))


async def test_who_may_only_look_cannot_put_back_or_delete(page: Page, server: Leasehold) -> None:
    made = stuck(server, "watched")

    await sign_in(page, viewer(server), f"/ui/captures/{made}")

    await expect(page.get_by_role("button", name="Requeue")).to_be_disabled()
    await expect(page.get_by_role("button", name="Delete")).to_be_disabled()


async def test_a_list_that_failed_is_tried_again(page: Page, server: Leasehold) -> None:
    capture(server, "shaky", {"page.html": b"x"})
    await page.route(CAPTURES, lambda route: route.abort())
    await sign_in(page, server.token, "/ui/captures?site=shaky")
    await expect(page.get_by_role("alert")).to_contain_text("could not be loaded", timeout=20_000)

    await page.unroute(CAPTURES)
    await page.get_by_role("button", name="Retry").click()

    await expect(row(page, "shaky.example")).to_be_visible()


def _rich(server: Leasehold) -> str:
    """Captures of every state; returns one that is stuck."""
    if server.ask("GET", "/v2/sites/rich", server.token).status_code == 404:
        stuck(server, "rich")
        for outcome in ("ok", "rejected"):
            capture(server, "rich", {"a.html": b"a"}, f"/{outcome}/{'a-rather-long-path/' * 8}", labels={"run": "12"})
            release(server, acquire(server, "captures", "rich", "parser-1"), outcome, reason="as it went " * 5)
        capture(server, "rich", {f"{'long-name-' * 8}.html": b"b"}, "/claimed")
        acquire(server, "captures", "rich", "parser-with-a-long-name@host-3.internal")
        capture(server, "rich", {"c.html": b"c"}, "/waiting")
    found: str = ask(server, "GET", "/v2/captures?site=rich&state=stuck")["items"][0]["id"]
    return found


@pytest.mark.parametrize("path", ["captures?site=rich", "captures?url=nothing", "captures/ONE"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_every_page_fits_and_is_accessible(
    page: Page, server: Leasehold, path: str, width: int, scheme: str
) -> None:
    one = _rich(server)

    assert await faults_of(page, server.token, f"/ui/{path.replace('ONE', one)}", width, scheme) == []


@pytest.mark.parametrize("button", ["Requeue", "Delete"])
async def test_what_opens_on_top_is_accessible(page: Page, server: Leasehold, button: str) -> None:
    await sign_in(page, server.token, f"/ui/captures/{_rich(server)}")

    await opened(page, button)

    assert await barriers(page) == []
