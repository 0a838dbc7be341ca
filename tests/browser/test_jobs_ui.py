"""Jobs, platforms and dead letters in a real Chromium, against a real server: what an operator does with them."""

import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.parts.broker import chunk, failed, last
from tests.parts.operator import ask, barriers, choose, faults_of, opened, row, sign_in, viewer
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="session")

JOBS = re.compile(r"/v2/jobs(\?|$)")
LETTERS = re.compile(r"/v2/jobs/dead-letters(\?|$)")
PLATFORMS = re.compile(r"/v2/platforms$")
PATIENCE_MS = 20_000


def submit(server: Leasehold, job: str, platform: Any = "youtube", **more: Any) -> Any:
    # A name that videos may have at YouTube and at TikTok.
    asked = {"task_type": "video", "payload": {"video_id": "12345678901"}}
    return ask(server, "POST", "/v2/jobs", {"job_id": job, "platform": platform, **asked, **more})


def take(server: Leasehold, platform: str = "youtube", owner: str = "crawler-1") -> Any:
    wish = {"owner": owner, "platforms": [platform], "ttl_seconds": 600}
    (lease,) = ask(server, "POST", "/v2/tasks/acquire", wish)["leases"]
    return lease


def bring(server: Leasehold, *results: Any) -> None:
    ask(server, "POST", "/v2/tasks/results", {"items": list(results)})


def die(server: Leasehold, job: str, code: str = "not_found", platform: str = "youtube") -> None:
    """A job that fails for good."""
    submit(server, job, platform, priority=9)
    bring(server, failed(take(server, platform), code))


def complete(server: Leasehold, job: str, documents: int = 1) -> None:
    submit(server, job, priority=9)
    lease = take(server)
    brought = [chunk(lease, f"page-{n}", {"title": f"video {n}", "views": n * 100}) for n in range(documents)]
    bring(server, *brought, last(lease))


def status(server: Leasehold, job: str) -> str:
    found: str = ask(server, "GET", f"/v2/jobs/{job}")["status"]
    return found


def explanation(page: Page) -> Locator:
    return page.get_by_role("region", name="Explanation")


