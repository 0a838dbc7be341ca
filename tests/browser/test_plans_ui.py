"""Plans in a real Chromium: what a run was started with, what the next may cost, and what it may leave out."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.parts.operator import ask, barriers, sign_in
from tests.parts.process import Leasehold, place, until
from tests.parts.simulated import Providers

pytestmark = pytest.mark.asyncio(loop_scope="session")

CAP = 25_000_000


@pytest.fixture(scope="module")
def server() -> Iterator[Leasehold]:
    """A server whose providers have 40 products in a category, each seventh of them missing."""
    with place() as here:
        providers = Providers(here, "--items", "40", "--latency-ms", "2", "--missing-every", "7")
        yield here.up(**providers.environment)


def plan(server: Leasehold, *categories: str, **more: Any) -> str:
    made: str = ask(server, "POST", "/v2/runs", {"collector": "amazon", "categories": list(categories), **more})["id"]
    return made


def completed(server: Leasehold, *categories: str, **more: Any) -> str:
    run = plan(server, *categories, **more)
    ask(server, "POST", f"/v2/runs/{run}/start")
    until(lambda: ask(server, "GET", f"/v2/runs/{run}")["status"] == "completed")
    return run


def setting(page: Page, name: str) -> Locator:
    """The rows of settings of this name."""
    rows = page.get_by_role("table", name="Settings").get_by_role("row")
    return rows.filter(has=page.get_by_text(name, exact=True))


async def test_what_a_run_was_started_with_is_compared_with_what_is_now(page: Page, server: Leasehold) -> None:
    run = completed(server, "home")
    await sign_in(page, server.token, f"/ui/runs/{run}")
    await page.get_by_role("tab", name="Config").click()
    compared = page.get_by_role("status", name="Comparison")
    await expect(compared).to_contain_text("Nothing differs from what it was started with")
    await expect(setting(page, "Cap")).to_have_text(re.compile(r"^Cap\$25\.00\$25\.00$"))
    assert await barriers(page) == []

    ask(server, "PUT", "/v2/settings", {"budget_cap_micros": 30_000_000})
    try:
        await page.reload()
        await expect(compared).to_contain_text("1 setting differs from what it was started with")
        await expect(setting(page, "Cap of a run")).to_have_text(
            re.compile(r"^Cap of a run\s?differs\$25\.00\$30\.00$")
        )
        assert await barriers(page) == []

        await page.get_by_label("Only what differs").check()
        await expect(page).to_have_url(re.compile("differs=1"))
        await expect(setting(page, "Cap")).to_have_count(0)
        await expect(setting(page, "Cap of a run")).to_be_visible()
    finally:
        ask(server, "PUT", "/v2/settings", {"budget_cap_micros": CAP})


async def test_a_config_that_cannot_be_had_says_so_and_can_be_asked_for_again(page: Page, server: Leasehold) -> None:
    run = plan(server, "toys")

    async def refuse(route: Route) -> None:
        await route.fulfill(
            status=503, json={"type": "/problems/away", "title": "Away", "status": 503, "detail": "No."}
        )

    await page.route("**/config", refuse)
    await sign_in(page, server.token, f"/ui/runs/{run}?tab=config")
    await expect(page.get_by_text("What it was started with could not be loaded.")).to_be_visible()

    await page.unroute("**/config")
    await page.get_by_role("button", name="Retry").click()

    await expect(page.get_by_role("status", name="Comparison")).to_contain_text("what it was planned with")
    await expect(page.get_by_role("columnheader", name="Planned with")).to_be_visible()


async def test_a_plan_says_what_is_likely_and_where_a_cap_would_end_it(page: Page, server: Leasehold) -> None:
    completed(server, "books")  # of which 40 are found where 500 are wanted
    await sign_in(page, server.token, "/ui/runs/new?collector=amazon&categories=electronics,books")
    review = page.get_by_role("table", name="Estimate")
    never = review.get_by_role("row").filter(has_text="Electronics")
    await expect(never).to_contain_text("list price, never run")
    learned = review.get_by_role("row").filter(has_text="Books")
    await expect(learned).to_contain_text("from 1 run")
    await expect(learned).to_contain_text("$0.021")

    await page.get_by_label("Cap of this run").fill("99")
    await expect(page.get_by_text("Not above $25.00, which the organisation allows.")).to_be_visible()
    await expect(page.get_by_role("button", name="Review and confirm")).to_be_disabled()
    await page.get_by_label("Cap of this run").fill("0.105")
    verdict = page.get_by_role("status", name="Verdict")
    await expect(verdict).to_contain_text("likely to pause near item 200")
    await expect(page).to_have_url(re.compile("cap=0.105"))
    assert await barriers(page) == []

    await page.get_by_role("button", name=re.compile("^Expected")).click()
    await expect(verdict).to_contain_text("Within the cap of $0.29 as expected")
    await page.get_by_role("button", name="Review and confirm").click()
    await page.get_by_role("button", name="Start run — up to $0.29").click()

    await expect(page).to_have_url(re.compile(r"/ui/runs/run_"))
    run = page.url.rsplit("/", 1)[1].partition("?")[0]
    assert ask(server, "GET", f"/v2/runs/{run}")["budget_cap_micros"] == 290_000


async def test_what_was_collected_lately_can_be_left_out(page: Page, server: Leasehold) -> None:
    before = ask(server, "GET", f"/v2/runs/{completed(server, 'toys')}")
    await sign_in(page, server.token, "/ui/runs/new?collector=amazon&categories=toys")
    lately = page.get_by_role("group", name="Collected lately")
    await expect(lately).to_contain_text(f"Toys and games: {before['processed_items']} of up to 500")

    await lately.get_by_label("Skip what was collected").check()
    await expect(page).to_have_url(re.compile("skip=7"))
    assert await barriers(page) == []
    await page.get_by_role("button", name="Review and confirm").click()
    await page.get_by_role("button", name=re.compile("^Start run")).click()

    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("Completed")
    await page.get_by_role("tab", name="Timeline").click()
    happened = page.get_by_role("list", name="What happened")
    await expect(happened).to_contain_text("skips what was collected in the last 7 days")
    await expect(happened).to_contain_text(f"{before['processed_items']} items of toys, collected in the last 7 days")
    await page.get_by_role("tab", name="Items").click()
    await page.get_by_label("Status of items").select_option("Skipped")
    await expect(page.get_by_text("collected_lately: Collected within the last 7 days.").first).to_be_visible()
