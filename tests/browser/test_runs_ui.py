"""Runs in a real Chromium, over a real server and simulated providers: planned, watched, steered, and paid for."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.parts.operator import ask, barriers, choose, faults_of, row, sign_in, viewer
from tests.parts.process import Leasehold, place, until
from tests.parts.simulated import Providers

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATIENCE_MS = 30_000
# Refused as a proxy refuses them: before anything is sent.
NO_SOCKETS = "window.WebSocket = class { constructor() { throw new Error('blocked') } }"


@pytest.fixture(scope="module")
def providers(server_and_providers: tuple[Leasehold, Providers]) -> Providers:
    return server_and_providers[1]


@pytest.fixture(scope="module")
def server(server_and_providers: tuple[Leasehold, Providers]) -> Leasehold:
    return server_and_providers[0]


@pytest.fixture(scope="module")
def server_and_providers() -> Iterator[tuple[Leasehold, Providers]]:
    """One server for all of these, whose providers have 40 products in a category, each seventh of them missing."""
    with place() as here:
        providers = Providers(here, "--items", "40", "--latency-ms", "20", "--missing-every", "7")
        yield here.up(**providers.environment), providers


def plan(server: Leasehold, *categories: str, name: str, collector: str = "amazon") -> str:
    wish = {"collector": collector, "categories": list(categories), "name": name}
    made: str = ask(server, "POST", "/v2/runs", wish)["id"]
    return made


def begin(server: Leasehold, *categories: str, name: str, collector: str = "amazon") -> str:
    run = plan(server, *categories, name=name, collector=collector)
    ask(server, "POST", f"/v2/runs/{run}/start")
    return run


def get(server: Leasehold, run: str) -> Any:
    return ask(server, "GET", f"/v2/runs/{run}")


def status(server: Leasehold, run: str) -> str:
    found: str = get(server, run)["status"]
    return found


def over(server: Leasehold, run: str) -> str:
    until(lambda: status(server, run) in ("completed", "failed", "cancelled"))
    return run


def completed(server: Leasehold) -> Any:
    """A run of several categories that is completed: one that is there, or a new one."""
    name = "To look at"
    found = [run for run in ask(server, "GET", "/v2/runs?status=completed")["items"] if run["name"] == name]
    return found[0] if found else get(server, over(server, begin(server, "electronics", "books", name=name)))


def set_cap(server: Leasehold, micros: int) -> None:
    ask(server, "PUT", "/v2/settings", {"budget_cap_micros": micros})


def is_cut_short(server: Leasehold, run: str) -> bool:
    """Leave a run a little more than it has used; refused when it has used more meanwhile."""
    now = get(server, run)
    little = now["actual_cost_micros"] + now["reserved_cost_micros"] + 4_000
    wish = {"budget_cap_micros": little}
    return server.ask("PATCH", f"/v2/runs/{run}", server.token, wish).is_success


@contextmanager
def held(providers: Providers) -> Iterator[None]:
    """Nothing is over within: the provider answers nobody, and what is looked at has not gone by."""
    providers.become("hold")
    try:
        yield
    finally:
        providers.become("ok")


def explanation(page: Page) -> Locator:
    return page.get_by_role("region", name="Explanation")


def chip(page: Page) -> Locator:
    return page.get_by_role("status", name="Freshness").first


async def test_a_new_user_plans_reviews_confirms_and_watches(
    page: Page, server: Leasehold, providers: Providers
) -> None:
    await sign_in(page, server.token, "/ui/runs")
    await expect(page.get_by_text("No runs yet")).to_be_visible()
    await page.get_by_role("link", name="Plan a run").click()

    await page.get_by_label("Electronics").check()
    await page.get_by_label("Books").check()
    await expect(page).to_have_url(re.compile(r"categories=electronics%2Cbooks"))
    review = page.get_by_role("table", name="Estimate")
    await expect(review.get_by_role("row").last).to_contain_text("$0.525")
    await expect(page.get_by_role("status", name="Verdict")).to_contain_text("Within the cap of $25.00")
    await page.get_by_label("Name").fill("To look at")
    await page.get_by_role("button", name="Review and confirm").click()
    with held(providers):
        await page.get_by_role("button", name="Start run — up to $0.53").dblclick()

        await expect(page).to_have_url(re.compile(r"/ui/runs/run_"))
        await expect(explanation(page)).to_contain_text("Running")
        await expect(chip(page)).to_have_text("live")
        badge = page.get_by_role("link", name="1 running")
        await expect(badge).to_have_attribute("href", "/ui/runs?status=running,paused")
    progress = page.get_by_role("progressbar", name="Progress", exact=True)
    await expect(progress).to_have_attribute("aria-valuetext", re.compile(r"\d+ done"))
    await expect(explanation(page)).to_contain_text("Completed", timeout=PATIENCE_MS)
    await expect(badge).to_have_count(0)
    # A double click was one wish.
    assert len(ask(server, "GET", "/v2/runs")["items"]) == 1


async def test_what_is_collected_comes_live_and_all_of_it_can_be_read(page: Page, server: Leasehold) -> None:
    run = begin(server, "toys", "home", "books", name="Fed")
    await sign_in(page, server.token, f"/ui/runs/{run}?feed=1")

    feed = page.get_by_role("list", name="Latest items").get_by_role("listitem")
    await expect(feed.first).to_be_visible(timeout=PATIENCE_MS)
    await expect(explanation(page)).to_contain_text("Completed", timeout=PATIENCE_MS)
    # Nothing was reloaded: what came last came by itself. Repeats of a failure share a row.
    await expect(page.get_by_text(re.compile(r"^1\d\d shown"))).to_be_visible()
    load_older = page.get_by_role("button", name="Load older")
    await load_older.click()
    await expect(page.get_by_text("120 shown, newest first")).to_be_visible()
    await page.get_by_label("Outcome").select_option("Failed")
    await expect(feed.first).to_contain_text("not_found")
    await expect(page).to_have_url(re.compile("outcome=failed"))


async def test_an_operator_pauses_resumes_and_cancels(page: Page, server: Leasehold, providers: Providers) -> None:
    with held(providers):
        run = begin(server, "electronics", "toys", "home", "books", name="Steered")
        await sign_in(page, server.token, f"/ui/runs/{run}")

        await page.get_by_role("button", name="Pause", exact=True).click()
        await expect(explanation(page)).to_contain_text("Paused")
        await expect(page.get_by_role("link", name="1 paused")).to_be_visible()
        assert get(server, run)["pause_reason"] == "operator"

        await page.get_by_role("button", name="Resume").click()
        await expect(explanation(page)).to_contain_text("Running")

        await page.get_by_role("button", name="Cancel").click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
        await expect(explanation(page)).to_contain_text("Cancelled")
    await page.get_by_role("tab", name="Timeline").click()
    told = page.get_by_role("list", name="What happened").get_by_role("listitem")
    await expect(told.filter(has_text="Paused: by an operator")).to_be_visible()
    await expect(told.last).to_contain_text("Cancelled")
    assert status(server, run) == "cancelled"


async def test_an_outage_pauses_it_and_it_goes_on_by_itself(
    page: Page, server: Leasehold, providers: Providers
) -> None:
    with held(providers):
        run = begin(server, "electronics", name="Out")
        await sign_in(page, server.token, f"/ui/runs/{run}")
        await expect(explanation(page)).to_contain_text("Running")
        providers.become("down")
        # Said by the item that failed, or by the breaker where many had failed before anybody looked.
        await expect(explanation(page)).to_contain_text(re.compile("503|attempts failed"), timeout=PATIENCE_MS)
        await expect(explanation(page)).to_contain_text("It goes on by itself")

    await expect(explanation(page)).to_contain_text("Completed", timeout=PATIENCE_MS)
    await page.get_by_role("tab", name="Timeline").click()
    await expect(page.get_by_text("Resumed: the provider is back").first).to_be_visible()


async def test_without_sockets_the_page_polls_and_sees_the_end(page: Page, server: Leasehold) -> None:
    await page.add_init_script(NO_SOCKETS)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await sign_in(page, server.token, "/ui/runs")
    await expect(chip(page)).to_have_text("polling", timeout=PATIENCE_MS)
    run = plan(server, "books", "home", name="Polled")
    await page.get_by_role("link", name="Polled", exact=True).click()
    await expect(explanation(page)).to_contain_text("not started")

    ask(server, "POST", f"/v2/runs/{run}/start")

    await expect(chip(page)).to_have_text("polling", timeout=PATIENCE_MS)
    await expect(explanation(page)).to_contain_text("Completed", timeout=PATIENCE_MS)
    assert any(f"{run}/events?since=" in url for url in asked)


async def test_who_stops_the_news_sees_the_page_stand_still(page: Page, server: Leasehold) -> None:
    run = plan(server, "toys", name="Stopped")
    await sign_in(page, server.token, f"/ui/runs/{run}")
    await expect(explanation(page)).to_contain_text("not started")

    await page.keyboard.press("r")
    await expect(chip(page)).to_have_text("paused by you")
    ask(server, "POST", f"/v2/runs/{run}/start")
    over(server, run)
    await expect(explanation(page)).to_contain_text("not started")

    await page.keyboard.press("r")
    await expect(explanation(page)).to_contain_text("Completed", timeout=PATIENCE_MS)


async def test_what_may_cost_too_much_is_blocked_and_says_by_how_much(page: Page, server: Leasehold) -> None:
    set_cap(server, 500_000)
    try:
        await sign_in(page, server.token, "/ui/runs/new?collector=amazon&categories=electronics,home")
        verdict = page.get_by_role("status", name="Verdict")
        await expect(verdict).to_contain_text("Blocked: $0.025 more than the cap of $0.50")
        await expect(page.get_by_role("button", name="Review and confirm")).to_be_disabled()
        await page.get_by_label("Home and kitchen").uncheck()
        await expect(verdict).to_contain_text("Within the cap")
        await page.get_by_role("link", name="Settings").click()
        await page.get_by_label("Budget cap of one run").fill("0.30")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("Saved.")).to_be_visible()
        await page.go_back()
        await expect(verdict).to_contain_text("but 88 % of it")
    finally:
        set_cap(server, 25_000_000)


async def test_at_the_cap_it_waits_for_more_money(page: Page, server: Leasehold, providers: Providers) -> None:
    with held(providers):
        run = begin(server, "electronics", "toys", name="Poor")
        until(lambda: is_cut_short(server, run))
    await sign_in(page, server.token, f"/ui/runs/{run}")

    banner = page.get_by_role("region", name="Budget")
    await expect(banner).to_contain_text("the cap is reached", timeout=PATIENCE_MS)
    assert await barriers(page) == []
    await banner.get_by_role("button", name="Raise cap and resume").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Cap of this run").fill("0.001")
    await expect(dialog.get_by_text("are spent or reserved already")).to_be_visible()
    await dialog.get_by_label("Cap of this run").fill("5")
    await dialog.get_by_role("button", name="Resume — up to $5.00").click()

    await expect(explanation(page)).to_contain_text("Completed", timeout=PATIENCE_MS)
    assert get(server, run)["budget_cap_micros"] == 5_000_000


async def test_a_run_under_way_is_slowed_down_and_a_category_dropped(
    page: Page, server: Leasehold, providers: Providers
) -> None:
    with held(providers):
        run = begin(server, "electronics", "toys", name="Steered")
        await sign_in(page, server.token, f"/ui/runs/{run}")

        dialog = await choose(page, "More actions", "Change the run")
        await dialog.get_by_label("Items at once").fill("0")
        await dialog.get_by_role("button", name="Save changes").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("greater than or equal to 1")
        await dialog.get_by_label("Items at once").fill("5")
        await dialog.get_by_label("toys").check()
        assert await barriers(page) == []
        await dialog.get_by_role("button", name="Save and drop 1").click()

        await expect(dialog).to_have_count(0)
        toys = page.get_by_role("region", name="Summary").get_by_role("listitem").filter(has_text="toys")
        await expect(toys).to_contain_text("dropped", timeout=PATIENCE_MS)
        await page.get_by_role("tab", name="Timeline").click()
        happened = page.get_by_role("list", name="What happened")
        await expect(happened).to_contain_text("from 200 to 5 items at once")
        await expect(happened).to_contain_text("Categories were dropped")

    now = get(server, run)
    assert (now["max_in_flight"], now["dropped_categories"]) == (5, ["toys"])
    ask(server, "POST", f"/v2/runs/{run}/cancel")


async def test_what_failed_is_tried_once_more(page: Page, server: Leasehold) -> None:
    run = over(server, begin(server, "electronics", name="Tried again"))
    failed = get(server, run)["failed_items"]
    await sign_in(page, server.token, f"/ui/runs/{run}?tab=failures")

    await page.get_by_role("button", name="Retry all").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("The run goes on for that")
    await dialog.get_by_role("button", name=f"Retry {failed} items").click()

    await expect(dialog).to_have_count(0)
    await page.get_by_role("tab", name="Timeline").click()
    happened = page.get_by_role("list", name="What happened")
    await expect(happened).to_contain_text("What failed is tried again", timeout=PATIENCE_MS)
    await expect(explanation(page)).to_contain_text("Completed", timeout=PATIENCE_MS)
    assert get(server, over(server, run))["processed_items"] + get(server, run)["failed_items"] == 40


async def test_runs_are_filtered_in_the_address_and_drawn_on_a_timeline(page: Page, server: Leasehold) -> None:
    done = completed(server)
    waiting = plan(server, "toys", name="Only planned")
    await sign_in(page, server.token, "/ui/runs?status=pending&tw=1h")
    await expect(row(page, "Only planned")).to_contain_text("not started")
    await expect(row(page, done["name"])).to_have_count(0)

    await page.get_by_role("button", name=re.compile(r"^Completed \d+$")).click()
    await expect(page).to_have_url(re.compile(r"status=pending%2Ccompleted"))
    await expect(row(page, done["name"])).to_contain_text("· 100 %")
    bar = page.get_by_role("list", name="Timeline of runs").get_by_role("link", name=f"{done['name']}: completed")
    await bar.first.click()
    await expect(page.get_by_role("heading", name=done["name"])).to_be_visible()

    await page.goto("/ui/runs?status=failed")
    await expect(page.get_by_text("No run matches")).to_be_visible()
    await page.get_by_role("button", name="Clear the filters").click()
    dialog = await choose(page, "Actions on Only planned", "Cancel")
    await dialog.get_by_role("button", name="Cancel the run").click()
    await expect(row(page, "Only planned")).to_contain_text("Cancelled")
    assert status(server, waiting) == "cancelled"


async def test_a_stretch_of_the_timeline_is_drawn_over_to_see_it_alone(page: Page, server: Leasehold) -> None:
    done = completed(server)
    await sign_in(page, server.token, "/ui/runs")
    lanes = page.get_by_role("list", name="Timeline of runs")
    await expect(lanes.get_by_role("link", name=f"{done['name']}: completed").first).to_be_visible()
    box = await lanes.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2

    # Also over a bar, which is a link: it is not followed.
    await page.mouse.move(box["x"] + box["width"] - 4, y)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] * 0.6, y, steps=5)
    await page.mouse.up()

    await expect(page).to_have_url(re.compile(r"/ui/runs\?.*from=.*to=|/ui/runs\?.*to=.*from="))
    await expect(page.get_by_role("region", name="Timeline")).to_contain_text(re.compile(r"UTC to \d{4}-\d\d-\d\d"))
    await page.get_by_role("button", name="fit").click()
    await expect(page).to_have_url(re.compile(r"/ui/runs$"))


async def test_money_is_shown_to_the_last_movement(page: Page, server: Leasehold) -> None:
    done = completed(server)
    run = done["id"]
    await sign_in(page, server.token, f"/ui/runs/{run}?tab=cost")

    await expect(page.get_by_role("img", name=re.compile(r"spent of \$25.00"))).to_be_visible()
    ledger = page.get_by_role("table", name="Ledger").get_by_role("row")
    await expect(ledger.nth(1)).to_contain_text("reserve listing")
    async with page.expect_download() as saved:
        await page.get_by_role("button", name="Export as CSV").click()
    assert (await saved.value).suggested_filename == f"{run}-ledger.csv"
    await page.get_by_role("tab", name="Failures").click()
    await expect(page.get_by_role("table", name="Failures")).to_contain_text("not found")
    await page.get_by_role("button", name="Show the items that failed").click()
    await expect(page.get_by_role("table", name="Items").get_by_role("row")).to_have_count(1 + done["failed_items"])


async def test_sellers_that_runs_met_are_found_by_name(page: Page, server: Leasehold) -> None:
    assert "books" in completed(server)["categories"]
    over(server, begin(server, "books", name="Sellers", collector="ebay"))
    await sign_in(page, server.token, "/ui/entities")
    entities = page.get_by_role("table", name="Entities").get_by_role("row")
    name = await entities.nth(1).get_by_role("link").inner_text()

    await page.get_by_label("Search by name").fill(name)

    await expect(entities).to_have_count(2)
    await expect(entities.nth(1)).to_contain_text("feedback score")


async def test_who_may_only_look_can_steer_nothing(page: Page, server: Leasehold) -> None:
    run = plan(server, "toys", name="Looked at")
    await sign_in(page, viewer(server), f"/ui/runs/{run}")

    await expect(page.get_by_role("button", name="Start")).to_be_disabled()
    await expect(page.get_by_role("button", name="Cancel")).to_be_disabled()
    await page.get_by_role("link", name="Settings").click()
    await page.get_by_label("Runs at once").fill("4")
    await expect(page.get_by_role("button", name="Save")).to_be_disabled()


async def test_money_is_told_day_by_day_and_under_the_pointer(page: Page, server: Leasehold) -> None:
    run = completed(server)
    today = ask(server, "GET", "/v2/runs/spending?days=1")["items"][0]
    assert today["spent_micros"] >= run["actual_cost_micros"] > 0
    await sign_in(page, server.token, "/ui/budgets?days=7")

    days = page.get_by_role("list", name="Spent by day").get_by_role("listitem")
    await expect(days).to_have_count(7)
    await expect(days.last).to_have_text(re.compile(rf"^{today['day']}: \$\d+\.\d+ by \d+ runs?today$"))
    await expect(days.first).to_contain_text(": $0.00")

    await page.goto(f"/ui/runs/{run['id']}?tab=cost")
    chart = page.get_by_role("img", name=re.compile("spent of"))
    await expect(chart.locator(".u-over")).to_be_visible()
    box = await chart.locator(".u-over").bounding_box()
    assert box
    await page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    await expect(chart.get_by_text(re.compile(r"^\$[\d.]+ spent$"))).to_be_visible()
    await expect(chart.get_by_text(re.compile(r"^\$[\d.]+ to the cap$"))).to_be_visible()


RUN = "runs/{run}"


@pytest.mark.parametrize(
    ("width", "scheme", "paths"),
    [
        (1440, "light", ["runs/new?collector=amazon&categories=toys", f"{RUN}?feed=1", f"{RUN}?tab=timeline"]),
        (420, "dark", ["settings", "entities", f"{RUN}?tab=cost", f"{RUN}?tab=failures"]),
    ],
)
async def test_every_page_fits_and_is_accessible(
    page: Page, server: Leasehold, width: int, scheme: str, paths: list[str]
) -> None:
    run = completed(server)["id"]
    assert await faults_of(page, server.token, "/ui/runs", width, scheme) == []

    for path in paths:
        await page.goto("/ui/" + path.format(run=run))
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0)
        too_wide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert (path, await barriers(page), too_wide) == (path, [], False)
