"""What browser tests share: an operator's hands on the page, and a server given something to show."""

import json
from mimetypes import guess_type
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Locator, Page, expect

from tests.parts.process import PATIENCE_S, Leasehold

AXE = Path(__file__).parents[2] / "ui" / "node_modules" / "axe-core" / "axe.min.js"


async def sign_in(page: Page, token: str | None, path: str = "/ui/") -> None:
    """Sign in and be there: what is looked at next must not be found on the page one leaves."""
    await offer(page, token, path)
    await expect(page.get_by_role("button", name="Sign in", exact=True)).to_have_count(0)


async def offer(page: Page, token: str | None, path: str = "/ui/") -> None:
    """Give a token that may be refused."""
    await page.goto(path)
    await page.get_by_label("Token", exact=True).fill(token or "")
    await page.get_by_role("button", name="Sign in").click()


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


async def choose(page: Page, name: str, act: str) -> Locator:
    """Choose an action in the menu of this name; returns the dialog that asks."""
    await page.get_by_role("button", name=name).click()
    await page.get_by_role("menuitem", name=act).click()
    return page.get_by_role("dialog")


async def opened(page: Page, button: str) -> None:
    """Press what opens a dialog or a menu, and wait until that is there."""
    await page.get_by_role("button", name=button, exact=True).click()
    await expect(page.get_by_role("dialog").or_(page.get_by_role("menu"))).to_be_visible()


async def faults_of(page: Page, token: str | None, path: str, width: int, scheme: str) -> list[str]:
    """What is wrong with a page as somebody sees it who has this window and this theme."""
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await page.set_viewport_size({"width": width, "height": 844})
    await sign_in(page, token, path)
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0)
    overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return faults + await barriers(page) + ([f"{overflow} px too wide"] if overflow > 0 else [])


async def barriers(page: Page) -> list[str]:
    """What axe finds that would keep somebody out."""
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    found = await page.evaluate("axe.run().then(result => result.violations)")
    return [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")]


def ask(server: Leasehold, method: str, path: str, body: Any = None) -> Any:
    answer = server.ask(method, path, server.token, body)
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def viewer(server: Leasehold) -> str:
    """The token of somebody who may only look."""
    made: str = ask(server, "POST", "/v2/tokens", {"name": "viewer", "role": "viewer"})["token"]
    return made


def site(server: Leasehold, slug: str, **policy: Any) -> None:
    if server.ask("GET", f"/v2/sites/{slug}", server.token).status_code == 404:
        ask(server, "POST", "/v2/sites", {"slug": slug, "domain": f"{slug}.example"})
        if policy:
            ask(server, "PATCH", f"/v2/sites/{slug}", {"policy": policy})


def account(server: Leasehold, slug: str, username: str) -> str:
    site(server, slug)
    new = {"site": slug, "username": username, "secret": {"password": "LHCANARYx"}}
    made: str = ask(server, "POST", "/v2/accounts", new)["id"]
    return made


def seed(server: Leasehold, slug: str, path: str = "/new", **fields: Any) -> str:
    site(server, slug)
    item = {"site": slug, "url": f"https://{slug}.example{path}", **fields}
    made: str = ask(server, "POST", "/v2/seeds", {"items": [item]})["items"][0]["id"]
    return made


def acquire(server: Leasehold, what: str, slug: str, owner: str) -> Any:
    """A lease on the next seed or capture of a site."""
    wish = {"site": slug, "owner": owner, "ttl_seconds": 600}
    (lease,) = ask(server, "POST", f"/v2/{what}/acquire", wish)["leases"]
    return lease


def release(server: Leasehold, lease: Any, outcome: str, **report: Any) -> None:
    ask(server, "POST", f"/v2/leases/{lease['id']}/release", {"outcome": outcome, **report})


def capture(server: Leasehold, slug: str, files: dict[str, bytes], path: str = "/thread/1", **meta: Any) -> str:
    """Files handed in as a collector does; returns the capture's id."""
    site(server, slug)
    told = json.dumps({"site": slug, "url": f"https://{slug}.example{path}", **meta}).encode()
    parts: list[tuple[str, tuple[str | None, bytes, str]]] = [("meta", (None, told, "application/json"))]
    kinds = {name: guess_type(name)[0] or "text/html" for name in files}
    parts += [("file", (name, content, kinds[name])) for name, content in files.items()]
    answer = httpx.post(
        f"{server.address}/v2/captures",
        files=parts,
        headers={"Authorization": f"Bearer {server.token}"},
        trust_env=False,
        timeout=PATIENCE_S,
    )
    assert answer.is_success, answer.text
    made: str = answer.json()["id"]
    return made


def cookie(slug: str, name: str, value: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "domain": f"{slug}.example", "path": "/", "expires": -1, **more}


def upload(server: Leasehold, holder: str, cookies: list[dict[str, Any]], **query: str) -> Any:
    """A StorageState sent back for an account, by an operator; `query` says what it was made from."""
    wish = "&".join(f"{name}={value}" for name, value in query.items())
    state = {"cookies": cookies, "origins": []}
    return ask(server, "PUT", f"/v2/sessions/{holder}?{wish}", state)
