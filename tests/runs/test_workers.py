"""The workers of the shipped collectors: what takes long is kept, and what is in hand when they stop is finished."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from structlog.testing import capture_logs

from leasehold.runs import telling, workers
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import World, world
from tests.runs.shop import PRICE, Shop, asin


async def test_an_item_that_takes_longer_than_its_lease_is_asked_for_once(
    it: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "TTL_S", 5)
    monkeypatch.setattr(telling, "BEAT_S", 1.0)
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 3
    it.shop.open.clear()
    run = await it.started()
    await it.until(run, lambda now: len(it.shop.asked) == 3)

    await asyncio.sleep(7)
    it.shop.open.set()
    done = await it.over(run)

    assert done["processed_items"] == 3
    assert set(it.shop.asked.values()) == {1}
    assert it.database.rows("SELECT DISTINCT losses FROM task") == [(0,)]


async def test_who_stops_finishes_what_is_paid_for(database: TestDatabase) -> None:
    shop = Shop(toys=3)
    shop.open.clear()
    async with world(database, shop) as first:
        run = await first.started()
        await first.until(run, lambda now: len(shop.asked) == 3)
        asyncio.get_running_loop().call_later(0.5, shop.open.set)
    async with world(database, shop) as second:
        done = await second.over(run)

    assert done["processed_items"] == 3
    assert set(shop.asked.values()) == {1}


# Refuses what is brought, and counts how often; the count stays although what was done is taken back.
REFUSE = """
CREATE SEQUENCE tries;
GRANT USAGE ON SEQUENCE tries TO leasehold_app;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM nextval('tries');
    RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = 'a test says so';
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION refuse();
"""
FORGIVE = "DROP TRIGGER IF EXISTS refuse ON {table}; DROP FUNCTION IF EXISTS refuse; DROP SEQUENCE IF EXISTS tries;"
AWAY, SENSELESS = "57P03", "22P05"


@contextmanager
def refusing(database: TestDatabase, table: str, code: str, when: str = "true") -> Iterator[Callable[[], int]]:
    """Results are refused like this; gives how often they were."""
    database.run(REFUSE.format(table=table, code=code, when=when))
    try:
        yield lambda: int(database.rows("SELECT last_value FROM tries")[0][0])
    finally:
        database.run(FORGIVE.format(table=table))


async def test_what_was_paid_for_is_told_however_long_that_takes(it: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "_PAUSES_S", (0.01,))
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 3
    with refusing(it.database, "receipt", AWAY) as tries:
        run = await it.started()
        async with asyncio.timeout(60):
            while tries() < 12:
                await asyncio.sleep(0.02)

    done = await it.over(run)

    assert done["processed_items"] == 3
    assert set(it.shop.asked.values()) == {1}
    assert it.database.rows("SELECT DISTINCT losses FROM task") == [(0,)]


async def test_what_cannot_be_written_is_not_bought_again(it: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "_PAUSES_S", (0.01,))
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 3
    with refusing(it.database, "result", SENSELESS, f"NEW.document ->> 'asin' = '{asin(1)}'"):
        done = await it.over(await it.started())

    assert (done["processed_items"], done["failed_items"]) == (2, 1)
    (failed,) = await it.items(done["id"], status="failed")
    assert (failed["external_id"], failed["error_code"], failed["cost_micros"]) == ("toys-1", "unwritable", PRICE)
    assert done["actual_cost_micros"] == 3 * PRICE
    assert set(it.shop.asked.values()) == {1}


async def test_who_stops_gives_paid_calls_the_time_the_settings_say(database: TestDatabase) -> None:
    shop = Shop(toys=3)
    shop.open.clear()
    async with world(database, shop, shutdown_timeout_seconds=60) as first:
        run = await first.started()
        await first.until(run, lambda now: len(shop.asked) == 3)
        asyncio.get_running_loop().call_later(9.0, shop.open.set)
    async with world(database, shop) as second:
        done = await second.over(run)

    assert done["processed_items"] == 3
    assert set(shop.asked.values()) == {1}


async def test_what_is_dropped_is_named(it: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "_PAUSES_S", (0.01,))
    monkeypatch.setattr(telling, "_AFTER_S", -100.0)
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 1
    with refusing(it.database, "receipt", AWAY), capture_logs() as said:
        await it.started()
        async with asyncio.timeout(60):
            while not (dropped := [one for one in said if one["event"] == "collector.dropped"]):
                await asyncio.sleep(0.02)

    assert dropped[0]["jobs"] == [row[0] for row in it.database.rows("SELECT id FROM job")]
