"""Seeds in a real Chromium, against a real server: what an operator does with them."""

import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.parts.operator import (
    acquire,
    ask,
    barriers,
    choose,
    faults_of,
    opened,
    release,
    row,
    seed,
    sign_in,
    site,
    viewer,
)
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="session")

SEEDS = re.compile(r"/v2/seeds(\?|$)")
VISITS = re.compile(r"/v2/seeds/[^/]+/visits")
FAR = "2100-01-01T00:00:00Z"


async def test_a_new_user_adds_a_seed_and_sees_it_due(page: Page, server: Leasehold) -> None:
    site(server, "board")
    await sign_in(page, server.token, "/ui/seeds")
    await expect(page.get_by_text("No seeds yet")).to_be_visible()

    await page.get_by_role("button", name="Add seed").click()
    dialog = page.get_by_role("dialog", name="Add seed")
    await dialog.get_by_label("URL").fill("https://board.example/new")
    await dialog.get_by_label("Interval").fill("2 h")
    await dialog.get_by_role("button", name="Add seed").click()

    await expect(dialog).to_be_hidden()
    await expect(row(page, "board.example/new")).to_contain_text("Due")
    await expect(row(page, "board.example/new")).to_contain_text("2 h")
    bars = page.get_by_role("list", name="Seeds by when they fall due").get_by_role("listitem")
    await expect(bars).to_have_count(25)
    await expect(bars.first).to_contain_text("1 due now")


async def test_a_refusal_stands_at_the_field_it_is_about(page: Page, server: Leasehold) -> None:
    site(server, "refusing")
    await sign_in(page, server.token, "/ui/seeds?site=refusing")
    await page.get_by_role("button", name="Add seed").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("URL").fill("https://elsewhere.example/")
    await dialog.get_by_label("Interval").fill("often")
    await expect(dialog.get_by_label("Interval")).to_have_attribute("aria-invalid", "true")

    await dialog.get_by_label("Interval").fill("15 min")
    await dialog.get_by_role("button", name="Add seed").click()

    await expect(dialog.get_by_label("URL")).to_have_attribute("aria-invalid", "true")


async def test_an_address_that_is_there_already_is_said(page: Page, server: Leasehold) -> None:
    known = seed(server, "twice", "/new")
    await sign_in(page, server.token, "/ui/seeds?site=twice")
    await page.get_by_role("button", name="Add seed").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("URL").fill("https://twice.example/new")
    await dialog.get_by_role("button", name="Add seed").click()

    await expect(dialog).to_contain_text("was there already")
    await dialog.get_by_role("link", name="twice.example/new").click()

    await expect(page).to_have_url(re.compile(f"/ui/seeds/{known}$"))


async def test_filters_are_in_the_address(page: Page, server: Leasehold) -> None:
    seed(server, "sieved", "/due", labels={"region": "eu"})
    seed(server, "sieved", "/later", next_due_at=FAR)
    seed(server, "sieved", "/off", enabled=False)
    await sign_in(page, server.token, "/ui/seeds?site=sieved&due=true")
    await expect(row(page, "/due")).to_be_visible()
    await expect(row(page, "/later")).to_have_count(0)

    await page.get_by_label("Due", exact=True).select_option("Due or not")
    await page.get_by_label("Enabled").select_option("Disabled")
    await expect(page).to_have_url(re.compile(r"\?site=sieved&enabled=false$"))
    await expect(row(page, "/off")).to_contain_text("Disabled")
    await expect(row(page, "/due")).to_have_count(0)

    await page.get_by_role("textbox", name="Label").fill("region:eu")
    await expect(page.get_by_text("No seed matches")).to_be_visible()
    await page.get_by_role("button", name="Clear the filters").click()
    await expect(row(page, "sieved.example/due")).to_be_visible()


async def test_the_hours_ahead_are_those_of_the_site(page: Page, server: Leasehold) -> None:
    seed(server, "near", "/a")
    seed(server, "near", "/b")
    seed(server, "other", "/c")

    await sign_in(page, server.token, "/ui/seeds?site=near")

    await expect(page.get_by_role("region", name="Next 24 hours")).to_contain_text("2 seeds of near due now; 0 more")


async def test_a_visit_elsewhere_shows_by_itself(page: Page, server: Leasehold) -> None:
    seed(server, "visited")
    await sign_in(page, server.token, "/ui/seeds?site=visited")
    await expect(row(page, "visited.example")).to_contain_text("Due")

    lease = acquire(server, "seeds", "visited", "crawler-7")
    await expect(row(page, "visited.example")).to_contain_text("crawler-7", timeout=20_000)
    release(server, lease, "ok", found=12)

    await expect(row(page, "visited.example")).to_contain_text("12 found", timeout=20_000)


