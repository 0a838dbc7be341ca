"""A collector with a real browser: its context begins with the account's session, and what came of it is merged back.

    pip install playwright && playwright install chromium
    LEASEHOLD_URL=… LEASEHOLD_TOKEN=… python examples/board_playwright.py

CHROMIUM names a browser that is installed already.
"""

import asyncio
import os

from playwright.async_api import Page, async_playwright

from leasehold.client import AsyncLeasehold, HeldAccount, SeedGrant

SITE = "board"


async def read(page: Page, lease: HeldAccount, url: str) -> None:
    """Open a page, signing in where that is asked."""
    await page.goto(url)
    if await page.locator("input[name=password]").count():
        await page.fill("input[name=username]", lease.username)
        await page.fill("input[name=password]", lease.secret["password"])
        await page.click("button")
        await page.wait_for_url(url)


async def visit(lh: AsyncLeasehold, page: Page, lease: HeldAccount, grant: SeedGrant) -> None:
    url = str(grant.seed.url)
    await read(page, lease, url)
    posts = await page.locator("article").count()
    files = {"page.html": (await page.content()).encode(), "page.png": await page.screenshot()}
    await lh.captures.upload(site=SITE, url=url, files=files, seed_id=grant.seed.id, lease_id=lease.id)
    await lh.seeds.release(grant.id, found=posts - (grant.seed.cursor or 0), cursor=posts)
    print(f"{lease.username} read {url}: {posts} posts")


async def main() -> None:
    async with (
        AsyncLeasehold(os.environ["LEASEHOLD_URL"], os.environ["LEASEHOLD_TOKEN"]) as lh,
        async_playwright() as playwright,
        await playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM")) as browser,
        lh.account(SITE, wait=60, include_session=True) as lease,  # the task is cancelled when it is lost
    ):
        session = lh.browser_session(lease, browser, watch=["sid"])
        async with session as context:
            page = await context.new_page()
            for _ in range(5):
                found = await lh.seeds.acquire(owner=lease.owner, site=SITE)
                if not found.leases:
                    break
                await visit(lh, page, lease, found.leases[0])
            session.ok()


if __name__ == "__main__":
    asyncio.run(main())
