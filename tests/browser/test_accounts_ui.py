"""Accounts and leases in a real Chromium, against a real server: what an operator does with them all day."""

import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.parts.operator import ask, barriers, faults_of, opened, row, sign_in, site
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="session")

ACCOUNTS = re.compile(r"/v2/accounts(\?|$)")
# What must be nowhere once the dialog that showed it is closed.
SECRET = "hunter2-and-more"
REST_S = 1800


def account(server: Leasehold, slug: str, username: str, **more: Any) -> str:
    """An account at a site that is made if need be; returns its id."""
    site(server, slug)
    new = {"site": slug, "username": username, "secret": {"password": SECRET}, **more}
    made: str = ask(server, "POST", "/v2/accounts", new)["id"]
    return made


def acquire(server: Leasehold, slug: str, owner: str, **more: Any) -> Any:
    answer = ask(server, "POST", "/v2/accounts/acquire", {"site": slug, "owner": owner, "ttl_seconds": 600, **more})
    assert answer["leases"], answer["waiting"]
    return answer["leases"][0]


async def choose(page: Page, username: str, act: str) -> Locator:
    """Choose an action in the menu of an account; returns the dialog that asks."""
    await page.get_by_role("button", name=f"Actions on {username}").click()
    await page.get_by_role("menuitem", name=act).click()
    return page.get_by_role("dialog")


async def test_a_new_user_makes_an_account_and_sees_it(page: Page, server: Leasehold) -> None:
    site(server, "board")
    await sign_in(page, server.token, "/ui/accounts")
    await expect(page.get_by_text("No accounts yet")).to_be_visible()

    await page.get_by_role("button", name="Create account").click()
    dialog = page.get_by_role("dialog", name="Create account")
    await dialog.get_by_label("Username").fill("ann")
    await dialog.get_by_label("Secret 1 value", exact=True).fill(SECRET)
    await dialog.get_by_label("Label 1 name").fill("region")
    await dialog.get_by_label("Label 1 value").fill("eu")
    await expect(dialog.get_by_label("Secret 1 value", exact=True)).to_have_attribute("type", "password")
    await dialog.get_by_role("button", name="Create account").click()

    await expect(dialog).to_be_hidden()
    await expect(row(page, "ann")).to_contain_text("Active")
    await expect(row(page, "ann")).to_contain_text("region:eu")
    await expect(page.get_by_role("link", name="1 active at board")).to_be_visible()


async def test_a_name_that_is_taken_is_said_at_its_field(page: Page, server: Leasehold) -> None:
    account(server, "taken", "ann")
    await sign_in(page, server.token, "/ui/accounts?site=taken")
    await page.get_by_role("button", name="Create account").click()
    dialog = page.get_by_role("dialog", name="Create account")
    await dialog.get_by_label("Username").fill("ann")
    await dialog.get_by_label("Secret 1 value", exact=True).fill(SECRET)

    await dialog.get_by_role("button", name="Create account").click()

    await expect(dialog.get_by_label("Username")).to_have_attribute("aria-invalid", "true")


async def test_a_file_is_previewed_masked_and_its_bad_line_is_told(page: Page, server: Leasehold) -> None:
    site(server, "imported")
    lines = ["site,username,password,label.region", f"imported,ann,{SECRET},eu", f"nowhere,bob,{SECRET},"]
    text = "\n".join([*lines, f"imported,cid,{SECRET},"])
    await sign_in(page, server.token, "/ui/accounts?site=imported")
    await page.get_by_role("button", name="Import").click()
    dialog = page.get_by_role("dialog")

    file = {"name": "accounts.csv", "mimeType": "text/csv", "buffer": text.encode()}
    await dialog.get_by_label("File of accounts").set_input_files(file)  # type: ignore[arg-type]
    await expect(dialog.get_by_role("table", name="First lines")).to_contain_text("password ••••••")
    await expect(dialog.get_by_role("table", name="Lines that will be refused")).to_contain_text("nowhere")
    assert SECRET not in await page.content()
    await dialog.get_by_role("button", name="Import 2 accounts").click()

    await expect(dialog.get_by_role("status")).to_contain_text("2 created, 0 updated, 1 rejected")
    await expect(dialog.get_by_role("table", name="Rejected lines").get_by_role("row").nth(1)).to_contain_text("3")
    await dialog.get_by_role("button", name="Done").click()
    await expect(row(page, "ann")).to_contain_text("region:eu")
    await expect(row(page, "cid")).to_be_visible()


