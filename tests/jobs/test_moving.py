"""Moving results into our hands: two places are compared, and nothing is promoted that differs."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from leasehold.jobs.parity import Report, difference
from leasehold.writers import collection_name
from leasehold.writers.models import Space
from tests.jobs.conftest import change, platform
from tests.parts.broker import JSON, Broker, chunk, last
from tests.parts.house import House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

NOON = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
WRITER = "writer: {target: mongo, phase: observe, shadow: postgres, compare_at_least: 2, ignore: [at]}\n"


@pytest.fixture
async def home(database: TestDatabase, folder: Path, mongo_database: MongoDatabase) -> AsyncIterator[House]:
    (folder / "alpha.yaml").write_text(platform("alpha") + WRITER)
    host, _, options = mongo_database.url.partition("?")
    async with house(database, platforms_dir=folder, mongo_url=f"{host}{mongo_database.name}?{options}") as made:
        yield made


async def crawl(broker: Broker, job: str, *pages: list[JSON]) -> JSON:
    """A job with a chunk for each page; the worker's lease, with its task."""
    await broker.submit(job_id=job)
    lease = await broker.take()
    await broker.bring(*(chunk(lease, number, *page) for number, page in enumerate(pages, start=1)), last(lease))
    return lease


def written_by_crawler(mongo: MongoDatabase, task: JSON, cursor_key: str, *documents: JSON) -> None:
    """As a crawler does that still writes by itself."""
    with mongo.connect() as client:
        collection = client[mongo.name][task["writer"]["space"]]
        for place, document in enumerate(documents, start=1):
            row = {"job_id": task["job_id"], "platform": task["platform"], "place": place, "document": document}
            collection.insert_one({"_id": f"{task['job_id']}/{task['platform']}/{cursor_key}/{place}", **row})


async def parity(broker: Broker) -> JSON:
    answer = await broker.client.get("/v2/platforms/alpha/parity")
    assert answer.status_code == 200, answer.text
    found: JSON = answer.json()
    return found


async def promote(broker: Broker, phase: str, **more: Any) -> tuple[int, JSON]:
    answer = await broker.client.post("/v2/platforms/alpha/phase", json={"phase": phase, **more})
    return answer.status_code, answer.json()


async def test_a_move_goes_from_observing_to_the_stream(
    broker: Broker, mongo_database: MongoDatabase, database: TestDatabase
) -> None:
    first = await crawl(broker, "one", [{"n": 1, "at": "noon"}], [{"n": 2}, {"n": 3}])
    keys = [bytes(row[0]).hex() for row in database.rows("SELECT key FROM receipt ORDER BY number")]
    before = await parity(broker)
    written_by_crawler(mongo_database, first["task"], keys[0], {"n": 1, "at": "nine"})
    written_by_crawler(mongo_database, first["task"], keys[1], {"n": 2}, {"n": 3})
    compared = await parity(broker)
    to_dual = await promote(broker, "dual")
    second = await crawl(broker, "two", [{"n": 4}])
    await _settled(broker)
    to_primary = await promote(broker, "primary")
    third = await crawl(broker, "three", [{"n": 5}])
    await _settled(broker)

    (hour,) = compared["over_time"]
    assert (hour["compared"], hour["equal"], hour["seconds"]) == (2, 2, 3600)
    assert first["task"]["writer"] | {"space": None} == {
        "target": "mongo",
        "phase": "observe",
        "crawler_writes": True,
        "space": None,
    }
    assert (before["compared"], before["equal"], before["differences"]) == (2, 0, {"missing_in_target": 2})
    assert (compared["share"], compared["documents"]) == (1.0, {"target": 3, "shadow": 3})
    assert compared["checksums"]["target"] == compared["checksums"]["shadow"]
    assert to_dual == (200, {"platform": "alpha", "phase": "dual", "crawler_writes": True})
    assert second["task"]["writer"]["phase"] == "dual"
    assert to_primary == (200, {"platform": "alpha", "phase": "primary", "crawler_writes": False})
    assert (third["task"]["writer"]["crawler_writes"], third["task"]["writer"]["space"]) == (False, None)
    assert await broker.documents("three") == [{"n": 5}]
    with mongo_database.connect() as client:
        organisation = database.rows("SELECT organisation FROM receipt")[0][0]
        main = client[mongo_database.name][collection_name(organisation, Space.MAIN)]
        assert main.count_documents({"job_id": "three"}) == 1
    assert (await broker.client.get("/v2/platforms/alpha")).json()["writer"]["phase"] == "primary"


async def test_nothing_is_promoted_that_differs_unless_somebody_answers_for_it(broker: Broker) -> None:
    await crawl(broker, "one", [{"n": 1}], [{"n": 2}])

    refused = await promote(broker, "primary")
    allowed = await promote(broker, "primary", override="The old store is gone.")
    back = await promote(broker, "observe")

    assert (refused[0], refused[1]["type"]) == (409, "/problems/writers-differ")
    assert refused[1]["differences"] == {"missing_in_target": 2}
    assert (allowed[0], back[0]) == (200, 200)
    told = (await broker.client.get("/v2/audit", params={"subject": "alpha"})).json()["items"]
    moves = [one["detail"] for one in told if one["action"] == "platform.promoted"]
    assert {move.get("override") for move in moves} == {None, "The old store is gone."}


