"""The status page from a plain file server, with leasehold nowhere near: drawn, aging, and asking nobody else."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from leasehold.artifacts.folder import FolderShelf
from leasehold.artifacts.models import Accounts
from leasehold.artifacts.publishing import lay_out, put_in_place
from tests.parts.artifacts import NOON, edition

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATIENCE_S = 60.0
# The page asks again after this long at the latest.
LONGEST_WAIT = timedelta(minutes=5)
BELOW = "/some/where"
DARK = "rgb(14, 18, 22)"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_said: object) -> None:
        return


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[int]:
    """Any file server will do; returns its port."""
    with ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def publish(folder: Path, number: int = 1, after: timedelta = timedelta(), **changes: Any) -> None:
    shelf, wanted = FolderShelf(folder / BELOW[1:]), edition(number, NOON + after, **changes)
    put_in_place(shelf, wanted, lay_out(shelf, wanted, 2), 2)


@pytest_asyncio.fixture(loop_scope="session")
async def reader(browser: Browser) -> AsyncIterator[Page]:
    """Somebody whose clock says noon. It fails the test if the page has errors, or asks anybody but its own folder."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    await context.clock.install(time=NOON + timedelta(seconds=30))
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Content Security" in message.text else None)
    page.on("request", lambda asked: faults.append(asked.url) if f"{BELOW}/status/" not in asked.url else None)
    yield page
    await context.close()
    assert faults == []


async def test_it_draws_what_was_published_wide_and_narrow_light_and_dark(reader: Page, tmp_path: Path) -> None:
    publish(tmp_path, accounts=Accounts(0, 0, 0, 3, 9))
    with served(tmp_path) as port:
        await reader.goto(f"http://127.0.0.1:{port}{BELOW}/status/")

        await expect(reader.get_by_role("heading", level=1)).to_have_text(
            "Something is wrong, and people have to see to it."
        )
        await expect(reader.get_by_role("listitem").first).to_have_text(
            "No account can be used: all that are on are blocked."
        )
        await expect(reader.locator(".age")).to_have_text(re.compile(r"Counted \d+ (second|minute)s? ago: "))
        for text in ("Overdue", "61,234", "$12.34", "2 of 3", "2.0 %"):
            await expect(reader.get_by_text(text, exact=True)).to_be_visible()
        await expect(reader.locator(".chart rect.fill-teal")).to_have_count(24)
        for width in (1280, 390, 320):
            await reader.set_viewport_size({"width": width, "height": 800})
            await expect(reader.locator(".chart svg")).to_be_visible()
            await reader.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
        await reader.emulate_media(color_scheme="dark")
        assert await reader.evaluate("getComputedStyle(document.body).backgroundColor") == DARK


async def recovers(reader: Page, folder: Path) -> None:
    """Publishes as the reader's clock goes, until the page shows it: a reader who took long finds a newer edition."""
    heading = reader.get_by_role("heading", level=1)
    async with asyncio.timeout(PATIENCE_S):
        for number in count(2):
            clock = datetime.fromtimestamp(await reader.evaluate("Date.now()") / 1000, UTC)
            publish(folder, number, after=clock + LONGEST_WAIT - NOON)
            await reader.clock.fast_forward(LONGEST_WAIT // timedelta(milliseconds=1))
            with suppress(AssertionError):
                await expect(heading).to_have_text("All is well.", timeout=5_000)
                break
    await expect(reader.locator("footer")).to_contain_text(re.compile(r"Edition [2-9], published every minute."))


async def test_it_turns_stale_by_itself_while_nothing_answers_and_recovers(reader: Page, tmp_path: Path) -> None:
    publish(tmp_path)
    heading = reader.get_by_role("heading", level=1)
    with served(tmp_path) as port:
        await reader.goto(f"http://127.0.0.1:{port}{BELOW}/status/")
        await expect(heading).to_have_text("All is well.")

    await reader.clock.fast_forward(120_000)
    await expect(reader.locator(".age")).to_contain_text("The last try to read newer ones failed.")
    await expect(heading).to_have_text("All is well.")
    await reader.clock.fast_forward(600_000)
    await expect(heading).to_contain_text("minutes old, so how things are now is not known.")
    await expect(reader).to_have_title("Stale · Status")
    await expect(reader.get_by_text("61,234", exact=True)).to_be_visible()

    with served(tmp_path, port):
        await recovers(reader, tmp_path)