async def test_what_is_pasted_is_read_by_its_content(page: Page, server: Leasehold) -> None:
    site(server, "pasted")
    lines = ['{"site": "pasted", "username": "ann", "secret": {"password": "x"}}', '{"site": "pasted"}', "{"]
    await sign_in(page, server.token, "/ui/accounts?site=pasted")
    await page.get_by_role("button", name="Import").click()
    dialog = page.get_by_role("dialog")

    await dialog.get_by_label("Or paste it here").fill("\n".join(lines))
    await dialog.get_by_role("button", name="Preview").click()
    await expect(dialog.get_by_role("status")).to_contain_text("read as NDJSON: 3 lines, of which 2 will be refused")
    await dialog.get_by_role("button", name="Import one account").click()

    await expect(dialog.get_by_role("status")).to_contain_text("1 created, 0 updated, 2 rejected")


async def test_filters_are_in_the_address(page: Page, server: Leasehold) -> None:
    resting = account(server, "filtered", "resting")
    account(server, "filtered", "ready", labels={"region": "eu"})
    lease = acquire(server, "filtered", "ann", account_id=resting)
    report = {"outcome": "rate_limited", "cooldown_seconds": REST_S}
    ask(server, "POST", f"/v2/leases/{lease['id']}/release", report)

    await sign_in(page, server.token, "/ui/accounts?site=filtered&state=cooling")
    await expect(row(page, "resting")).to_contain_text(re.compile(r"Cooling\s*(30:00|29:\d\d) left"))
    await expect(row(page, "ready")).to_have_count(0)

    await page.get_by_role("link", name="1 active at filtered").click()
    await expect(row(page, "ready")).to_be_visible()
    await expect(row(page, "resting")).to_have_count(0)
    await expect(page).to_have_url(re.compile(r"\?site=filtered&state=active$"))

    await page.get_by_role("button", name="region:eu").click()
    await expect(page).to_have_url(re.compile(r"label=region%3Aeu"))
    await page.get_by_role("textbox", name="Username").fill("nobody")
    await expect(page.get_by_text("No account matches")).to_be_visible()
    await page.get_by_role("button", name="Clear the filters").click()
    await expect(row(page, "resting")).to_be_visible()


async def test_a_long_list_is_loaded_piece_by_piece(page: Page, server: Leasehold) -> None:
    site(server, "long")
    items = [{"site": "long", "username": f"ann-{number:03}", "secret": {}} for number in range(60)]
    ask(server, "POST", "/v2/accounts/import", {"items": items})
    await sign_in(page, server.token, "/ui/accounts?site=long")
    await expect(row(page, "ann-")).to_have_count(50)

    await page.get_by_role("button", name="Load more").click()

    await expect(row(page, "ann-")).to_have_count(60)


async def test_a_lease_taken_elsewhere_shows_by_itself_and_is_revoked(page: Page, server: Leasehold) -> None:
    account(server, "used", "ann")
    await sign_in(page, server.token, "/ui/accounts?site=used")
    await expect(row(page, "ann")).to_contain_text("Active")

    lease = acquire(server, "used", "crawler-7")
    await expect(row(page, "ann")).to_contain_text("Using", timeout=20_000)
    await expect(row(page, "ann")).to_contain_text("crawler-7")
    dialog = await choose(page, "ann", "Revoke lease")
    await dialog.get_by_role("button", name="Revoke lease").click()

    await expect(row(page, "ann")).to_contain_text("Cooling")
    assert server.ask("POST", f"/v2/leases/{lease['id']}/heartbeat", server.token).status_code == 410


async def test_an_account_is_blocked_with_a_reason_and_comes_back_on_probation(page: Page, server: Leasehold) -> None:
    account(server, "blocking", "ann")
    await sign_in(page, server.token, "/ui/accounts?site=blocking")

    dialog = await choose(page, "ann", "Block")
    await dialog.get_by_label("Reason").fill("captcha wave")
    await dialog.get_by_role("button", name="Block").click()
    await expect(row(page, "ann")).to_contain_text("captcha wave")
    dialog = await choose(page, "ann", "Activate")
    await dialog.get_by_role("button", name="Activate").click()

    await expect(row(page, "ann")).to_contain_text("Probation")


async def test_an_account_in_use_is_not_deleted_and_a_free_one_is(page: Page, server: Leasehold) -> None:
    used = account(server, "deleting", "busy")
    account(server, "deleting", "spare")
    acquire(server, "deleting", "crawler-7", account_id=used)
    await sign_in(page, server.token, "/ui/accounts?site=deleting")

    await page.get_by_role("button", name="Actions on busy").click()
    await expect(page.get_by_role("menuitem", name="Delete")).to_be_disabled()
    await page.keyboard.press("Escape")
    dialog = await choose(page, "spare", "Delete")
    await dialog.get_by_role("button", name="Delete").click()

    await expect(row(page, "spare")).to_have_count(0)


