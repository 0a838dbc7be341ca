"""Leases that ran out and that nobody has booked yet: whoever comes by ends them as they would have ended."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.jobs.conftest import platform
from tests.parts.broker import Broker, chunk, last
from tests.parts.house import House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

RUN_OUT = "UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' WHERE kind = 'task'"
ENDS = "SELECT how FROM lease_end WHERE kind = 'task' ORDER BY fence"


@pytest.fixture
async def unwritten(database: TestDatabase, tmp_path: Path, mongo_database: MongoDatabase) -> AsyncIterator[House]:
    """A house whose results go to MongoDB, when its writer is told to go."""
    host, _, options = mongo_database.url.partition("?")
    (tmp_path / "alpha.yaml").write_text(platform("alpha") + "writer: {target: mongo, phase: primary}\n")
    mongo_url = f"{host}{mongo_database.name}?{options}"
    async with house(database, duties=(), platforms_dir=tmp_path, mongo_url=mongo_url) as home:
        yield home


async def test_what_was_cancelled_is_retried_also_when_its_worker_never_came_back(broker: Broker, home: House) -> None:
    await broker.submit(job_id="j")
    old = await broker.take()
    await broker.client.post("/v2/jobs/j/cancel")
    home.database.run(RUN_OUT)

    retried = await broker.client.post("/v2/jobs/j/retry")
    beat = await broker.client.post(f"/v2/leases/{old['id']}/heartbeat", json={})
    new = await broker.take()

    assert (retried.status_code, retried.json()["status"]) == (200, "pending")
    assert (beat.status_code, beat.json()["reason"]) == (410, "expired")
    assert new["task"]["fence"] > old["task"]["fence"]
    assert await broker.verdicts(last(new)) == ["accepted"]
    assert home.database.rows(ENDS) == [("expired",), ("released",)]


async def test_what_cannot_be_written_is_given_to_another_later(unwritten: House) -> None:
    broker = Broker(await unwritten.caller())
    await broker.submit(job_id="j")
    await broker.bring(chunk(await broker.take(), "p1", {"n": 2**63 + 5}))
    unwritten.database.run(RUN_OUT)

    await unwritten.app.state.jobs.writing.step([unwritten.database.rows("SELECT id FROM organisation")[0][0]])
    failed = await broker.job("j")
    await broker.client.post("/v2/jobs/j/retry")
    again = await broker.offer()

    assert (failed["status"], failed["sub_status"]) == ("failed", "unwritable")
    assert [lease["task"]["fence"] for lease in again["leases"]] == [2]
    assert unwritten.database.rows(ENDS) == [("expired",)]
