"""What hangs on a site: it is counted before a move, told by `explain`, and keeps the site from being deleted."""

from uuid import UUID

import httpx
import pytest

from leasehold.db import Conn
from leasehold.sites import Sites
from tests.parts.house import House


async def three(conn: Conn, organisation: UUID, site: str) -> int:
    """A feature that keeps three things at `board`, asked in the transaction and the organisation of the caller."""
    cur = await conn.execute("SELECT current_organisation()")
    assert await cur.fetchone() == (organisation,)
    return 3 if site == "board" else 0


@pytest.fixture
async def admin(home: House) -> httpx.AsyncClient:
    home.app.state.sites = Sites(home.app.state.db, dependents={"seeds": three, "sessions": three})
    client = await home.caller()
    for slug in ("board", "bare"):
        await client.post("/v2/sites", json={"slug": slug, "domain": f"{slug}.example"})
    return client


async def test_a_move_counts_what_it_touches(admin: httpx.AsyncClient) -> None:
    moved = await admin.post("/v2/sites/board/moves", json={"to": "b.example", "dry_run": True})

    assert moved.json()["affected"] == {"seeds": 3, "sessions": 3}


async def test_a_site_in_use_is_not_deleted_and_says_what_it_holds(admin: httpx.AsyncClient) -> None:
    answer = await admin.delete("/v2/sites/board")

    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/site-in-use")
    assert answer.json()["holds"] == {"seeds": 3, "sessions": 3}
    assert (await admin.get("/v2/sites/board")).status_code == 200
    assert (await admin.delete("/v2/sites/bare")).status_code == 204


async def test_explain_tells_the_counts(admin: httpx.AsyncClient) -> None:
    told = (await admin.get("/v2/sites/board/explain")).json()
    bare = (await admin.get("/v2/sites/bare/explain")).json()

    assert told["counts"] == {"seeds": 3, "sessions": 3}
    assert told["sentence"] == "board is open and has 3 seeds, 3 sessions."
    assert "nothing to give" in bare["sentence"]