def _visit(server: Leasehold, made: str, slug: str, outcome: str, **report: Any) -> None:
    """Have a seed visited, whenever it is due."""
    ask(server, "PATCH", f"/v2/seeds/{made}", {"next_due_at": "now"})
    release(server, acquire(server, "seeds", slug, "crawler-7"), outcome, **report)


async def test_visits_are_drawn_and_listed_and_a_new_one_shows_by_itself(page: Page, server: Leasehold) -> None:
    made = seed(server, "rhythm", interval_seconds=3600)
    _visit(server, made, "rhythm", "ok", found=3)
    _visit(server, made, "rhythm", "failed", reason="timed out")
    await sign_in(page, server.token, f"/ui/seeds/{made}")
    panel = page.get_by_role("region", name="Visits")
    rows = panel.get_by_role("table", name="Visits").get_by_role("row")
    await expect(panel).to_contain_text("The last 2 visits found 3 new things; 1 did not go well.")
    await expect(panel.get_by_role("img", name="from 1 h to 30 min 30 s")).to_be_visible()
    await expect(panel.locator("canvas")).to_be_visible()
    await expect(rows).to_contain_text(["When", "timed out", "3 found"])
    await expect(rows.nth(2)).to_contain_text(re.compile("1 h .*30 min 30 s"))

    _visit(server, made, "rhythm", "ok", found=40)

    await expect(panel).to_contain_text("The last 3 visits found 43 new things", timeout=20_000)
    await expect(rows.nth(1)).to_contain_text("15 min 45 s")
    await expect(rows.nth(2)).to_contain_text("stays 30 min 30 s")


async def test_of_many_visits_the_newest_are_listed_first_and_all_on_demand(page: Page, server: Leasehold) -> None:
    made = seed(server, "often")
    for _ in range(12):
        _visit(server, made, "often", "ok")
    await sign_in(page, server.token, f"/ui/seeds/{made}")
    panel = page.get_by_role("region", name="Visits")
    await expect(panel).to_contain_text("10 of the last 12 visits")
    await expect(panel.get_by_role("row")).to_have_count(1 + 10)

    await panel.get_by_role("button", name="Show all").click()

    await expect(panel.get_by_role("row")).to_have_count(1 + 12)


async def test_visits_that_did_not_load_are_tried_again(page: Page, server: Leasehold) -> None:
    made = seed(server, "unvisited")
    await page.route(VISITS, lambda route: route.abort())
    await sign_in(page, server.token, f"/ui/seeds/{made}")
    panel = page.get_by_role("region", name="Visits")
    await expect(panel.get_by_role("alert")).to_contain_text("The visits could not be loaded", timeout=20_000)

    await page.unroute(VISITS)
    await panel.get_by_role("button", name="Retry").click()

    await expect(panel).to_contain_text("No visit has ended yet")


async def test_a_seed_is_edited_and_made_due_now(page: Page, server: Leasehold) -> None:
    made = seed(server, "edited", next_due_at=FAR, interval_seconds=3600)
    await sign_in(page, server.token, f"/ui/seeds/{made}")
    await page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Priority").fill("90")
    await dialog.get_by_label("Interval").fill("30 min")
    await dialog.get_by_role("button", name="Save changes").click()
    await expect(dialog).to_be_hidden()

    await page.get_by_role("button", name="Make due now").click()
    await dialog.get_by_role("button", name="Make due now").click()

    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("Due: the next who asks")
    after = ask(server, "GET", f"/v2/seeds/{made}")
    assert (after["priority"], after["interval_seconds"], after["max_interval_seconds"]) == (90, 1800, 1_209_600)


async def test_a_seed_is_disabled_and_enabled_from_its_row(page: Page, server: Leasehold) -> None:
    made = seed(server, "switched")
    await sign_in(page, server.token, "/ui/seeds?site=switched")

    dialog = await choose(page, "Actions on switched.example", "Disable")
    await dialog.get_by_role("button", name="Disable").click()
    await expect(row(page, "switched.example")).to_contain_text("Disabled")
    assert ask(server, "GET", f"/v2/seeds/{made}")["enabled"] is False
    dialog = await choose(page, "Actions on switched.example", "Enable")
    await dialog.get_by_role("button", name="Enable").click()

    await expect(row(page, "switched.example")).to_contain_text("Due")


