"""The console around the pages, in a real Chromium: the overview, the palette, keys, views, and many at once."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.parts.operator import account, ask, barriers, row, sign_in, site, viewer
from tests.parts.process import Leasehold, place

pytestmark = pytest.mark.asyncio(loop_scope="session")

VIDEO = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "dQw4w9WgXcQ"}}


@pytest.fixture(scope="module")
def server() -> Iterator[Leasehold]:
    with place() as here:
        yield here.up()


@pytest.fixture(scope="module")
def filled(server: Leasehold) -> Leasehold:
    """A server with something to see: a paused site, a blocked account, jobs, and a run that was planned."""
    site(server, "board")
    site(server, "quiet")
    ask(server, "POST", "/v2/sites/quiet/pause", {"reason": "captcha wave"})
    blocked = account(server, "board", "ann")
    ask(server, "PATCH", f"/v2/accounts/{blocked}", {"state": "blocked", "reason": "asked for a code"})
    for name in ("first", "second", "third"):
        ask(server, "POST", "/v2/jobs", {**VIDEO, "job_id": f"job-{name}"})
    ask(server, "POST", "/v2/runs", {"collector": "amazon", "categories": ["toys"], "name": "Toys"})
    return server


def concerns(page: Page) -> Locator:
    return page.get_by_role("list", name="Needs attention").get_by_role("listitem")


async def ready(page: Page, heading: str) -> None:
    """The page is there and has the keyboard: a key pressed now is heard by it."""
    await expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
    await expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0)


async def palette(page: Page) -> Locator:
    await page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Go to a page, a thing or an action")
    await expect(field).to_be_focused()
    return field


def option(page: Page, name: re.Pattern[str]) -> Locator:
    return page.get_by_role("option", name=name)


async def test_whoever_comes_first_is_told_where_to_begin(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token)

    await expect(page).to_have_url(re.compile(r"/ui/overview$"))
    await page.get_by_role("list", name="Begin here").get_by_role("link", name="Make a site").click()
    await expect(page.get_by_text("No sites yet")).to_be_visible()


async def test_the_overview_says_what_needs_somebody_and_leads_there(page: Page, filled: Leasehold) -> None:
    await sign_in(page, filled.token)

    await expect(concerns(page)).to_have_count(2)
    await expect(concerns(page).filter(has_text="quiet")).to_contain_text("captcha wave")
    await expect(page.get_by_role("link", name="Overview 2 need attention")).to_be_visible()
    await expect(page.get_by_role("link", name=re.compile("Oldest pending"))).to_contain_text("at youtube")
    await concerns(page).get_by_role("link", name="board").click()
    await expect(page).to_have_url(re.compile(r"/accounts\?site=board&state=blocked$"))
    await expect(row(page, "ann")).to_be_visible()

    await page.get_by_role("link", name=re.compile("^Overview")).click()
    await page.get_by_role("button", name="6 h").click()
    await expect(page).to_have_url(re.compile(r"tw=6h"))
    await expect(page.get_by_role("img", name=re.compile("3 jobs under way now"))).to_be_visible()


async def test_the_palette_leads_to_pages_things_ids_and_actions(page: Page, filled: Leasehold) -> None:
    run = ask(filled, "GET", "/v2/runs")["items"][0]["id"]
    await sign_in(page, filled.token)
    await ready(page, "Overview")

    field = await palette(page)
    assert await barriers(page) == []
    await field.fill("quiet")
    await expect(option(page, re.compile("^quiet in Sites"))).to_have_attribute("aria-selected", "true")
    await field.press("Enter")
    await expect(page).to_have_url(re.compile(r"/sites/quiet$"))
    await ready(page, "quiet")

    field = await palette(page)
    await field.fill("dead")
    await expect(option(page, re.compile("^Dead letters in Pages"))).to_have_attribute("aria-selected", "true")
    await field.press("ArrowDown")
    await expect(option(page, re.compile("^Dead letters in Pages"))).to_have_attribute("aria-selected", "false")
    await field.press("ArrowUp")
    await field.press("Enter")
    await ready(page, "Dead letters")

    field = await palette(page)
    await field.fill(run)
    await field.press("Enter")
    await ready(page, "Toys")

    field = await palette(page)
    await field.fill("light or dark")
    await field.press("Enter")
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")

    field = await palette(page)
    await field.press("Escape")
    await expect(field).to_have_count(0)


async def test_a_list_is_walked_with_the_keyboard(page: Page, filled: Leasehold) -> None:
    await sign_in(page, filled.token, "/ui/jobs")
    await ready(page, "Jobs")
    jobs = page.get_by_role("table", name="Jobs")

    await page.keyboard.press("j")
    await expect(jobs.get_by_role("link", name="job-third")).to_be_focused()
    await page.keyboard.press("j")
    await expect(jobs.get_by_role("link", name="job-second")).to_be_focused()
    await page.keyboard.press("k")
    await expect(jobs.get_by_role("link", name="job-third")).to_be_focused()
    await page.keyboard.press("x")
    await expect(page.get_by_label("Choose job-third")).to_be_checked()
    await page.keyboard.press("x")
    await expect(page.get_by_label("Choose job-third")).not_to_be_checked()

    await page.keyboard.press("/")
    field = page.get_by_label("Search jobs")
    await expect(field).to_be_focused()
    await field.type("g")  # typed, and no way to anywhere
    await expect(field).to_have_value("g")
    await field.fill("status:failed")
    await field.press("Enter")
    await expect(page).to_have_url(re.compile(r"status=failed"))
    await expect(page.get_by_text("No job matches")).to_be_visible()
    await field.fill("job-first")
    await field.press("Enter")
    await ready(page, "job-first")

    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("Dead letters")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.keyboard.press("g")
    await page.keyboard.press("p")
    await ready(page, "Platforms")


async def test_a_view_is_saved_kept_and_removed(page: Page, filled: Leasehold) -> None:
    await sign_in(page, filled.token, "/ui/jobs?platform=youtube&status=pending")
    await ready(page, "Jobs")

    await page.get_by_role("button", name="Share this page").click()
    await page.get_by_role("menuitem", name="Save this view").click()
    dialog = page.get_by_role("dialog", name="Save this view")
    await dialog.get_by_label("Name").fill("Waiting at YouTube")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_be_hidden()
    await page.goto("/ui/sites")
    await page.get_by_role("link", name="Waiting at YouTube").click()
    await expect(page).to_have_url(re.compile(r"/jobs\?platform=youtube&status=pending$"))
    await page.get_by_role("button", name="Remove the view Waiting at YouTube").click()
    await expect(page.get_by_role("link", name="Waiting at YouTube")).to_have_count(0)

    # What everybody has: nothing is stuck yet, and the page says by which filters.
    await page.get_by_role("link", name="Stuck > 15 min").click()
    await expect(page.get_by_text("No job matches")).to_be_visible()
    await expect(page.get_by_label("Age", exact=True)).to_have_value("15m")


async def test_the_question_behind_a_page_can_be_taken_to_a_shell(page: Page, filled: Leasehold) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await sign_in(page, filled.token, "/ui/jobs?status=pending")
    await ready(page, "Jobs")

    await page.get_by_role("button", name="Share this page").click()
    await page.get_by_role("menuitem", name="Copy as curl").click()
    await expect(page.get_by_text("Command copied")).to_be_visible()

    said = await page.evaluate("navigator.clipboard.readText()")
    assert said == f"curl -H \"Authorization: Bearer $LEASEHOLD_TOKEN\" '{filled.address}/v2/jobs?status=pending'"


async def test_the_same_is_done_to_all_that_are_chosen(page: Page, filled: Leasehold) -> None:
    names = [f"job-many-{number}" for number in range(4)]
    for name in names:
        ask(filled, "POST", "/v2/jobs", {**VIDEO, "job_id": name})
    await sign_in(page, filled.token, "/ui/jobs?status=pending")
    await ready(page, "Jobs")

    await page.get_by_label(f"Choose {names[0]}").click()
    await page.get_by_label(f"Choose {names[3]}").click(modifiers=["Shift"])
    await expect(page.get_by_text("4 chosen")).to_be_visible()
    await page.get_by_role("button", name="Cancel 4").click()
    dialog = page.get_by_role("dialog", name="Cancel 4")
    await dialog.get_by_role("button", name="Cancel 4").click()
    await expect(dialog).to_be_hidden()

    await expect(page.get_by_label(f"Choose {names[0]}")).to_have_count(0)
    found = {name: ask(filled, "GET", f"/v2/jobs/{name}")["status"] for name in names}
    assert set(found.values()) == {"cancelled"}
    assert ask(filled, "GET", "/v2/jobs/job-first")["status"] == "pending"


async def test_this_browser_remembers_how_it_is_refreshed_and_whose_clock_it_goes_by(
    page: Page, filled: Leasehold
) -> None:
    await sign_in(page, filled.token, "/ui/sites/board")
    await ready(page, "board")
    moment = page.locator("time[title]").first
    await expect(moment).to_have_attribute("title", re.compile(" UTC$"))

    await page.get_by_role("button", name="Times in UTC").click()
    await expect(moment).to_have_attribute("title", re.compile(r" UTC.\d\d:\d\d$"))
    await page.get_by_label("Refresh").select_option("15")
    await expect(page.get_by_role("status", name="Freshness").first).to_have_text("every 15 s")
    await page.reload()

    await expect(page.get_by_role("status", name="Freshness").first).to_have_text("every 15 s")
    await expect(moment).to_have_attribute("title", re.compile(r" UTC.\d\d:\d\d$"))
    await page.get_by_label("Refresh").select_option("off")
    await expect(page.get_by_role("status", name="Freshness").first).to_have_text("paused by you")


async def test_a_page_that_stands_still_asks_for_nothing(page: Page, filled: Leasehold) -> None:
    await page.clock.install()
    await sign_in(page, filled.token, "/ui/jobs?status=cancelled")
    await ready(page, "Jobs")
    await page.get_by_label("Refresh").select_option("off")
    await expect(page.get_by_role("status", name="Freshness").first).to_have_text("paused by you")
    ask(filled, "POST", "/v2/jobs", {**VIDEO, "job_id": "job-unseen"})
    ask(filled, "POST", "/v2/jobs/job-unseen/cancel")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    # What is asked all the time shows that the time has passed.
    async with page.expect_request("**/readyz"):
        await page.clock.fast_forward(40_000)

    assert not [url for url in asked if "/v2/" in url]
    await expect(row(page, "job-unseen")).to_have_count(0)
    await page.get_by_label("Refresh").select_option("live")
    await expect(row(page, "job-unseen")).to_be_visible()


async def test_budgets_show_each_run_and_hand_out_its_ledger(page: Page, filled: Leasehold) -> None:
    await sign_in(page, filled.token, "/ui/budgets")
    meter = page.get_by_role("meter", name="Budget of Toys")
    await expect(meter).to_have_attribute("aria-valuetext", "$0.00 of $25.00")
    await expect(page.get_by_role("table", name="Prices")).to_contain_text("Toys and games")

    async with page.expect_download() as download:
        await page.get_by_role("button", name="CSV of the ledger of Toys").click()

    assert (await download.value).suggested_filename.endswith("-ledger.csv")
    await page.get_by_role("button", name="Over 80 %").click()
    await expect(page.get_by_text("No run matches")).to_be_visible()


async def test_the_system_page_says_what_runs_and_which_version(page: Page, filled: Leasehold) -> None:
    said: Any = ask(filled, "GET", "/v2/system")
    await sign_in(page, filled.token, "/ui/system")

    services = page.get_by_role("table", name="Background services")
    await expect(services.get_by_role("row", name=re.compile("^reaper"))).to_contain_text("Well")
    version = page.get_by_role("region", name="Version")
    await expect(version).to_contain_text(said["schema_step"])
    await expect(version).to_contain_text(said["settings_hash"])
    await expect(page.get_by_role("region", name="Alerts")).to_contain_text("LEASEHOLD_ALERT_URL")


async def test_a_page_whose_code_is_gone_offers_to_load_it_again(page: Page, filled: Leasehold) -> None:
    await page.route(re.compile(r"/assets/LeasesPage-.*\.js"), lambda route: route.abort())
    await sign_in(page, filled.token, "/ui/sites")
    await ready(page, "Sites")

    await page.get_by_role("link", name="Leases", exact=True).click()
    await expect(page.get_by_role("button", name="Reload")).to_be_visible()

    await page.unroute(re.compile(r"/assets/LeasesPage-.*\.js"))
    await page.get_by_role("button", name="Reload").click()
    await expect(page.get_by_role("heading", level=1, name="Leases")).to_be_visible()


async def test_who_may_only_look_sees_the_overview_and_changes_nothing(page: Page, filled: Leasehold) -> None:
    await sign_in(page, viewer(filled), "/ui/jobs?status=pending")
    await ready(page, "Jobs")
    await page.get_by_label("Choose job-first").click()

    await expect(page.get_by_role("button", name="Cancel 1")).to_be_disabled()


def at_tiktok(server: Leasehold, *names: str) -> None:
    for name in names:
        ask(
            server,
            "POST",
            "/v2/jobs",
            {**VIDEO, "platform": "tiktok", "job_id": name, "payload": {"video_id": "7" * 19}},
        )


async def test_rows_keep_their_places_while_they_are_in_hand(page: Page, filled: Leasehold) -> None:
    at_tiktok(filled, "job-held")
    await sign_in(page, filled.token, "/ui/jobs?platform=tiktok")
    await ready(page, "Jobs")
    jobs = page.get_by_role("table", name="Jobs").locator("tbody tr")
    await page.get_by_label("Choose job-held").click()

    at_tiktok(filled, "job-late-1", "job-late-2")
    await expect(page.get_by_role("button", name="2 new")).to_be_visible()
    await expect(jobs).to_have_count(1)
    # What becomes of a row that is held is seen in its place.
    ask(filled, "POST", "/v2/jobs/job-held/cancel")
    await expect(row(page, "job-held")).to_contain_text("Cancelled")

    await page.get_by_role("button", name="2 new").click()
    await expect(jobs).to_have_count(3)
    await expect(jobs.last).to_contain_text("job-held")
    await expect(page.get_by_label("Choose job-held")).to_be_checked()
    await expect(page.get_by_role("button", name=re.compile("new$"))).to_have_count(0)

    await page.get_by_role("button", name="Choose none").click()
    await page.get_by_role("button", name="Actions on job-late-1").click()
    at_tiktok(filled, "job-last")
    await expect(page.get_by_role("button", name="1 new")).to_be_visible()
    await expect(row(page, "job-last")).to_have_count(0)
    await page.keyboard.press("Escape")
    await expect(row(page, "job-last")).to_be_visible()


async def test_counts_say_how_much_they_have_grown(page: Page, filled: Leasehold) -> None:
    await page.clock.install()
    await sign_in(page, filled.token, "/ui/jobs?platform=tiktok")
    await ready(page, "Jobs")
    chip = page.get_by_role("button", name=re.compile("^Under way"))
    await expect(chip).to_have_text(re.compile(r"^Under way\s*\d+$"))
    await page.get_by_label("Refresh").select_option("60")
    at_tiktok(filled, "job-more-1", "job-more-2")

    await page.clock.fast_forward(61_000)

    await expect(chip).to_contain_text("+2")
    await page.clock.fast_forward(61_000)
    await expect(chip).not_to_contain_text("+")


@pytest.mark.parametrize(
    ("path", "known", "extra"),
    [("jobs", "Attempt", "Priority"), ("runs", "Age", "Estimate"), ("accounts", "Failures", "Created")],
)
async def test_columns_are_chosen_and_remembered(
    page: Page, filled: Leasehold, path: str, known: str, extra: str
) -> None:
    await sign_in(page, filled.token, f"/ui/{path}")
    await ready(page, path.title())
    head = page.locator("thead th > span")
    await expect(head.get_by_text(known, exact=True)).to_be_visible()
    cells = await page.locator("tbody tr").first.locator("td").count()

    await page.get_by_role("button", name=f"Columns of {path.title()}").click()
    menu = page.get_by_role("menu", name=f"Columns of {path.title()}")
    await expect(menu.get_by_role("menuitemcheckbox", name=known)).to_be_checked()
    await menu.get_by_role("menuitemcheckbox", name=extra).click()
    await expect(head.get_by_text(extra, exact=True)).to_be_visible()
    assert await page.locator("tbody tr").first.locator("td").count() == cells + 1
    await menu.get_by_role("menuitemcheckbox", name=known).click()
    await page.reload()

    await expect(head.get_by_text(extra, exact=True)).to_be_visible()
    await expect(head.get_by_text(known, exact=True)).to_have_count(0)
    assert await page.locator("tbody tr").first.locator("td").count() == cells


async def copied_link(page: Page) -> str:
    await page.get_by_role("button", name="Share this page").click()
    await page.get_by_role("menuitem", name="Copy link").click()
    await expect(page.get_by_text("Link copied")).to_be_visible()
    said: str = await page.evaluate("navigator.clipboard.readText()")
    return said


async def test_a_link_means_the_same_to_whoever_opens_it(page: Page, filled: Leasehold) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    other = ask(filled, "POST", "/v2/tokens", {"name": "night shift", "role": "operator"})["token"]
    wish = {"collector": "amazon", "categories": ["books"], "name": "Books of another"}
    assert filled.ask("POST", "/v2/runs", other, wish).is_success
    await sign_in(page, filled.token)
    await ready(page, "Overview")

    await page.get_by_role("link", name="Mine", exact=True).click()
    await expect(page.get_by_text("Planned by first admin, which is you.")).to_be_visible()
    await expect(row(page, "Toys")).to_be_visible()
    await expect(row(page, "Books of another")).to_have_count(0)

    await page.get_by_role("button", name="1h", exact=True).click()
    link = await copied_link(page)
    assert re.search(r"/runs\?by=first\+admin&from=[-\d]+T[:\d]+Z&to=[-\d]+T[:\d]+Z$", link), link
    await page.goto(link)
    await expect(page.get_by_role("region", name="Timeline")).to_contain_text(re.compile(r"UTC to \d{4}-\d\d-\d\d"))
    await expect(
        page.get_by_role("list", name="Timeline of runs").get_by_role("link", name=re.compile("^Toys"))
    ).to_be_visible()
    await page.goto(re.sub("(from|to)=[-0-9]+T", r"\1=2020-01-01T", link))
    await expect(page.get_by_role("region", name="Timeline")).to_contain_text("No run within this time.")

    await page.goto("/ui/jobs?age=1h")
    await ready(page, "Jobs")
    link = await copied_link(page)
    assert re.search(r"/jobs\?before=[-\d]+T[:\d]+Z$", link), link
    await page.goto(link)
    await expect(page.get_by_label("Age", exact=True).locator("option:checked")).to_have_text(re.compile("^Before 20"))
    await page.get_by_label("Age", exact=True).select_option("")
    await expect(page).to_have_url(re.compile("/jobs$"))
    await expect(row(page, "job-first")).to_be_visible()