async def test_an_account_deleted_on_its_own_page_leads_back_to_the_others(page: Page, server: Leasehold) -> None:
    made = account(server, "leaving", "ann")
    await sign_in(page, server.token, f"/ui/accounts/{made}")

    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    await expect(page).to_have_url(re.compile(r"/ui/accounts$"))
    assert server.ask("GET", f"/v2/accounts/{made}", server.token).status_code == 404


async def test_labels_and_priority_are_edited_and_the_secret_stays(page: Page, server: Leasehold) -> None:
    made = account(server, "edited", "ann", labels={"region": "eu"})
    await sign_in(page, server.token, f"/ui/accounts/{made}")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Edit").click()
    dialog = page.get_by_role("dialog")

    await dialog.get_by_label("Priority").fill("7")
    await dialog.get_by_label("Label 1 value").fill("us")
    await dialog.get_by_role("button", name="Save changes").click()
    await expect(dialog).to_be_hidden()

    after = ask(server, "GET", f"/v2/accounts/{made}")
    assert (after["priority"], after["labels"]) == (7, {"region": "us"})
    assert ask(server, "POST", f"/v2/accounts/{made}/reveal")["secret"] == {"password": SECRET}


async def test_a_secret_is_shown_on_demand_on_record_and_then_gone(page: Page, server: Leasehold) -> None:
    made = account(server, "secretive", "ann")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await sign_in(page, server.token, f"/ui/accounts/{made}")
    await page.get_by_role("button", name="Reveal secret").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("written into the audit")
    assert SECRET not in await page.content()

    await dialog.get_by_role("button", name="Reveal", exact=True).click()
    await expect(dialog.get_by_text(SECRET)).to_be_visible()
    await dialog.get_by_role("button", name="Hide now").click()

    await expect(dialog).to_be_hidden()
    kept = await page.evaluate("JSON.stringify([localStorage, sessionStorage, location.href, history.state])")
    assert SECRET not in kept + await page.content()
    assert not [url for url in asked if SECRET in url]
    await page.get_by_role("link", name="Who changed or saw what").click()
    await expect(page.get_by_role("table", name="Audit")).to_contain_text("account.revealed")


async def test_a_secret_hides_by_itself(page: Page, server: Leasehold) -> None:
    made = account(server, "forgetful", "ann")
    await page.clock.install()
    await sign_in(page, server.token, f"/ui/accounts/{made}")
    await page.get_by_role("button", name="Reveal secret").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Reveal", exact=True).click()
    await expect(dialog.get_by_text(SECRET)).to_be_visible()

    await page.clock.run_for(31_000)

    await expect(dialog).to_contain_text("hidden again")
    assert SECRET not in await page.content()


async def test_an_account_tells_its_story(page: Page, server: Leasehold) -> None:
    made = account(server, "storied", "ann")
    lease = acquire(server, "storied", "crawler-7")
    ask(server, "POST", f"/v2/leases/{lease['id']}/release", {"outcome": "failed", "reason": "timeout at /login"})

    await sign_in(page, server.token, f"/ui/accounts/{made}")

    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("Cooling after a failure (rung 1")
    story = page.get_by_role("list", name="Leases")
    await expect(story).to_contain_text("crawler-7")
    await expect(story).to_contain_text("timeout at /login")
    await expect(story).to_contain_text("fence 1")
    await expect(page.get_by_role("list", name="Rungs").locator("[aria-current=step]")).to_contain_text("1m")


async def test_leases_are_grouped_by_owner_and_taken_from_one(page: Page, server: Leasehold) -> None:
    for name in ("ann", "bob", "cid"):
        account(server, "held", name)
    for owner in ("crawler-a", "crawler-a", "crawler-b"):
        acquire(server, "held", owner)
    await sign_in(page, server.token, "/ui/leases?site=held")
    group = page.get_by_role("rowgroup", name="Held by crawler-a")
    await expect(group).to_contain_text("2 leases")
    await expect(page.get_by_role("rowgroup", name="Held by crawler-b")).to_contain_text("one lease")
    await expect(group.get_by_role("meter").first).to_have_attribute("aria-valuetext", re.compile(r"^(10:00|9:\d\d)$"))

    await page.get_by_role("button", name="Revoke all of crawler-a").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("status")).to_contain_text("2 accounts")
    await dialog.get_by_role("button", name="Revoke everything it holds").click()

    await expect(group).to_have_count(0)
    await expect(page.get_by_role("rowgroup", name="Held by crawler-b")).to_be_visible()
    assert [held["owner"] for held in ask(server, "GET", "/v2/leases?site=held")["items"]] == ["crawler-b"]