async def test_a_held_seed_is_not_deleted_and_a_free_one_is(page: Page, server: Leasehold) -> None:
    seed(server, "deleting", "/held", priority=90)
    free = seed(server, "deleting", "/free")
    acquire(server, "seeds", "deleting", "crawler-7")
    await sign_in(page, server.token, "/ui/seeds?site=deleting")
    await page.get_by_role("button", name="Actions on deleting.example/held").click()
    await expect(page.get_by_role("menuitem", name="Delete")).to_be_disabled()
    await page.keyboard.press("Escape")

    await page.get_by_role("link", name="deleting.example/free").click()
    dialog = await choose(page, "More actions", "Delete")
    assert ask(server, "GET", f"/v2/seeds/{free}")
    await dialog.get_by_role("button", name="Delete").click()

    await expect(page).to_have_url(re.compile(r"/ui/seeds$"))
    assert server.ask("GET", f"/v2/seeds/{free}", server.token).status_code == 404


async def test_a_seed_is_reached_and_changed_by_keyboard(page: Page, server: Leasehold) -> None:
    seed(server, "keyed")
    await sign_in(page, server.token, "/ui/seeds?site=keyed")
    button = page.get_by_role("button", name="Actions on keyed.example")

    await button.press("Enter")
    await expect(page.get_by_role("menuitem", name="Edit")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("menuitem", name="Disable")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Disable the seed")).to_be_visible()
    await page.keyboard.press("Escape")

    await expect(button).to_be_focused()


@pytest.mark.parametrize("button", ["Add seed", "Import seeds"])
async def test_who_may_only_look_cannot_add(page: Page, server: Leasehold, button: str) -> None:
    seed(server, "watched")
    await sign_in(page, viewer(server), "/ui/seeds?site=watched")
    await expect(row(page, "watched.example")).to_be_visible()
    # What the token may do comes by a request of its own.
    await expect(page.get_by_role("button", name=button)).to_be_disabled()

    await page.get_by_role("button", name=button).focus()

    await expect(page.get_by_role("tooltip")).to_contain_text("lacks the permission seeds.manage")


async def test_a_list_that_failed_is_tried_again(page: Page, server: Leasehold) -> None:
    seed(server, "shaky")
    await page.route(SEEDS, lambda route: route.abort())
    await sign_in(page, server.token, "/ui/seeds?site=shaky")
    await expect(page.get_by_role("alert")).to_contain_text("could not be loaded", timeout=20_000)

    await page.unroute(SEEDS)
    await page.get_by_role("button", name="Retry").click()

    await expect(row(page, "shaky.example")).to_be_visible()


async def test_a_seed_that_is_not_there_leads_back(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/seeds/seed_0")

    await expect(page.get_by_text("There is no such seed")).to_be_visible()


def _rich(server: Leasehold) -> str:
    """Seeds of every standing; returns one that has been visited."""
    if server.ask("GET", "/v2/sites/rich", server.token).status_code == 404:
        for outcome in ("gone", "failed", "ok"):
            seed(
                server, "rich", f"/{outcome}/{'a-rather-long-path/' * 8}", labels={"a-long-label": "with-a-long-value"}
            )
            release(server, acquire(server, "seeds", "rich", "crawler-7"), outcome)
        seed(server, "rich", "/off", enabled=False)
        seed(server, "rich", "/held")
        acquire(server, "seeds", "rich", "crawler-with-a-long-name@host-3.internal")
        seed(server, "rich", "/due")
    found: str = ask(server, "GET", "/v2/seeds?site=rich")["items"][0]["id"]
    return found


@pytest.mark.parametrize("path", ["seeds?site=rich", "seeds?site=rich&due=false&enabled=false", "seeds/ONE"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_every_page_fits_and_is_accessible(
    page: Page, server: Leasehold, path: str, width: int, scheme: str
) -> None:
    one = _rich(server)

    assert await faults_of(page, server.token, f"/ui/{path.replace('ONE', one)}", width, scheme) == []


@pytest.mark.parametrize("button", ["Add seed", "Import seeds", "Actions on rich.example/due"])
async def test_what_opens_on_top_is_accessible(page: Page, server: Leasehold, button: str) -> None:
    _rich(server)
    await sign_in(page, server.token, "/ui/seeds?site=rich")

    await opened(page, button)

    assert await barriers(page) == []
