"""Every page there is, in a real Chromium: none keeps anybody out, in light, in dark and in a narrow window."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.parts.broker import chunk, failed, last
from tests.parts.operator import AXE, account, acquire, ask, capture, cookie, release, seed, sign_in, upload
from tests.parts.process import Leasehold, place, until
from tests.parts.simulated import Providers

pytestmark = pytest.mark.asyncio(loop_scope="session")

APP = Path(__file__).parents[2] / "ui" / "src" / "App.tsx"
ROUTES = re.findall(r'<Route path="([^"*]+)"', APP.read_text(encoding="utf-8"))
# In dark nothing differs but the colours; in a narrow window nothing but what is where.
LOOKS: list[tuple[str, int, list[str] | None]] = [
    ("light", 1440, None),
    ("dark", 1440, ["color-contrast"]),
    ("dark", 390, None),
]
GRAVE = """(rules) => axe.run(rules ? {runOnly: rules} : {}).then(({violations}) => violations
    .filter(({impact}) => impact === 'serious' || impact === 'critical')
    .flatMap(({id, nodes}) => nodes.map(({target}) => `${id} at ${target}`)))"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def server() -> Iterator[Leasehold]:
    with place() as here:
        providers = Providers(here, "--items", "8", "--latency-ms", "1", "--missing-every", "7")
        yield here.up(**providers.environment)


@pytest.fixture(scope="module")
def things(server: Leasehold) -> dict[str, str]:
    """One of everything, each with something to say: the address of its page, by its route."""
    return {
        "accounts/:id": _account(server),
        "sites/:slug": "board",
        "seeds/:id": _seed(server),
        "sessions/:id": _session(server),
        "captures/:id": capture(server, "board", {"page.html": b"<h1>A page</h1>"}),
        "runs/:id": _run(server),
        "jobs/:id": _jobs(server),
        "platforms/:slug": "youtube",
        "entities/:id": _entity(server),
    }


def _account(server: Leasehold) -> str:
    worn, blocked = account(server, "board", "ann"), account(server, "board", "bob")
    ask(server, "PATCH", f"/v2/accounts/{blocked}", {"state": "blocked", "reason": "asked for a code"})
    release(server, acquire(server, "accounts", "board", "collector-1"), "rate_limited")
    return worn


def _seed(server: Leasehold) -> str:
    made = seed(server, "board")
    release(server, acquire(server, "seeds", "board", "collector-1"), "ok", found=3)
    return made


def _session(server: Leasehold) -> str:
    holder = account(server, "forum", "eve")
    for number in range(2):
        upload(server, holder, [cookie("forum", "sid", f"value {number}"), cookie("forum", "theme", "dark")])
    return holder


def _run(server: Leasehold) -> str:
    run: str = ask(server, "POST", "/v2/runs", {"collector": "amazon", "categories": ["toys"], "name": "Toys"})["id"]
    ask(server, "POST", f"/v2/runs/{run}/start")
    until(lambda: ask(server, "GET", f"/v2/runs/{run}")["status"] == "completed")
    ask(server, "POST", "/v2/runs", {"collector": "ebay", "categories": ["toys"], "name": "Planned"})
    return run


def _jobs(server: Leasehold) -> str:
    def taken(job: str) -> Any:
        request = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "12345678901"}}
        ask(server, "POST", "/v2/jobs", {"job_id": job, **request})
        wish = {"owner": "crawler", "platforms": ["youtube"], "ttl_seconds": 600}
        (lease,) = ask(server, "POST", "/v2/tasks/acquire", wish)["leases"]
        return lease

    ask(server, "POST", "/v2/tasks/results", {"items": [failed(taken("dead"), "not_found")]})
    done = taken("done")
    ask(server, "POST", "/v2/tasks/results", {"items": [chunk(done, "page-1", {"title": "A video"}), last(done)]})
    taken("in-hand")
    return "done"


def _entity(server: Leasehold) -> str:
    def record(source: str, name: str, **more: Any) -> dict[str, Any]:
        return {"source": source, "source_id": f"{source} {name}", "kind": "performer", "name": name, **more}

    ids = {"external_ids": {"wikidata": ["Q123456"]}, "urls": {"twitter": ["https://x.com/ada"]}}
    vague = {"attributes": {"birthdate": "1980"}}
    items = [record(source, "Ada Abbott", **ids) for source in ("alpha", "beta")]
    items += [record(source, "Uma Unsure", **vague) for source in ("alpha", "beta")]
    batch = ask(server, "POST", "/v2/entities/records", {"items": items})["batch"]
    until(lambda: ask(server, "GET", f"/v2/entities/batches/{batch}")["state"] == "done")
    found: str = ask(server, "GET", "/v2/entities?q=Ada")["items"][0]["id"]
    return found


async def settled(page: Page) -> None:
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0)


async def test_every_page_is_for_everybody(page: Page, server: Leasehold, things: dict[str, str]) -> None:
    faults: list[str] = []
    page.on("console", lambda said: faults.append(f"{page.url}: {said.text}") if said.type == "error" else None)
    assert [route for route in ROUTES if ":" in route] == [route for route in ROUTES if route in things]
    await sign_in(page, server.token)

    for route in ROUTES:
        path = re.sub(r":\w+", things.get(route, ""), route)
        await page.goto(f"/ui/{path}")
        await settled(page)
        await expect(page.get_by_text(re.compile("There is no such|could not be loaded"))).to_have_count(0)
        await page.evaluate(AXE.read_text(encoding="utf-8"))
        for scheme, width, rules in LOOKS:
            # Colours that are on their way from one theme to the other are in neither.
            await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
            await page.set_viewport_size({"width": width, "height": 900})
            await settled(page)
            seen = await page.evaluate(GRAVE, rules)
            wide = await page.evaluate(TOO_WIDE)
            seen += [f"{wide} px too wide"] if wide > 0 else []
            faults += [f"{path}, {scheme}, {width} px: {one}" for one in seen]

    assert len(ROUTES) > 30
    assert faults == []