async def test_a_new_user_submits_the_example_and_sees_why_it_waits(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/jobs")
    await expect(page.get_by_text("No jobs yet")).to_be_visible()

    await page.get_by_role("button", name="New job").click()
    dialog = page.get_by_role("dialog", name="New job")
    await dialog.get_by_label("YouTube").check()
    await dialog.get_by_label(ask(server, "GET", "/v2/platforms")["items"][0]["title"]).uncheck()  # chosen at first
    await dialog.get_by_label("Task type").select_option("What a search finds")
    await expect(dialog.get_by_label("query")).to_have_value("moon landing")
    await dialog.get_by_text("Name, priority and deadline").click()
    await dialog.get_by_label("Job id").fill("first-one")
    await dialog.get_by_role("button", name="Submit").click()

    await expect(page).to_have_url(re.compile(r"/ui/jobs/first-one$"))
    await expect(explanation(page)).to_contain_text("It is the next at youtube")
    await expect(page.get_by_role("region", name="Payload")).to_contain_text("moon landing")
    assert status(server, "first-one") == "pending"
    ask(server, "POST", "/v2/jobs/first-one/cancel")


async def test_what_the_schema_refuses_is_said_at_its_field(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/jobs?platform=youtube")
    await page.get_by_role("button", name="New job").first.click()
    dialog = page.get_by_role("dialog", name="New job")
    await dialog.get_by_label("Task type").select_option("The videos of a channel")
    await dialog.get_by_label("channel_id").fill("")
    await dialog.get_by_label("max_videos").fill("many")

    await dialog.get_by_role("button", name="Submit").click()

    await expect(dialog.get_by_label("channel_id")).to_have_attribute("aria-invalid", "true")
    await expect(dialog.get_by_text("This must be given.")).to_be_visible()
    await expect(dialog.get_by_text("It must be of type integer.")).to_be_visible()
    await dialog.get_by_label("channel_id").fill("not a channel")
    await dialog.get_by_label("max_videos").fill("7")
    await dialog.get_by_role("button", name="Submit").click()
    await expect(dialog.get_by_text("This is not in the form the field takes.")).to_be_visible()
    await expect(dialog.get_by_label("max_videos")).not_to_have_attribute("aria-invalid", "true")


async def test_jobs_are_filtered_in_the_address_and_counted(page: Page, server: Leasehold) -> None:
    die(server, "sieved-dead")
    complete(server, "sieved-done")
    await sign_in(page, server.token, "/ui/jobs?status=failed")
    await expect(row(page, "sieved-dead")).to_contain_text("not found: So it said.")
    await expect(row(page, "sieved-done")).to_have_count(0)
    await expect(page.get_by_role("region", name="Counts")).to_contain_text("Completed")

    await page.get_by_label("Status").select_option("Completed")
    await expect(page).to_have_url(re.compile(r"\?status=completed$"))
    await expect(row(page, "sieved-done")).to_be_visible()

    await page.get_by_label("Platform").select_option("tiktok")
    await expect(page.get_by_text("No job matches")).to_be_visible()
    await page.get_by_role("button", name="Clear the filters").click()
    await expect(row(page, "sieved-dead")).to_be_visible()


async def test_a_job_tells_its_life_and_what_it_brought(page: Page, server: Leasehold) -> None:
    complete(server, "told", documents=25)
    await sign_in(page, server.token, "/ui/jobs/told")

    await expect(explanation(page)).to_contain_text("Completed with 25 documents.")
    history = page.get_by_role("list", name="History").get_by_role("listitem")
    await expect(history.first).to_contain_text("Accepted")
    await expect(history.nth(1)).to_contain_text("worker crawler-1")
    await expect(history.last).to_contain_text("Completed")
    results = page.get_by_role("table", name="Results")
    await expect(results.get_by_role("row")).to_have_count(21)
    await page.get_by_role("button", name="Load more").click()
    await expect(results.get_by_role("row")).to_have_count(26)
    await results.get_by_role("button", name="Show document 25 whole").click()
    await expect(page.get_by_role("region", name="Document 25")).to_contain_text('"views": 2400')


async def test_one_like_it_begins_with_what_was_asked_and_is_a_job_of_its_own(page: Page, server: Leasehold) -> None:
    wish = {"task_type": "search", "payload": {"query": "first light", "region": "DE"}, "priority": 6}
    submit(server, "pattern", **wish)
    await sign_in(page, server.token, "/ui/jobs/pattern")
    await page.get_by_role("button", name="One like it").click()
    dialog = page.get_by_role("dialog", name="New job")
    await expect(dialog.get_by_label("YouTube")).to_be_checked()
    await expect(dialog.get_by_label("query")).to_have_value("first light")
    await expect(dialog.get_by_label("region")).to_have_value("DE")
    await dialog.get_by_label("query").fill("second light")
    await dialog.get_by_role("button", name="Submit").click()

    await expect(page).to_have_url(re.compile(r"/ui/jobs/ui-\w+$"))
    made = ask(server, "GET", f"/v2/jobs/{page.url.rpartition('/')[2]}")
    assert made["payload"] == {"query": "second light", "region": "DE"}
    assert made["priority"] == 6
    for job in ("pattern", made["id"]):
        ask(server, "POST", f"/v2/jobs/{job}/cancel")


async def test_a_job_of_two_platforms_shows_both_parts(page: Page, server: Leasehold) -> None:
    submit(server, "both", ["youtube", "tiktok"], priority=9)
    bring(server, failed(take(server), "not_found"))
    await sign_in(page, server.token, "/ui/jobs/both")

    parts = page.get_by_role("table", name="Parts").get_by_role("row")

    await expect(parts.filter(has_text="youtube")).to_contain_text("Failed")
    await expect(parts.filter(has_text="youtube")).to_contain_text("1 of 5")
    await expect(parts.filter(has_text="tiktok")).to_contain_text("Pending")
    await expect(page.get_by_role("button", name="Retry")).to_be_visible()
    ask(server, "POST", "/v2/jobs/both/cancel")


async def test_a_running_job_is_followed_and_cancelled_after_asking(page: Page, server: Leasehold) -> None:
    submit(server, "followed", priority=9)
    await sign_in(page, server.token, "/ui/jobs/followed")
    await expect(explanation(page)).to_contain_text("no worker has asked")

    take(server, owner="crawler-7")
    await expect(explanation(page)).to_contain_text("A worker has it", timeout=PATIENCE_MS)
    await page.get_by_role("button", name="Cancel").click()
    assert status(server, "followed") == "dispatched"
    await page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()

    await expect(explanation(page)).to_contain_text("Cancelled")
    await expect(page.get_by_role("button", name="Cancel")).to_be_disabled()
    assert status(server, "followed") == "cancelled"


async def test_a_job_is_put_off_made_urgent_and_begun_at_once(page: Page, server: Leasehold) -> None:
    submit(server, "steered", priority=2)
    await sign_in(page, server.token, "/ui/jobs/steered")

    await page.get_by_role("button", name="Change").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Priority").select_option("9, the first")
    await dialog.get_by_label("Begins").select_option("In an hour")
    await dialog.get_by_role("button", name="Save changes").click()

    await expect(dialog).to_have_count(0)
    await expect(explanation(page)).to_contain_text("begins later")
    await expect(page.get_by_role("list", name="History")).to_contain_text("from 2 to 9")
    assert ask(server, "GET", "/v2/jobs/steered")["priority"] == 9

    await page.get_by_role("button", name="Change").click()
    await dialog.get_by_label("Begins").select_option("At a time of its own…")
    await dialog.get_by_label("Not before").fill("2100-01-01T00:00")
    await dialog.get_by_role("button", name="Save changes").click()
    await expect(dialog).to_contain_text("within 30 days")
    await dialog.get_by_label("Begins").select_option("At once")
    await dialog.get_by_role("button", name="Save changes").click()

    await expect(explanation(page)).to_contain_text("no worker has asked")
    ask(server, "POST", "/v2/jobs/steered/cancel")


async def test_a_job_is_given_up_with_a_reason_and_found_among_the_dead_letters(page: Page, server: Leasehold) -> None:
    submit(server, "given-up", priority=9)
    take(server, owner="crawler-9")
    await sign_in(page, server.token, "/ui/jobs/given-up")

    await page.get_by_role("button", name="Move to dead letters").click()
    dialog = page.get_by_role("dialog", name="Move to the dead letters")
    await expect(dialog.get_by_role("button", name="Move to dead letters")).to_be_disabled()
    await dialog.get_by_label("Reason").fill("its channel was closed")
    assert status(server, "given-up") == "dispatched"
    await dialog.get_by_role("button", name="Move to dead letters").click()

    await expect(explanation(page)).to_contain_text("somebody moved it to the dead letters")
    await expect(page.get_by_role("list", name="History")).to_contain_text("its channel was closed")
    await expect(page.get_by_role("button", name="Move to dead letters")).to_have_count(0)
    await page.goto("/ui/dead-letters?reason=by_hand")
    await expect(row(page, "given-up")).to_contain_text("put it here: its channel was closed")


async def test_several_are_given_up_together_for_one_reason(page: Page, server: Leasehold) -> None:
    for number in range(2):
        submit(server, f"together-{number}")
    complete(server, "together-done")
    await sign_in(page, server.token, "/ui/jobs")
    for name in ("together-0", "together-1", "together-done"):
        await page.get_by_label(f"Choose {name}").check()

    await page.get_by_role("button", name="Move to dead letters 2").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("button", name="Move to dead letters 2")).to_be_disabled()
    await dialog.get_by_label("Reason").fill("asked for by mistake")
    await dialog.get_by_role("button", name="Move to dead letters 2").click()

    await expect(dialog).to_have_count(0)
    assert [status(server, f"together-{n}") for n in range(2)] == ["failed", "failed"]
    letters = ask(server, "GET", "/v2/jobs/dead-letters?reason=by_hand")["items"]
    told = {one["job_id"]: one["detail"] for one in letters if one["job_id"].startswith("together-")}
    assert len(told) == 2
    assert all("asked for by mistake" in detail for detail in told.values())


async def test_a_failed_job_is_retried_from_its_row(page: Page, server: Leasehold) -> None:
    die(server, "retried")
    await sign_in(page, server.token, "/ui/jobs?status=failed")

    dialog = await choose(page, "Actions on retried", "Retry")
    assert status(server, "retried") == "failed"
    await dialog.get_by_role("button", name="Retry").click()

    await expect(row(page, "retried")).to_have_count(0)
    assert status(server, "retried") == "pending"
    ask(server, "POST", "/v2/jobs/retried/cancel")


async def test_a_refusal_is_said_where_it_was_asked(page: Page, server: Leasehold) -> None:
    submit(server, "raced")
    await sign_in(page, server.token, "/ui/jobs/raced")
    await page.get_by_role("button", name="Cancel").click()
    ask(server, "POST", "/v2/jobs/raced/cancel")

    await page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()

    await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("This job is over.")


async def test_a_job_that_never_was_says_so(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/jobs/nothing-here")

    await expect(page.get_by_text("There is no such job")).to_be_visible()


async def test_a_platform_is_paused_with_a_reason_and_resumed(page: Page, server: Leasehold) -> None:
    submit(server, "held-up", "facebook", task_type="page", payload={"page": "NASA"})
    await sign_in(page, server.token, "/ui/platforms")
    facebook = row(page, "facebook")
    await expect(facebook).to_contain_text("Running")
    await expect(facebook.get_by_role("meter")).to_have_attribute("aria-valuetext", "0 of 50")

    await page.get_by_role("button", name="Pause facebook").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Reason").fill("their API is down")
    await dialog.get_by_role("button", name="Pause facebook").click()
    await expect(facebook).to_contain_text("their API is down")
    await page.goto("/ui/jobs/held-up")
    await expect(explanation(page)).to_contain_text("paused facebook (their API is down)")

    await page.goto("/ui/platforms/facebook")
    await expect(explanation(page)).to_contain_text("their API is down")
    await page.get_by_role("button", name="Resume facebook").click()
    await expect(page.get_by_role("button", name="Pause facebook")).to_be_visible()
    assert ask(server, "GET", "/v2/platforms/facebook")["paused"] is False
    ask(server, "POST", "/v2/jobs/held-up/cancel")


async def test_a_platform_shows_what_can_be_asked_and_its_books(page: Page, server: Leasehold) -> None:
    complete(server, "booked")
    await sign_in(page, server.token, "/ui/platforms/youtube")

    await expect(page.get_by_role("region", name="Example of channel")).to_contain_text("max_videos")
    await page.get_by_role("region", name="channel", exact=True).get_by_text("Schema").click()
    await expect(page.get_by_role("region", name="Schema of channel")).to_contain_text("additionalProperties")
    await expect(page.get_by_role("region", name="Books")).to_contain_text("0 unaccounted")
    await page.get_by_role("button", name="New job of type channel").click()
    await expect(page.get_by_role("dialog").get_by_label("channel_id")).not_to_have_value("")


async def test_letters_are_grouped_shown_and_replayed_after_a_preview(page: Page, server: Leasehold) -> None:
    for number in range(3):
        die(server, f"grouped-{number}", "gone_away", "tiktok")
    ask(server, "POST", "/v2/jobs/grouped-0/retry")
    await sign_in(page, server.token, "/ui/dead-letters?platform=tiktok")
    reason = page.get_by_role("region", name="Reasons").get_by_role("button", name=re.compile("gone away"))
    await expect(reason).to_contain_text("3")

    await reason.click()
    await expect(page).to_have_url(re.compile("reason=gone_away"))
    await row(page, "grouped-1").get_by_role("button", name="gone away").click()
    shown = page.get_by_role("dialog")
    await expect(shown.get_by_role("region", name="Payload")).to_be_visible()
    await shown.get_by_role("button", name="Close").click()
    await page.get_by_role("button", name="Replay all 3 that match").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("status")).to_contain_text("2 of 3 will be replayed.")
    await expect(dialog.get_by_role("region", name="Left alone")).to_contain_text("It is being tried again already.")
    assert status(server, "grouped-1") == "failed"
    await dialog.get_by_role("button", name="Replay 2").click()

    await expect(dialog.get_by_role("status")).to_contain_text("2 of 3 were replayed.")
    assert [status(server, f"grouped-{n}") for n in (1, 2)] == ["pending", "pending"]
    await dialog.get_by_role("button", name="Done").click()
    await expect(row(page, "grouped-1")).to_have_count(0)
    for number in range(3):
        ask(server, "POST", f"/v2/jobs/grouped-{number}/cancel")


async def test_chosen_letters_are_replayed_at_a_rate_and_stopped(page: Page, server: Leasehold) -> None:
    for job in ("slow-1", "slow-2", "slow-3"):
        die(server, job, "slowly")
    await sign_in(page, server.token, "/ui/dead-letters?reason=slowly")
    for job in ("slow-1", "slow-2"):
        await page.get_by_label(f"Choose {job}").check()

    await page.get_by_role("button", name="Replay 2 chosen").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Rate").fill("0.01")
    await expect(dialog.get_by_text("begins 1 min 40 s after the first")).to_be_visible()
    await dialog.get_by_role("button", name="Replay 2").click()
    await dialog.get_by_role("button", name="Done").click()
    under_way = page.get_by_role("list", name="Replays under way")
    await expect(under_way).to_contain_text("2 of 2 have not begun")
    assert status(server, "slow-3") == "failed"
    await under_way.get_by_role("button", name="Stop").click()
    await page.get_by_role("dialog").get_by_role("button", name="Stop it").click()

    await expect(under_way).to_have_count(0)
    await expect(row(page, "slow-1")).to_be_visible()
    assert [status(server, job) for job in ("slow-1", "slow-2")] == ["failed", "failed"]


async def test_a_rate_that_is_none_is_said_at_its_field(page: Page, server: Leasehold) -> None:
    die(server, "misrated", "misrated")
    await sign_in(page, server.token, "/ui/dead-letters?reason=misrated")
    await page.get_by_role("button", name="Replay all 1 that match").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Rate").fill("-1")

    await dialog.get_by_role("button", name="Replay 1").click()

    await expect(dialog.get_by_label("Rate")).to_have_attribute("aria-invalid", "true")
    assert status(server, "misrated") == "failed"


async def test_letters_that_were_replayed_are_found_again(page: Page, server: Leasehold) -> None:
    die(server, "done-with", "done_with")
    ask(server, "POST", "/v2/jobs/dead-letters/replay", {"filter": {"reason": "done_with"}})
    await sign_in(page, server.token, "/ui/dead-letters?reason=done_with")
    await expect(page.get_by_text("No dead letter matches")).to_be_visible()

    await page.get_by_label("Replayed").select_option("All of them")

    await expect(row(page, "done-with")).to_contain_text("Replayed")
    ask(server, "POST", "/v2/jobs/done-with/cancel")


async def test_who_may_only_look_sees_everything_and_can_do_nothing(page: Page, server: Leasehold) -> None:
    die(server, "watched")
    await sign_in(page, viewer(server), "/ui/jobs/watched")

    await expect(page.get_by_role("button", name="Retry")).to_be_disabled()
    await page.get_by_role("link", name="Jobs", exact=True).first.click()
    await expect(page.get_by_role("button", name="New job")).to_be_disabled()
    await page.get_by_role("link", name="Platforms").click()
    await expect(page.get_by_role("button", name="Pause youtube")).to_be_disabled()
    await page.get_by_role("link", name="Dead letters").click()
    await expect(page.get_by_role("button", name=re.compile("Replay all"))).to_be_disabled()
    await expect(row(page, "watched")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "asked", "text"),
    [("jobs", JOBS, "watched"), ("dead-letters", LETTERS, "watched"), ("platforms", PLATFORMS, "youtube")],
)
async def test_a_list_that_failed_is_tried_again(
    page: Page, server: Leasehold, path: str, asked: re.Pattern[str], text: str
) -> None:
    if server.ask("GET", "/v2/jobs/watched", server.token).status_code == 404:
        die(server, "watched")
    await page.route(asked, lambda route: route.abort())
    await sign_in(page, server.token, f"/ui/{path}")
    await expect(page.get_by_role("alert").first).to_contain_text("could not be loaded", timeout=PATIENCE_MS)

    await page.unroute(asked)
    await page.get_by_role("button", name="Retry").click()

    await expect(row(page, text).first).to_be_visible()