async def test_too_little_to_compare_is_no_proof(broker: Broker) -> None:
    refused = await promote(broker, "dual")

    assert (refused[0], refused[1]["compared"]) == (409, 0)


async def test_a_shadow_that_is_down_is_nobody_elses_trouble(
    home: House, broker: Broker, folder: Path, mongo_database: MongoDatabase
) -> None:
    change(home, folder, "writer: {shadow: mongo}\n")
    mongo_database.mongo.kill()
    try:
        await crawl(broker, "one", [{"n": 1}])
        done = await broker.job("one")
    finally:
        mongo_database.mongo.start()
    await _settled(broker)

    assert done["status"] == "completed"
    assert (await parity(broker))["share"] == 1.0


async def test_what_was_written_before_there_was_a_shadow_is_replayed_into_it(
    home: House, broker: Broker, folder: Path
) -> None:
    change(home, folder, "")
    await crawl(broker, "one", [{"n": 1}], [{"n": 2}])
    alone = await broker.client.get("/v2/platforms/alpha/parity")
    change(home, folder, "writer: {shadow: mongo}\n")
    before = await parity(broker)

    replayed = await broker.client.post("/v2/platforms/alpha/shadow/replay")
    await _settled(broker)

    assert (alone.status_code, alone.json()["type"]) == (409, "/problems/shadow-missing")
    assert before["differences"] == {"missing_in_shadow": 2}
    assert (replayed.status_code, replayed.json()) == (200, {"chunks": 2})
    assert (await parity(broker))["share"] == 1.0
    assert await broker.documents("one") == [{"n": 1}, {"n": 2}]


async def test_a_shadow_is_filled_while_results_are_only_observed(
    home: House, broker: Broker, folder: Path, database: TestDatabase
) -> None:
    change(home, folder, "writer: {target: mongo}\n")
    await crawl(broker, "one", [{"n": 1}], [{"n": 2}])
    async with asyncio.timeout(30):
        while (await broker.job("one"))["status"] != "completed":
            await asyncio.sleep(0.05)
    change(home, folder, WRITER)
    before = await parity(broker)

    replayed = await broker.client.post("/v2/platforms/alpha/shadow/replay")
    await _settled(broker)

    assert (before["phase"], before["differences"]) == ("observe", {"missing_in_shadow": 2})
    assert (replayed.status_code, replayed.json()) == (200, {"chunks": 2})
    assert (await parity(broker))["share"] == 1.0


def test_differences_are_told_by_kind() -> None:
    one: list[JSON] = [{"a": 1, "b": {"c": 1, "d": 2}}, {"a": 2}]

    assert difference(one, one, []) == (None, [])
    assert difference(one, one[::-1], []) == ("order", [])
    assert difference(one, one[:1], []) == ("missing_in_shadow", [])
    assert difference([], one, []) == ("missing_in_target", [])
    assert difference(one, [{"a": 1, "b": {"c": 9, "d": 2}}, {"a": 3}], []) == ("fields", ["a", "b.c"])
    assert difference(one, [{"a": 1, "b": {"c": 9, "d": 2}}, {"a": 2}], ["b.c"]) == (None, [])
    assert difference([{"a": 1}], [{"a": True}], []) == ("fields", ["a"])
    assert difference([{"a": [1000]}], [{"a": [1e3]}], []) == (None, [])


def test_a_sample_shows_the_first_document_that_differs_in_both_places() -> None:
    report = Report()

    report.add("j", 1, [{"a": 1}, {"a": 2, "at": 1}], [{"a": 1}, {"a": 3, "at": 2}], ["at"], NOON)
    report.add("j", 2, [{"a": 1}], [], [], NOON)
    report.add("j", 3, [{"a": "x" * 50_000}], [{"a": 1}], [], NOON)

    assert [(one.target, one.shadow) for one in report.samples[:2]] == [({"a": 2}, {"a": 3}), ({"a": 1}, None)]
    assert (len(report.samples[2].target), report.samples[2].shadow) == (10_000, {"a": 1})


@pytest.mark.parametrize(("days", "begins", "lasts"), [(0, 12, 3600), (4, 0, 86_400)])
def test_what_differs_is_told_by_when_it_came(days: int, begins: int, lasts: int) -> None:
    report = Report()
    for at, shadow in (
        (NOON, [{"a": 1}]),
        (NOON + timedelta(minutes=29), []),
        (NOON + timedelta(days=days, hours=2), []),
    ):
        report.add("j", 1, [{"a": 1}], shadow, [], at)

    first, second = report.over_time

    assert (first.from_at, first.lasts.total_seconds()) == (NOON.replace(hour=begins, minute=0), lasts)
    assert [(one.chunks, one.equal) for one in (first, second)] == [(2, 1), (1, 0)]


def test_checksums_do_not_mind_the_order_of_documents_and_mind_everything_else() -> None:
    same, other = Report(), Report()

    same.add("j", 1, [{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], [], NOON)
    other.add("j", 1, [{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 1}], [], NOON)

    assert same.checksums["target"] == same.checksums["shadow"]
    assert other.checksums["target"] != other.checksums["shadow"]


async def _settled(broker: Broker) -> None:
    async with asyncio.timeout(30):
        while (await parity(broker))["late"]:
            await asyncio.sleep(0.05)
