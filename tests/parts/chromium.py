"""The machine's own Chromium, headless, driven by Playwright; started once per run."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, async_playwright

# It talks to nobody but the pages it is given.
FLAGS = [
    "--no-sandbox",  # root has no sandbox to offer
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def program() -> str:
    found = shutil.which("chromium")
    if found is None:
        pytest.fail("Chromium is not installed. Run `make services`.")
    return found


@asynccontextmanager
async def chromium(*flags: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program(), args=[*FLAGS, *flags])
        try:
            yield browser
        finally:
            await browser.close()
