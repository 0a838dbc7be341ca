"""Makes the pictures of the README and the docs: starts the demo, waits until there is something to see, and looks."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
PATIENCE_S = 240.0
# Long enough for charts to have a line instead of a dot.
SETTLED_S = 90.0
WIDE = ViewportSize(width=1360, height=850)


def started() -> tuple[subprocess.Popen[str], str, str]:
    """The demo, its address and its token."""
    command = [sys.executable, "-m", "leasehold", "demo", "--port", "0"]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)  # noqa: S603
    told = ""
    for line in demo.stdout or ():
        told += line
        address, token = re.search(r"http://[\w.]+:\d+", told), re.search(r"lh_\w{20,}", told)
        if address and token:
            return demo, address[0], token[0]
    raise SystemExit(f"The demo did not start:\n{told}")


async def first(api: httpx.AsyncClient, path: str) -> dict[str, Any]:
    """The first of a list, as soon as there is one."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if items := (await api.get(path)).json()["items"]:
            found: dict[str, Any] = items[0]
            return found
        await asyncio.sleep(1)
    raise SystemExit(f"There is nothing at {path} after {PATIENCE_S:.0f} seconds.")


async def pages(api: httpx.AsyncClient) -> dict[str, str]:
    """What is shown, by the name of its picture."""
    run = await first(api, "/v2/runs?status=running")
    await first(api, "/v2/entities/reviews")
    entity = max((await api.get("/v2/entities?limit=200")).json()["items"], key=lambda one: int(one["size"]))
    job = await first(api, "/v2/jobs?status=pending")
    return {
        "overview": "/ui/overview",
        "accounts": "/ui/accounts",
        "run": f"/ui/runs/{run['id']}",
        "job": f"/ui/jobs/{job['id']}",
        "entity": f"/ui/entities/{entity['id']}",
        "status": "/status/",
    }


async def signed_in(browser: Browser, address: str, token: str) -> Page:
    context = await browser.new_context(base_url=address, viewport=WIDE, color_scheme="light")
    page = await context.new_page()
    await page.goto("/ui/")
    await page.get_by_label("Token", exact=True).fill(token)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("navigation").first.wait_for()
    return page


async def look(address: str, token: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=address, headers=headers, trust_env=False) as api:
        print(f"Waiting {SETTLED_S:.0f} seconds for the demo to fill its screens …", flush=True)
        await asyncio.sleep(SETTLED_S)
        shown = await pages(api)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = await signed_in(browser, address, token)
        for name, path in shown.items():
            await page.goto(path)
            await asyncio.sleep(3)  # charts draw themselves after their data
            file = PICTURES / f"{name}.png"
            await page.screenshot(path=file)
            print(f"written {file.relative_to(ROOT)}", flush=True)
        await browser.close()


def main() -> None:
    demo, address, token = started()
    try:
        asyncio.run(look(address, token))
    finally:
        os.killpg(demo.pid, signal.SIGTERM)
        demo.wait(timeout=60)


if __name__ == "__main__":
    main()
