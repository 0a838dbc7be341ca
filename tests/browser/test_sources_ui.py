"""Sources in a real Chromium: started, watched and stopped, and what is said when one of them fails."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from leasehold import simulate
from tests.parts import boxes
from tests.parts.operator import ask, barriers, faults_of, sign_in, viewer
from tests.parts.process import Leasehold, place

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATIENCE_MS = 20_000


@pytest.fixture(scope="module")
def box() -> Iterator[Any]:
    with boxes.served(people=60) as made:
        yield made


@pytest.fixture(scope="module")
def server(box: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leasehold]:
    """One with three sources: one is quick, one slow, one switched off."""
    folder = tmp_path_factory.mktemp("sources")
    box.declare(folder, "stashdb", priority=8, retry_attempts=1)
    box.declare(folder, "fansdb", rate_limit=1, batch_size=5)
    box.declare(folder, "javstash", enabled="false")
    with place() as here:
        yield here.up(LEASEHOLD_SOURCES_DIR=str(folder))


def panel(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


async def test_a_source_is_started_and_its_sweep_is_watched_to_the_end(page: Page, server: Leasehold, box: Any) -> None:
    count = len(box.live("stashdb"))
    await sign_in(page, server.token, "/ui/sources")
    stashdb = panel(page, "stashdb")
    await expect(stashdb).to_contain_text("Start it: everything it has is read once.")

    await stashdb.get_by_role("button", name="Start").click()

    await expect(stashdb).to_contain_text("Up to date", timeout=PATIENCE_MS)
    bar = stashdb.get_by_role("progressbar")
    await expect(bar).to_have_attribute("aria-valuetext", f"{count} of {count} seen")
    await expect(stashdb).to_contain_text(re.compile(rf"Handed over\s*{count}"))
    await expect(stashdb).to_contain_text("(full)")


async def test_a_sweep_is_stopped_and_goes_on(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/sources")
    fansdb = panel(page, "fansdb")
    await fansdb.get_by_role("button", name="Start").click()

    await fansdb.get_by_role("button", name="Stop").click()

    await expect(fansdb).to_contain_text("Stopped")
    assert ask(server, "GET", "/v2/sources/fansdb")["state"] == "paused"
    await fansdb.get_by_role("button", name="Go on").click()
    await expect(fansdb.get_by_role("button", name="Stop")).to_be_visible()
    ask(server, "POST", "/v2/sources/fansdb/stop")


async def test_a_source_that_is_down_says_what_to_do(page: Page, server: Leasehold, box: Any) -> None:
    box.become("stashdb", simulate.Mode.DOWN)
    await sign_in(page, server.token, "/ui/sources")
    stashdb = panel(page, "stashdb")

    await stashdb.get_by_role("button", name="Full sweep").click()
    await page.get_by_role("dialog").get_by_role("button", name="Read everything again").click()

    await expect(stashdb.get_by_role("alert")).to_contain_text(
        "Put right what the last error says", timeout=PATIENCE_MS
    )
    assert await barriers(page) == []
    box.become("stashdb", simulate.Mode.OK)


async def test_what_could_not_be_read_is_shown(page: Page, server: Leasehold, box: Any) -> None:
    box.boxes.boxes["stashdb"].spoil(min(box.live("stashdb")))
    ask(server, "POST", "/v2/sources/stashdb/start", {"full": True})
    await sign_in(page, server.token, "/ui/sources")
    stashdb = panel(page, "stashdb")
    await expect(stashdb).to_contain_text("Up to date", timeout=PATIENCE_MS)

    await stashdb.get_by_role("button", name="see the dead letters of stashdb").click()

    await expect(page).to_have_url(re.compile(r"\?letters=stashdb$"))
    await expect(page.get_by_role("list", name="Dead letters")).to_contain_text("Not taken: it has no name.")
    assert await barriers(page) == []


async def test_what_is_switched_off_or_not_allowed_cannot_be_started(page: Page, server: Leasehold) -> None:
    await sign_in(page, viewer(server), "/ui/sources")

    for name in ("stashdb", "javstash"):
        await expect(panel(page, name).get_by_role("button", name="Full sweep")).to_be_disabled()
    await expect(panel(page, "javstash")).to_contain_text("Switched off")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
async def test_the_page_fits_and_is_accessible(page: Page, server: Leasehold, width: int, scheme: str) -> None:
    assert await faults_of(page, server.token, "/ui/sources", width, scheme) == []
