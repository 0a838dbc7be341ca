"""A collector that turns one page of the board and then works on until it is killed; run as a process of its own."""

import asyncio
import os
import sys

from playwright.async_api import async_playwright

from leasehold.client import AsyncLeasehold


async def main(address: str, account: str, url: str, program: str, *flags: str) -> None:
    async with async_playwright() as playwright, AsyncLeasehold(address, os.environ["TOKEN"]) as lh:
        browser = await playwright.chromium.launch(executable_path=program, args=flags)
        block = lh.account("board", account_id=account, ttl=5, wait=30)
        async with block as lease, lh.browser_session(lease, browser, watch=["sid"]) as context:
            await (await context.new_page()).goto(url)
            print("turned", flush=True)  # noqa: T201
            await asyncio.sleep(600)


asyncio.run(main(*sys.argv[1:]))
