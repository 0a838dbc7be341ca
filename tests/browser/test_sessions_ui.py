"""Sessions in a real Chromium, against a real server: what an operator does with them."""

import re
import time

import pytest
from playwright.async_api import Page, expect

from tests.parts.operator import (
    account,
    ask,
    barriers,
    choose,
    cookie,
    faults_of,
    opened,
    row,
    sign_in,
    site,
    upload,
    viewer,
)
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="session")

SESSIONS = re.compile(r"/v2/sessions(\?|$)")
# What must be on no page: a session is shown by names alone.
VALUE = "a-token-nobody-sees"
NAMES = ("sid", "csrf", "theme", "trust")


def signed_in(server: Leasehold, slug: str, username: str = "ann") -> str:
    """An account whose session has four cookies at version 1, one of which ends in three days; returns its id."""
    site(server, slug, auth_markers=["sid"])
    made = account(server, slug, username)
    cookies = [cookie(slug, name, VALUE) for name in NAMES]
    cookies[0]["expires"] = time.time() + 3 * 86_400
    upload(server, made, cookies, base="fresh", health="ok", upload_id="first")
    return made


def hold(server: Leasehold, slug: str, holder: str) -> None:
    """Send a state back that lost most of what it was given, which is put aside."""
    report = upload(server, holder, [cookie(slug, "theme", VALUE)], base="1", upload_id="suspect")
    assert report["held"]


