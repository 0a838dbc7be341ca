"""The server dies at every step of a run, before and after it is committed: each item is collected in the end, counted
once, paid for once in the books, and the timeline says what happened."""

from collections.abc import AsyncIterator, Iterator
from functools import partial

import httpx
import pytest
from psycopg.conninfo import conninfo_to_dict

from leasehold.simulate import Goods
from tests.faults.undying import PATIENCE_S, Undying, long_gone, undying, until
from tests.parts import providers as parts
from tests.parts.broker import JSON
from tests.parts.fuse import Fuse, When, fused
from tests.parts.house import house
from tests.parts.ports import free_port
from tests.parts.postgres import TestDatabase
from tests.parts.process import KEYS, Place
from tests.parts.providers import SECRET, Market
from tests.runs.conftest import UNBALANCED

# A piece of the statement that makes each step what it is.
STEPS = {
    "claimed": "driver_fence = r.driver_fence + 1",
    "listing reserved": "SET reserved_micros = reserved_micros + ",
    "begun": "INSERT INTO run_item ",
    "settled": "UPDATE run_item AS i",
    "ended": "completed_at = clock_timestamp(), resume_at = NULL",
}
ITEMS, PRICE, LISTING = 25, 500, 500
PAGES = 2


@pytest.fixture(scope="module")
def market() -> Iterator[Market]:
    with parts.market(Goods(items=ITEMS)) as served:
        yield served


@pytest.fixture
async def fuse(database: TestDatabase) -> AsyncIterator[Fuse]:
    async with fused(database.url) as made:
        yield made


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
async def server(here: Place, fuse: Fuse, database: TestDatabase, market: Market, port: int) -> AsyncIterator[Undying]:
    place = conninfo_to_dict(database.url)
    environment = {
        "LEASEHOLD_DATABASE_URL": f"postgresql://{place['user']}@127.0.0.1:{fuse.port}/{place['dbname']}",
        "LEASEHOLD_KEYS": KEYS,
        "LEASEHOLD_OXYLABS_URL": f"{market.address}/oxylabs",
        "LEASEHOLD_OXYLABS_USERNAME": "user",
        "LEASEHOLD_OXYLABS_PASSWORD": SECRET,
    }
    async with undying(here, "up", "--port", str(port), **environment) as made:
        yield made


def end(server: Undying, database: TestDatabase) -> None:
    """Kill it, and let the time pass that others have to wait for one who is dead."""
    server.kill()
    long_gone(database)
    # Leases of tasks and of the driver have run out.
    database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' WHERE kind = 'task'")
    database.run("UPDATE task SET back_at = clock_timestamp() - interval '1 second' WHERE back_at IS NOT NULL")
    database.run("UPDATE run SET driver_until = clock_timestamp() - interval '1 second' WHERE driver IS NOT NULL")


async def _over(client: httpx.AsyncClient, run: str) -> JSON | None:
    found: JSON = (await client.get(f"/v2/runs/{run}")).raise_for_status().json()
    return found if found["completed_at"] else None


async def test_a_run_goes_on_whenever_its_server_is_killed(
    server: Undying, fuse: Fuse, database: TestDatabase, market: Market, port: int
) -> None:
    async with house(database, duties=()) as home:
        token = await home.token()
    headers, address = {"Authorization": f"Bearer {token}"}, f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=address, headers=headers, trust_env=False, timeout=PATIENCE_S) as client:
        await until(lambda: client.get("/v2/runs"))
        whens: tuple[When, When] = ("before", "after")
        for step, statement in STEPS.items():
            for when in whens:
                market.calm()
                plan = {"collector": "amazon", "categories": ["toys"], "name": f"{step} {when}"}
                run = (await client.post("/v2/runs", json=plan)).json()["id"]
                fuse.blow = partial(end, server, database)
                fuse.set(statement, when)

                await until(partial(_start, client, run))
                done = await until(partial(_over, client, run))

                assert fuse.blown.is_set(), f"nobody came by {step!r}"
                assert (done["status"], done["processed_items"], done["failed_items"]) == ("completed", ITEMS, 0)
                items = (await client.get(f"/v2/runs/{run}/items?limit=500")).json()["items"]
                assert len({item["external_id"] for item in items}) == len(items) == ITEMS
                assert {item["status"] for item in items} == {"completed"}
                listings = done["actual_cost_micros"] - ITEMS * PRICE
                # A page whose driver died with the answer on its way counts as paid for, and is asked for again.
                assert listings in (PAGES * LISTING, (PAGES + 1) * LISTING), (step, when)
                assert set(market.paid("oxylabs")) >= {item["external_id"] for item in items}
                assert database.rows(UNBALANCED) == [], (step, when)
        books = (await client.get("/v2/jobs/books")).json()["items"]

    assert [one["unaccounted"] for one in books if one["platform"] == "amazon"] == [0]
    assert server.starts == 1 + 2 * len(STEPS)


async def _start(client: httpx.AsyncClient, run: str) -> bool:
    answer = await client.post(f"/v2/runs/{run}/start")
    return answer.status_code in (200, 409)  # 409: it was started, and who said so died before it could
