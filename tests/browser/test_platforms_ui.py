"""A platform's page and a job's in a real Chromium: breakers, moves of results, attempts and what they cost."""

import asyncio
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.parts.broker import chunk, failed, last
from tests.parts.operator import ask, barriers, faults_of, opened, row, sign_in, viewer
from tests.parts.process import Leasehold, place

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATIENCE_MS = 20_000
NUMBERS = count()
PLATFORM = """
platform: {slug}
title: {title}
task_types:
  page:
    title: A page
    schema:
      type: object
      required: [page]
      additionalProperties: false
      properties: {{page: {{type: string, minLength: 2}}{property}}}
    example: {{page: front{example}}}
  {own}:
    schema: {{type: object, properties: {{words: {{type: string}}}}}}
    example: {{words: moon}}
timeouts: {{lease_seconds: 600}}
retry:
  attempts: 3
  backoff: {{first_seconds: 0.0, jitter: 0.0}}
  retryable: [timeout]
  fatal: [not_found]
  snooze: [no_account]
{more}
"""
NEWS = """
limits: {concurrency: 2, rate: {tasks: 600, per_seconds: 60.0, burst: 100}}
canary: {share: 0.05, patience_seconds: 0}
prices:
  - {since: 2020-01-01, micros: 1500}
  - {since: 2020-02-01, micros: 250, per: document, task_type: search}
writer: {target: postgres, phase: observe, shadow: postgres, compare_at_least: 1}
"""
BOARD = """
writer: {target: postgres, phase: primary, shadow: postgres, compare_at_least: 2}
"""
SHAKY = """
breaker: {percent: 50, at_least: 2, window_seconds: 600, probe_seconds: 300}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leasehold]:
    """One with platforms of its own: `news` is being moved, `board` was, `shaky` breaks."""
    folder: Path = tmp_path_factory.mktemp("platforms")
    said = {"property": ", pages: {type: integer}", "example": ", pages: 3"}
    for slug, title, more in (("news", "News", NEWS), ("board", "Board", BOARD), ("shaky", "Shaky", SHAKY)):
        own = said if slug == "news" else {"property": "", "example": ""}
        own["own"] = "search" if slug == "news" else f"only_{slug}"
        (folder / f"{slug}.yaml").write_text(PLATFORM.format(slug=slug, title=title, more=more, **own))
    with place() as here:
        yield here.up(LEASEHOLD_PLATFORMS_DIR=str(folder))


def submit(server: Leasehold, job: str, platform: Any = "news", **more: Any) -> None:
    asked = {"task_type": "page", "payload": {"page": "front"}, **more}
    ask(server, "POST", "/v2/jobs", {"job_id": job, "platform": platform, **asked})


def take(server: Leasehold, platform: str = "news", owner: str = "crawler-1") -> Any:
    (lease,) = ask(server, "POST", "/v2/tasks/acquire", {"owner": owner, "platforms": [platform]})["leases"]
    return lease


def bring(server: Leasehold, *results: Any) -> None:
    ask(server, "POST", "/v2/tasks/results", {"items": list(results)})


def crawl(server: Leasehold, job: str, platform: str) -> None:
    submit(server, job, platform)
    lease = take(server, platform)
    bring(server, chunk(lease, "p1", {"n": 1}), chunk(lease, "p2", {"n": 2}, {"n": 3}), last(lease))


def break_it(server: Leasehold) -> None:
    """Have the breaker of `shaky` open, if it is not."""
    if ask(server, "GET", "/v2/platforms/shaky")["breaker"]["state"] == "open":
        return
    for _ in range(3):
        submit(server, f"shaken-{next(NUMBERS)}", "shaky", max_attempts=1)
    leases = [take(server, "shaky") for _ in range(2)]
    bring(server, *(failed(one, "timeout") for one in leases))


def platform(server: Leasehold, slug: str) -> Any:
    return ask(server, "GET", f"/v2/platforms/{slug}")


async def until_the_same(server: Leasehold, slug: str, *, chunks: int) -> None:
    """Until what was sent to the shadow is written there, and so many chunks were found equal."""
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while ask(server, "GET", f"/v2/platforms/{slug}/parity")["equal"] < chunks:
            await asyncio.sleep(0.05)


def panel(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


async def test_limits_are_changed_for_a_while_after_a_preview_and_taken_back(page: Page, server: Leasehold) -> None:
    for number in range(5):
        submit(server, f"limited-{number}")
    for _ in range(2):
        take(server)
    await sign_in(page, server.token, "/ui/platforms/news")
    limits = panel(page, "Limits")
    await limits.get_by_role("button", name="Change limits").click()
    dialog = page.get_by_role("dialog", name="Change the limits of news")
    await expect(dialog.get_by_role("status")).to_contain_text("Say what is to be another.")
    await dialog.get_by_label("At once").fill("4")
    await expect(dialog.get_by_role("status")).to_contain_text("Would start 2 waiting jobs. 2 in flight, 3 waiting.")
    await dialog.get_by_label("At once").fill("1")
    await expect(dialog.get_by_role("status")).to_contain_text("Has 1 more in hand than that.")
    await expect(dialog.get_by_role("button", name="Change limits")).to_be_disabled()
    assert platform(server, "news")["limits_override"] is None
    await dialog.get_by_label("At once").fill("3")
    await dialog.get_by_label("Reason").fill("they allow us more tonight")
    assert await barriers(page) == []
    await dialog.get_by_role("button", name="Change limits").click()

    await expect(dialog).to_have_count(0)
    told = page.get_by_role("region", name="Explanation")
    await expect(told).to_contain_text("Its file says 2 at once, now 3 until")
    await expect(told).to_contain_text("they allow us more tonight")
    await expect(limits).to_contain_text("file says 2")
    assert await barriers(page) == []
    take(server)
    await page.goto("/ui/platforms")
    await expect(row(page, "news").first).to_contain_text("Limits changed")
    await page.goto("/ui/jobs/limited-3")
    waits = page.get_by_role("region", name="Explanation")
    await expect(waits).to_contain_text("which is all it bears (its file says 2; changed by")

    await page.goto("/ui/platforms/news")
    await told.get_by_role("button", name="Back to the file").click()
    await expect(limits).not_to_contain_text("file says")
    assert platform(server, "news")["concurrency"] == 2
    for number in range(5):
        ask(server, "POST", f"/v2/jobs/limited-{number}/dead-letter", {"reason": "only for limits"})


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_changed_limits_fit_and_are_accessible(page: Page, server: Leasehold, width: int, scheme: str) -> None:
    wish = {"concurrency": 12, "rate": {"tasks": 30, "per_seconds": 60.0}, "reason": "a long reason " * 12}
    ask(server, "PUT", "/v2/platforms/board/limits", wish)

    faults = await faults_of(page, server.token, "/ui/platforms/board", width, scheme)
    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("until somebody takes it back")

    assert faults == []
    ask(server, "DELETE", "/v2/platforms/board/limits")


async def test_the_list_says_limits_breaker_and_phase_of_each(page: Page, server: Leasehold) -> None:
    break_it(server)
    await sign_in(page, server.token, "/ui/platforms")

    for said in ("Running", "Closed", "0 of 2", "600 per min", "canary 5 %", "observe"):
        await expect(row(page, "News")).to_contain_text(said)
    await expect(row(page, "Shaky")).to_contain_text("Open")
    await expect(row(page, "Shaky")).to_contain_text(re.compile(r"next probe in \d:\d\d"))
    hour = row(page, "Shaky").get_by_role("img", name=re.compile(r"attempts in the last hour, [1-9]\d* failed"))
    await expect(hour).to_be_visible()


async def test_an_open_breaker_says_why_and_is_closed_by_hand(page: Page, server: Leasehold) -> None:
    break_it(server)
    await sign_in(page, server.token, "/ui/platforms/shaky")
    why = page.get_by_role("region", name="Explanation")
    await expect(why).to_contain_text("Its breaker is open: 2 of 2 attempts failed within 600 seconds.")
    await expect(panel(page, "Breaker")).to_contain_text("2 of 2 failed")

    await page.get_by_role("button", name="Close the breaker").click()

    await expect(panel(page, "Breaker")).to_contain_text("Closed")
    await expect(page.get_by_role("list", name="Lately")).to_contain_text("Breaker opened")
    assert platform(server, "shaky")["breaker"]["state"] == "closed"


async def test_a_platform_shows_what_its_file_says(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/platforms/news")

    await expect(panel(page, "Limits")).to_contain_text("600 per min")
    await expect(panel(page, "Limits")).to_contain_text("5 %, for 0 s")
    await expect(panel(page, "Retry")).to_contain_text("no_account")
    await expect(panel(page, "Prices")).to_contain_text("$0.0015 per task")
    await expect(panel(page, "Prices")).to_contain_text("$0.00025 per document")


async def test_what_differs_is_shown_and_promoted_only_with_a_reason(page: Page, server: Leasehold) -> None:
    crawl(server, "moved", "news")
    await sign_in(page, server.token, "/ui/platforms/news")
    await expect(page.get_by_role("list", name="Phases").locator("[aria-current]")).to_contain_text("Observe")
    results = panel(page, "Results")
    await expect(results).to_contain_text("Not compared yet.")

    report = panel(page, "Parity")
    async with page.expect_response(re.compile("/parity")):
        await results.get_by_role("button", name="Compare").click()
    await expect(report).to_contain_text("Gate closed: 2 differ")
    await expect(report).to_contain_text("Missing in the target: 2")
    await report.get_by_text('Missing in the target: moved, "p1"').click()
    await expect(report.get_by_text("Not there.").first).to_be_visible()
    await expect(report.get_by_role("region", name="Shadow, postgres").first).to_contain_text('"n": 1')

    await results.get_by_role("button", name="Promote").click()
    dialog = page.get_by_role("dialog")
    go = dialog.get_by_role("button", name="Promote to dual all the same")
    await expect(go).to_be_disabled()
    await dialog.get_by_label("Reason for the override").fill("the old store is gone")
    assert platform(server, "news")["writer"]["phase"] == "observe"
    await go.click()

    await expect(page.get_by_role("list", name="Phases").locator("[aria-current]")).to_contain_text("Dual")
    await expect(page.get_by_role("list", name="Lately")).to_contain_text("the old store is gone")
    assert platform(server, "news")["writer"]["phase"] == "dual"


async def test_what_the_gate_refuses_asks_for_a_reason_without_a_report_too(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/platforms/news")
    await panel(page, "Results").get_by_role("button", name="Promote").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("To phase").select_option("Stream")

    await dialog.get_by_role("button", name="Promote to stream").click()

    await expect(dialog.get_by_role("alert")).to_contain_text("must be, without exception")
    await expect(dialog.get_by_label("Reason for the override")).to_be_visible()
    assert platform(server, "news")["writer"]["phase"] != "stream"


async def test_what_is_the_same_is_promoted_and_rolled_back(page: Page, server: Leasehold) -> None:
    crawl(server, "settled", "board")
    await sign_in(page, server.token, "/ui/platforms/board")
    results, phase = panel(page, "Results"), page.get_by_role("list", name="Phases").locator("[aria-current]")
    await results.get_by_role("button", name="Roll back").click()
    await page.get_by_role("dialog").get_by_role("button", name="Roll back to dual").click()
    await expect(phase).to_contain_text("Dual")

    await results.get_by_role("button", name="Shadow replay").click()
    await page.get_by_role("dialog").get_by_role("button", name="Replay into the shadow").click()
    await expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("2 chunks are on the way")
    await page.get_by_role("dialog").get_by_role("button", name="Done").click()
    await until_the_same(server, "board", chunks=2)
    async with page.expect_response(re.compile("/parity")):
        await results.get_by_role("button", name="Compare").click()
    await expect(panel(page, "Parity")).to_contain_text("Gate open", timeout=PATIENCE_MS)
    await results.get_by_role("button", name="Promote").click()
    await page.get_by_role("dialog").get_by_role("button", name="Promote to primary").click()

    await expect(phase).to_contain_text("Primary")
    assert platform(server, "board")["writer"]["phase"] == "primary"


async def test_a_comparison_is_drawn_by_when_results_came(page: Page, server: Leasehold) -> None:
    async def of_two_days(route: Route) -> None:
        answer = await route.fetch()
        days = [("2026-05-01", 40, 40), ("2026-05-02", 20, 17)]
        over_time = [
            {"from_at": f"{day}T00:00:00Z", "seconds": 86_400, "compared": compared, "equal": equal}
            for day, compared, equal in days
        ]
        await route.fulfill(response=answer, json={**await answer.json(), "over_time": over_time})

    await page.route(re.compile("/parity"), of_two_days)
    await sign_in(page, server.token, "/ui/platforms/board")
    await panel(page, "Results").get_by_role("button", name="Compare").click()

    drawn = page.get_by_role("figure", name="Parity over time")
    await expect(drawn).to_contain_text("2026-05-01 to 2026-05-02")
    words = "Chunks differ in 1 of 2 days, the last time in 2026-05-02: 17 of 20 chunks are the same."
    await expect(drawn.get_by_role("img", name=words)).to_be_visible()
    assert await barriers(page) == []


async def test_a_comparison_that_failed_is_tried_again(page: Page, server: Leasehold) -> None:
    await page.route(re.compile("/parity"), lambda route: route.abort())
    await sign_in(page, server.token, "/ui/platforms/board")
    await panel(page, "Results").get_by_role("button", name="Compare").click()
    await expect(page.get_by_role("alert")).to_contain_text("could not be compared", timeout=PATIENCE_MS)

    await page.unroute(re.compile("/parity"))
    await page.get_by_role("button", name="Retry").click()

    await expect(panel(page, "Parity")).to_be_visible()


async def test_a_job_tells_each_attempt_with_its_cost(page: Page, server: Leasehold) -> None:
    submit(server, "costly", priority=9)
    bring(server, failed(take(server), "timeout"))
    bring(server, failed(take(server, owner="crawler-2"), "no_account", retry_after_seconds=0))
    bring(server, last(take(server, owner="crawler-3"), metrics={"cost_micros": 400}))
    await sign_in(page, server.token, "/ui/jobs/costly")

    tries = page.get_by_role("table", name="Attempts").get_by_role("row")

    await expect(tries).to_have_count(4)
    for number, said in enumerate((["timeout", "$0.0015"], ["Put off", "crawler-2"], ["Completed", "$0.0004"])):
        for text in said:
            await expect(tries.nth(number + 1)).to_contain_text(text)
    part = page.get_by_role("table", name="Parts").get_by_role("row").nth(1)
    await expect(part).to_contain_text("$0.0034")
    await expect(panel(page, "Facts")).to_contain_text(re.compile("Snoozes\\s*1"))


async def test_a_waiting_job_says_which_limit_who_holds_it_and_its_position(page: Page, server: Leasehold) -> None:
    for job in ("holding-1", "holding-2", "held-1", "held-2"):
        submit(server, job)
    for _ in range(2):
        take(server, owner="busy-crawler")
    await sign_in(page, server.token, "/ui/jobs/held-2")

    waits = panel(page, "What it waits for at news")

    await expect(waits).to_contain_text("at limit")
    await expect(waits.get_by_role("meter")).to_have_attribute("aria-valuetext", "2 of 2")
    await expect(waits).to_contain_text(re.compile("Position\\s*2"))
    await expect(waits.get_by_role("list", name="Holders at news")).to_contain_text("busy-crawler 2 tasks")
    await expect(waits).to_contain_text(re.compile("Clears\\s*in \\d"))
    for job in ("holding-1", "holding-2", "held-1", "held-2"):
        ask(server, "POST", f"/v2/jobs/{job}/cancel")


async def test_a_job_is_asked_of_several_platforms_at_once(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/jobs?platform=news")
    await page.get_by_role("button", name="New job").first.click()
    dialog = page.get_by_role("dialog", name="New job")
    await expect(dialog.get_by_label("Task type").get_by_role("option")).to_have_count(2)
    await dialog.get_by_label("page", exact=True).fill("x")
    await dialog.get_by_label("Board").check()
    await expect(dialog.get_by_label("Task type").get_by_role("option")).to_have_count(1)
    await expect(dialog.get_by_text("Only news takes it.")).to_be_visible()
    await expect(dialog.get_by_label("pages (optional)")).to_have_value("")

    await dialog.get_by_role("button", name="Submit").click()
    await expect(dialog.get_by_label("page", exact=True)).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("page", exact=True).fill("front")
    await dialog.get_by_role("button", name="Submit").click()

    parts = page.get_by_role("table", name="Parts").get_by_role("row")
    await expect(parts).to_have_count(3)
    job = page.url.rpartition("/")[2]
    assert ask(server, "GET", f"/v2/jobs/{job}")["platform"] == ["news", "board"]
    ask(server, "POST", f"/v2/jobs/{job}/cancel")


async def test_a_job_of_no_platform_is_not_sent(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/jobs?platform=news")
    await page.get_by_role("button", name="New job").first.click()
    dialog = page.get_by_role("dialog", name="New job")

    await dialog.get_by_label("News").uncheck()

    await expect(dialog.get_by_text("Choose a platform.")).to_be_visible()
    await expect(dialog.get_by_role("button", name="Submit")).to_be_disabled()


async def test_who_may_only_look_can_compare_and_not_promote(page: Page, server: Leasehold) -> None:
    await sign_in(page, viewer(server), "/ui/platforms/news")
    results = panel(page, "Results")

    await results.get_by_role("button", name="Compare").click()

    await expect(panel(page, "Parity")).to_be_visible()
    for name in ("Promote", "Roll back", "Shadow replay"):
        await expect(results.get_by_role("button", name=name)).to_be_disabled()


@pytest.mark.parametrize("path", ["platforms", "platforms/shaky", "platforms/news", "jobs/costly"])
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (420, "dark")])
async def test_every_page_fits_and_is_accessible(
    page: Page, server: Leasehold, path: str, width: int, scheme: str
) -> None:
    break_it(server)

    assert await faults_of(page, server.token, f"/ui/{path}", width, scheme) == []


@pytest.mark.parametrize("button", ["Promote", "Roll back", "Shadow replay", "New job"])
async def test_what_opens_on_top_is_accessible(page: Page, server: Leasehold, button: str) -> None:
    await sign_in(page, server.token, "/ui/platforms/news")

    await opened(page, button)

    assert await barriers(page) == []