async def test_a_new_user_is_told_how_a_session_comes_to_be(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/sessions")

    await expect(page.get_by_text("No sessions yet")).to_be_visible()
    await expect(page.get_by_text("PUT /v2/sessions/{account_id}")).to_be_visible()


async def test_a_session_is_listed_with_its_facts_and_the_list_refreshes(page: Page, server: Leasehold) -> None:
    made = signed_in(server, "listed")
    signed_in(server, "unlisted", "bob")
    await sign_in(page, server.token, "/ui/sessions?site=listed")
    await expect(row(page, "ann")).to_contain_text("4 cookies")
    await expect(row(page, "ann")).to_contain_text("in 3 days")
    await expect(row(page, "bob")).to_have_count(0)

    hold(server, "listed", made)

    await expect(row(page, "ann")).to_contain_text("1 held", timeout=20_000)


async def test_entries_are_shown_by_name_and_writer_and_never_by_value(page: Page, server: Leasehold) -> None:
    made = signed_in(server, "named")
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    await sign_in(page, server.token, f"/ui/sessions/{made}")
    entries = page.get_by_role("table", name="Entries")

    await expect(entries).to_contain_text("named.example/ sid")
    await expect(row(page, "named.example/ sid")).to_contain_text("Sign-in")
    await expect(row(page, "named.example/ csrf")).to_contain_text("first admin, version 1")
    await page.get_by_role("textbox", name="Name").fill("trust")
    await expect(entries.get_by_role("row")).to_have_count(2)
    assert VALUE not in await page.content()
    assert not [url for url in seen if url.endswith(f"/v2/sessions/{made}")]


async def test_a_session_is_rolled_back_after_asking(page: Page, server: Leasehold) -> None:
    made = signed_in(server, "rolled")
    upload(server, made, [cookie("rolled", "extra", VALUE)], base="unknown", upload_id="second")
    await sign_in(page, server.token, f"/ui/sessions/{made}")
    await expect(page.get_by_role("table", name="Entries")).to_contain_text("extra")

    dialog = await choose(page, "Actions on version 1", "Roll back to this version")
    assert ask(server, "GET", f"/v2/sessions/{made}/versions")["items"][0]["version"] == 2
    await dialog.get_by_role("button", name="Roll back").click()

    await expect(page.get_by_role("table", name="Versions")).to_contain_text("Rolled back")
    await expect(page.get_by_role("table", name="Entries")).not_to_contain_text("extra")
    assert ask(server, "GET", f"/v2/sessions/{made}/versions")["items"][0]["cookies"] == 4


async def test_one_upload_is_undone(page: Page, server: Leasehold) -> None:
    made = signed_in(server, "undone")
    upload(server, made, [cookie("undone", "extra", VALUE)], base="unknown", upload_id="second")
    await sign_in(page, server.token, f"/ui/sessions/{made}")
    await expect(page.get_by_role("table", name="Entries")).to_contain_text("extra")

    dialog = await choose(page, "Actions on version 2", "Undo this upload")
    await dialog.get_by_role("button", name="Undo upload").click()

    await expect(page.get_by_role("table", name="Versions")).to_contain_text("Upload undone")
    await expect(page.get_by_role("table", name="Entries")).not_to_contain_text("extra")


@pytest.mark.parametrize(("decision", "cookies"), [("Take", 1), ("Drop", 4)])
async def test_an_upload_put_aside_is_decided_on(page: Page, server: Leasehold, decision: str, cookies: int) -> None:
    slug = f"decided-{decision.lower()}"
    made = signed_in(server, slug)
    hold(server, slug, made)
    await sign_in(page, server.token, f"/ui/sessions/{made}")
    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("waits for your decision")

    await page.get_by_role("button", name=f"{decision} suspect").click()
    await page.get_by_role("dialog").get_by_role("button", name=decision, exact=True).click()

    await expect(page.get_by_role("list", name="Put aside")).to_have_count(0)
    now = ask(server, "GET", f"/v2/sessions/{made}/versions")["items"][0]
    assert (now["held"], now["cookies"]) == ([], cookies)


async def test_what_was_put_aside_is_not_taken_for_the_maker_of_a_version(page: Page, server: Leasehold) -> None:
    made = signed_in(server, "branched")
    upload(server, made, [cookie("branched", "guest", "1")], base="1", health="logged_out", upload_id="run-9")
    await sign_in(page, server.token, f"/ui/sessions/{made}")

    await expect(page.get_by_role("list", name="Put aside")).to_contain_text("Branch")
    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("Version 1, written")
    await expect(page.get_by_role("table", name="Versions")).to_contain_text("4 set")
    await page.get_by_role("button", name="Actions on version 1").click()

    await expect(page.get_by_role("menuitem", name="Undo this upload")).to_be_enabled()


async def test_a_session_whose_only_upload_was_put_aside_says_so(page: Page, server: Leasehold) -> None:
    site(server, "refused")
    made = account(server, "refused", "ann")
    upload(server, made, [cookie("refused", "guest", "1")], base="fresh", health="logged_out", upload_id="run-9")

    await sign_in(page, server.token, f"/ui/sessions/{made}")

    await expect(page.get_by_role("list", name="Put aside")).to_contain_text("Branch")
    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("was put aside, and changed nothing")


async def test_an_account_and_its_session_lead_to_each_other(page: Page, server: Leasehold) -> None:
    made = signed_in(server, "linked")
    await sign_in(page, server.token, f"/ui/accounts/{made}")
    card = page.get_by_role("region", name="Session")
    await expect(card).to_contain_text("4 cookies")

    await card.get_by_role("link", name="Versions, entries").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Session of ann")
    await page.get_by_role("link", name="Account", exact=True).click()

    await expect(page).to_have_url(re.compile(f"/ui/accounts/{made}$"))


async def test_an_account_without_a_session_says_so(page: Page, server: Leasehold) -> None:
    made = account(server, "bare", "ann")
    await sign_in(page, server.token, f"/ui/accounts/{made}")
    await expect(page.get_by_role("region", name="Session")).to_contain_text("has to sign in")

    await page.goto(f"/ui/sessions/{made}")

    await expect(page.get_by_text("This account has no session")).to_be_visible()


async def test_a_session_is_deleted_after_asking(page: Page, server: Leasehold) -> None:
    made = signed_in(server, "deleted")
    await sign_in(page, server.token, f"/ui/sessions/{made}")

    await page.get_by_role("button", name="Delete").click()
    assert ask(server, "GET", f"/v2/accounts/{made}")["has_session"] is True
    await page.get_by_role("dialog").get_by_role("button", name="Delete session").click()

    await expect(page).to_have_url(re.compile(r"/ui/sessions$"))
    assert ask(server, "GET", f"/v2/accounts/{made}")["has_session"] is False


async def test_who_may_only_look_sees_facts_and_versions_and_is_told_what_more_needs(
    page: Page, server: Leasehold
) -> None:
    signed_in(server, "watched")
    await sign_in(page, viewer(server), "/ui/sessions?site=watched")

    await row(page, "ann").get_by_role("link", name="ann").click()

    await expect(page.get_by_role("region", name="Facts")).to_contain_text("Sign-in ends")
    await expect(page.get_by_role("table", name="Versions")).to_contain_text("Now")
    await expect(page.get_by_role("region", name="Entries")).to_contain_text("lacks the permission sessions.manage")
    await expect(page.get_by_role("button", name="Delete")).to_be_disabled()
    await page.get_by_role("button", name="Actions on version 1").click()
    await expect(page.get_by_role("menuitem", name="Undo this upload")).to_contain_text("Needs sessions.manage")


async def test_who_may_only_look_sees_the_session_on_the_page_of_its_account(page: Page, server: Leasehold) -> None:
    made = signed_in(server, "beheld")

    await sign_in(page, viewer(server), f"/ui/accounts/{made}")

    await expect(page.get_by_role("region", name="Session")).to_contain_text("Sign-in ends")


async def test_who_may_not_see_sessions_is_told_what_it_takes(page: Page, server: Leasehold) -> None:
    made = signed_in(server, "hidden")
    collector = ask(server, "POST", "/v2/tokens", {"name": "collector", "role": "collector"})["token"]

    await sign_in(page, collector, f"/ui/sessions/{made}")

    await expect(page.get_by_text("lacks the permission sessions.view")).to_be_visible()


async def test_a_list_that_failed_is_tried_again(page: Page, server: Leasehold) -> None:
    signed_in(server, "shaky")
    await page.route(SESSIONS, lambda route: route.abort())
    await sign_in(page, server.token, "/ui/sessions?site=shaky")
    await expect(page.get_by_role("alert")).to_contain_text("could not be loaded", timeout=20_000)

    await page.unroute(SESSIONS)
    await page.get_by_role("button", name="Retry").click()

    await expect(row(page, "ann")).to_be_visible()


def _rich(server: Leasehold) -> str:
    """A session with something put aside of each kind; returns its account."""
    if server.ask("GET", "/v2/sites/rich", server.token).status_code == 404:
        made = signed_in(server, "rich", "a-rather-long-username-for-a-narrow-window@mail.example")
        hold(server, "rich", made)
        upload(server, made, [cookie("rich", "guest", "1")], base="1", health="logged_out", upload_id="run-" * 20)
    found: str = ask(server, "GET", "/v2/sessions?site=rich")["items"][0]["account_id"]
    return found


@pytest.mark.parametrize("path", ["sessions", "sessions?site=nowhere", "sessions/ONE", "accounts/ONE"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_every_page_fits_and_is_accessible(
    page: Page, server: Leasehold, path: str, width: int, scheme: str
) -> None:
    one = _rich(server)

    assert await faults_of(page, server.token, f"/ui/{path.replace('ONE', one)}", width, scheme) == []


@pytest.mark.parametrize("button", ["Take suspect", "Delete", "Actions on version 1"])
async def test_what_opens_on_top_is_accessible(page: Page, server: Leasehold, button: str) -> None:
    await sign_in(page, server.token, f"/ui/sessions/{_rich(server)}")

    await opened(page, button)

    assert await barriers(page) == []
