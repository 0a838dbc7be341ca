"""One Chromium for the run, one leasehold for this folder, and a fresh context for each test."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.parts.chromium import chromium
from tests.parts.process import Leasehold, place

# A machine may be busy with other things.
expect.set_options(timeout=20_000)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def server() -> Iterator[Leasehold]:
    """A real `leasehold up`, as a new user starts it."""
    with place() as here:
        yield here.up()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, server: Leasehold) -> AsyncIterator[Page]:
    """A wide page of a browser that has never been here. It fails the test if the page itself has errors."""
    context = await browser.new_context(base_url=server.address, viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Content Security" in message.text else None)
    yield page
    await context.close()
    assert faults == []