async def test_one_lease_is_revoked_and_the_page_says_when_none_is_left(page: Page, server: Leasehold) -> None:
    account(server, "single", "ann")
    acquire(server, "single", "crawler-s")
    await sign_in(page, server.token, "/ui/leases?owner=crawler-s")

    await page.get_by_role("button", name="Revoke ann").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke lease").click()

    await expect(page.get_by_text("No lease matches")).to_be_visible()


async def test_a_site_shows_its_pool_and_who_holds_it(page: Page, server: Leasehold) -> None:
    account(server, "pooled", "ann")
    acquire(server, "pooled", "crawler-7")

    await sign_in(page, server.token, "/ui/sites/pooled")

    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("No account for pooled: 1 of 1 in use")
    card = page.get_by_role("region", name="Accounts")
    await expect(card.get_by_role("link", name="1 using at pooled")).to_be_visible()
    await expect(card.get_by_role("link", name="crawler-7")).to_be_visible()
    await expect(page.get_by_role("region", name="Policy")).to_contain_text("Probation after")


async def test_who_may_only_look_is_told_what_an_action_needs(page: Page, server: Leasehold) -> None:
    account(server, "watched", "ann")
    viewer = ask(server, "POST", "/v2/tokens", {"name": "viewer", "role": "viewer"})["token"]
    await sign_in(page, viewer, "/ui/accounts?site=watched")
    await expect(page.get_by_role("button", name="Create account")).to_be_disabled()

    await page.get_by_role("button", name="Actions on ann").click()

    await expect(page.get_by_role("menuitem", name="Reveal secret")).to_be_disabled()
    await expect(page.get_by_role("menuitem", name="Reveal secret")).to_contain_text("Needs accounts.reveal")


async def test_the_menu_of_a_row_works_by_keyboard(page: Page, server: Leasehold) -> None:
    account(server, "keyed", "ann")
    await sign_in(page, server.token, "/ui/accounts?site=keyed")
    button = page.get_by_role("button", name="Actions on ann")

    await button.press("Enter")
    await expect(page.get_by_role("menuitem", name="Edit")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("menuitem", name="Deactivate")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Deactivate ann")).to_be_visible()
    await page.keyboard.press("Escape")

    await expect(button).to_be_focused()


async def test_what_was_loaded_stays_when_the_server_fails(page: Page, server: Leasehold) -> None:
    account(server, "shaky", "ann")
    await sign_in(page, server.token, "/ui/accounts?site=shaky")
    await expect(row(page, "ann")).to_be_visible()

    await page.route(ACCOUNTS, lambda route: route.abort())
    await expect(page.get_by_role("alert")).to_contain_text("loaded before", timeout=20_000)
    await expect(row(page, "ann")).to_be_visible()
    await page.unroute(ACCOUNTS)

    await expect(page.get_by_role("alert")).to_be_hidden(timeout=20_000)


async def _rich(server: Leasehold) -> str:
    """A pool with something of everything; returns the account that has been through most."""
    if server.ask("GET", "/v2/sites/rich", server.token).status_code == 200:
        found: str = ask(server, "GET", "/v2/accounts?site=rich&q=worn")["items"][0]["id"]
        return found
    worn = account(server, "rich", "worn", labels={"region": "eu", "a-rather-long-label": "with-a-long-value"})
    for outcome in ("ok", "logged_out", "failed"):
        lease = acquire(server, "rich", "crawler-with-a-long-name@host-3.internal", account_id=worn)
        ask(server, "POST", f"/v2/leases/{lease['id']}/release", {"outcome": outcome, "reason": "as it went"})
    idle, barred = account(server, "rich", "idle"), account(server, "rich", "barred")
    ask(server, "PATCH", f"/v2/accounts/{idle}", {"state": "inactive"})
    ask(server, "PATCH", f"/v2/accounts/{barred}", {"state": "blocked", "reason": "a long story " * 10})
    account(server, "rich", f"{'long-name-' * 5}ann")
    acquire(server, "rich", "crawler-with-a-long-name@host-3.internal")
    account(server, "rich", "free")
    return worn


@pytest.mark.parametrize(
    "path",
    ["accounts", "accounts?site=rich&state=blocked", "accounts?q=nobody", "accounts/WORN", "leases", "sites/rich"],
)
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (375, "dark")])
async def test_every_page_fits_and_is_accessible(
    page: Page, server: Leasehold, path: str, width: int, scheme: str
) -> None:
    worn = await _rich(server)

    assert await faults_of(page, server.token, f"/ui/{path.replace('WORN', worn)}", width, scheme) == []


@pytest.mark.parametrize("button", ["Create account", "Import", "Actions on free"])
async def test_what_opens_on_top_is_accessible(page: Page, server: Leasehold, button: str) -> None:
    await _rich(server)
    await sign_in(page, server.token, "/ui/accounts?site=rich")

    await opened(page, button)

    assert await barriers(page) == []