def rich(server: Leasehold) -> None:
    """Jobs of every status with long names, letters of several reasons, and a replay under way."""
    if server.ask("GET", "/v2/jobs/rich-failed", server.token).is_success:
        return
    die(server, "rich-failed")
    die(server, "rich-" + "a-rather-long-name-" * 8)
    complete(server, "rich-completed", documents=12)
    submit(server, "rich-running", priority=9)
    lease = take(server, owner="crawler-with-a-long-name@host-3.internal")
    bring(server, chunk(lease, "p1", {"title": "long " * 60}))
    die(server, "rich-slow", "rich_slowly")
    wish = {"filter": {"reason": "rich_slowly"}, "rate_per_second": 0.0001}
    die(server, "rich-slow-2", "rich_slowly")
    ask(server, "POST", "/v2/jobs/dead-letters/replay", wish)


@pytest.mark.parametrize(
    "path",
    [
        "jobs",
        "jobs?platform=facebook&status=partial",
        "jobs/rich-failed",
        "jobs/rich-running",
        "jobs/rich-completed",
        "platforms",
        "platforms/youtube",
        "dead-letters",
        "dead-letters?reason=nothing",
    ],
)
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
async def test_every_page_fits_and_is_accessible(
    page: Page, server: Leasehold, path: str, width: int, scheme: str
) -> None:
    rich(server)

    assert await faults_of(page, server.token, f"/ui/{path}", width, scheme) == []


@pytest.mark.parametrize(
    ("path", "button"),
    [
        ("jobs", "New job"),
        ("jobs/rich-failed", "Retry"),
        ("jobs/rich-running", "Cancel"),
        ("jobs/rich-running", "Move to dead letters"),
        ("platforms/youtube", "Pause youtube"),
        ("dead-letters", "Stop"),
        ("dead-letters", "Actions on rich-failed"),
    ],
)
async def test_what_opens_on_top_is_accessible(page: Page, server: Leasehold, path: str, button: str) -> None:
    rich(server)
    await sign_in(page, server.token, f"/ui/{path}")

    await opened(page, button)

    await expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0)
    assert await barriers(page) == []


async def test_the_preview_of_a_replay_is_accessible(page: Page, server: Leasehold) -> None:
    rich(server)
    await sign_in(page, server.token, "/ui/dead-letters?replayed=any")
    await page.get_by_label("Choose all").check()

    await page.get_by_role("button", name=re.compile(r"Replay \d+ chosen")).click()

    await expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("replayed")
    assert await barriers(page) == []
