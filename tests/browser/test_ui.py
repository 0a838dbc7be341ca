"""The UI in a real Chromium, against a real server, by hand as it were."""

import asyncio
import re

import pytest
from playwright.async_api import Page, expect

from tests.parts.operator import faults_of, offer, sign_in
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="session")

SITES = re.compile(r"/v2/sites(\?|$)")


def make(server: Leasehold, slug: str, domain: str) -> None:
    answer = server.ask("POST", "/v2/sites", server.token, {"slug": slug, "domain": domain})
    assert answer.status_code == 201, answer.text


async def test_a_new_user_makes_a_site_and_moves_it(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/sites")
    await expect(page.get_by_text("No sites yet")).to_be_visible()

    await page.get_by_role("button", name="Create site").first.click()
    dialog = page.get_by_role("dialog", name="Create site")
    await dialog.get_by_label("Slug").fill("board")
    await dialog.get_by_label("Domain").fill("board1.example")
    await dialog.get_by_role("button", name="Create site").click()
    await expect(dialog).to_be_hidden()

    await expect(page).to_have_url(re.compile(r"/ui/sites/board$"))
    await page.get_by_role("button", name="Move", exact=True).click()
    dialog = page.get_by_role("dialog", name="Move board")
    await dialog.get_by_label("New address").fill("board2.example")
    await dialog.get_by_label("Reason").fill("the old domain was seized")
    await dialog.get_by_role("button", name="Preview").click()
    await expect(dialog.get_by_role("region", name="Preview")).to_contain_text("board2.example")
    assert server.ask("GET", "/v2/sites/board", server.token).json()["current_domain"] == "board1.example"
    await dialog.get_by_role("button", name="Move board to board2.example").click()
    await expect(dialog).to_be_hidden()

    await expect(page.get_by_role("list", name="Addresses through time")).to_contain_text("the old domain was seized")
    assert server.ask("GET", "/v2/sites/board", server.token).json()["current_domain"] == "board2.example"


async def test_a_site_is_paused_with_a_reason_and_resumed(page: Page, server: Leasehold) -> None:
    make(server, "pausing", "pausing.example")
    await sign_in(page, server.token, "/ui/sites/pausing")

    await page.get_by_role("button", name="Pause", exact=True).click()
    dialog = page.get_by_role("dialog", name="Pause pausing")
    await dialog.get_by_label("Reason").fill("captcha wave")
    await dialog.get_by_role("button", name="Pause pausing").click()
    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("captcha wave")
    await page.get_by_role("button", name="Resume").click()

    await expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    assert server.ask("GET", "/v2/sites/pausing", server.token).json()["paused"] is False


async def test_a_refusal_stands_beside_the_field(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/sites")
    await page.get_by_role("button", name="Create site").first.click()
    dialog = page.get_by_role("dialog", name="Create site")
    await dialog.get_by_label("Slug").fill("local")
    await dialog.get_by_label("Domain").fill("127.0.0.1")

    await dialog.get_by_role("button", name="Create site").click()

    await expect(dialog.get_by_label("Domain")).to_have_attribute("aria-invalid", "true")


async def test_a_wrong_token_is_told_what_to_do(page: Page) -> None:
    await offer(page, "lh_" + "x" * 42)

    await expect(page.get_by_role("alert")).to_contain_text("tokens create")


async def test_the_token_stays_out_of_urls_and_lasting_storage(page: Page, server: Leasehold) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await sign_in(page, server.token)
    await expect(page.get_by_role("navigation", name="Main")).to_be_visible()

    kept = await page.evaluate("JSON.stringify(localStorage)")

    assert server.token
    assert server.token not in kept
    assert not [url for url in asked if server.token in url]


async def test_signing_out_forgets_the_token(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token)
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_label("Token", exact=True)).to_be_visible()

    await page.reload()

    await expect(page.get_by_label("Token", exact=True)).to_be_visible()


async def test_who_may_only_look_is_told_why_a_button_does_nothing(page: Page, server: Leasehold) -> None:
    made = server.ask("POST", "/v2/tokens", server.token, {"name": "viewer", "role": "viewer"}).json()
    await sign_in(page, made["token"], "/ui/sites")

    await expect(page.get_by_role("button", name="Create site").first).to_be_disabled()


async def test_a_server_that_fails_is_said_and_tried_again(page: Page, server: Leasehold) -> None:
    await page.route(SITES, lambda route: route.abort())
    await sign_in(page, server.token, "/ui/sites")
    await expect(page.get_by_role("button", name="Retry")).to_be_visible(timeout=20_000)

    await page.unroute(SITES)
    await page.get_by_role("button", name="Retry").click()

    await expect(page.get_by_role("button", name="Retry")).to_be_hidden()


async def test_a_list_that_loads_says_so(page: Page, server: Leasehold) -> None:
    await page.route(SITES, lambda route: None)  # never answered

    await sign_in(page, server.token, "/ui/sites")

    await expect(page.locator("[aria-busy=true]").first).to_be_visible()


@pytest.mark.parametrize("path", ["sites", "sites/wide"])
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
async def test_a_long_name_fits(page: Page, server: Leasehold, path: str, width: int, scheme: str) -> None:
    if server.ask("GET", "/v2/sites/wide", server.token).status_code == 404:
        make(server, "wide", f"{'long-name-' * 5}board.example")

    assert await faults_of(page, server.token, f"/ui/{path}", width, scheme) == []


async def test_the_reference_shows_every_operation(page: Page) -> None:
    """It draws what is in sight alone, so one has to go through all of it."""
    described = set((await (await page.request.get("/openapi.json")).json())["paths"])
    await page.goto("/docs")
    shown = page.locator(".opblock-summary-path[data-path]")
    await expect(shown.first).to_be_visible(timeout=20_000)

    seen: set[str] = set()
    async with asyncio.timeout(60):
        while not seen >= described:
            seen |= set(await shown.evaluate_all("found => found.map(one => one.dataset.path)"))
            await page.mouse.wheel(0, 400)
            await asyncio.sleep(0.05)
