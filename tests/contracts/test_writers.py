"""What every writer of results promises, on every way there is: PostgreSQL, MongoDB, and the Redis stream to either."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leasehold import duties
from leasehold.writers import Chunk, Place, Space
from tests.jobs.conftest import platform
from tests.parts.broker import Broker, chunk, last
from tests.parts.house import House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase
from tests.parts.redis import RedisServer

WAYS = ["postgres primary", "mongo primary", "postgres stream", "mongo stream"]


@dataclass
class Scene:
    """A house whose platform `alpha` writes one of the ways."""

    home: House
    broker: Broker
    database: TestDatabase
    mongo: MongoDatabase
    redis: RedisServer
    target: str
    phase: str

    async def ended(self, job: str) -> Any:
        return await until(lambda: self.broker.job(job), lambda found: found["ended_at"] is not None)


async def until(look: Callable[[], Awaitable[Any]], is_so: Callable[[Any], bool]) -> Any:
    async with asyncio.timeout(90):
        while not is_so(found := await look()):
            await asyncio.sleep(0.02)
    return found


@pytest.fixture
def urls(mongo_database: MongoDatabase, redis_server: RedisServer) -> dict[str, Any]:
    host, _, options = mongo_database.url.partition("?")
    return {"mongo_url": f"{host}{mongo_database.name}?{options}", "redis_url": redis_server.url}


@pytest.fixture(params=WAYS)
async def scene(
    request: pytest.FixtureRequest,
    database: TestDatabase,
    tmp_path: Path,
    mongo_database: MongoDatabase,
    redis_server: RedisServer,
    urls: dict[str, Any],
) -> AsyncIterator[Scene]:
    target, phase = request.param.split()
    (tmp_path / "alpha.yaml").write_text(platform("alpha") + f"writer: {{target: {target}, phase: {phase}}}\n")
    async with house(database, duties=duties.ALL, platforms_dir=tmp_path, **urls) as home:
        broker = Broker(await home.caller())
        yield Scene(home, broker, database, mongo_database, redis_server, target, phase)


async def test_documents_are_written_once_and_in_order_and_then_the_job_is_completed(scene: Scene) -> None:
    await scene.broker.submit(job_id="one")
    lease = await scene.broker.take()

    first = chunk(lease, "p1", {"n": 1}, {"n": 2}, seq=1)
    await scene.broker.bring(first)
    verdicts = await scene.broker.verdicts(first, chunk(lease, "p2", {"n": 3}, seq=2), last(lease, seq=3))
    done = await scene.ended("one")

    assert verdicts == ["duplicate", "accepted", "accepted"]
    assert (done["status"], done["sub_status"], done["result_count"]) == ("completed", None, 3)
    assert await scene.broker.documents("one") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert done["history"][-1]["event"] == "completed"
    assert (await scene.broker.books())["alpha"]["unaccounted"] == 0


async def test_documents_are_read_page_by_page(scene: Scene) -> None:
    await scene.broker.submit(job_id="many")
    lease = await scene.broker.take()
    chunks = [chunk(lease, page, *({"page": page, "n": n} for n in range(3))) for page in range(4)]
    await scene.broker.bring(*chunks, last(lease))
    await scene.ended("many")

    found: list[Any] = []
    cursor: str | None = ""
    while cursor is not None:
        params = {"limit": 5} | ({"cursor": cursor} if cursor else {})
        page = (await scene.broker.client.get("/v2/jobs/many/results", params=params)).json()
        found += [one["document"] for one in page["items"]]
        cursor = page["next_cursor"]

    assert found == [{"page": page, "n": n} for page in range(4) for n in range(3)]


async def test_documents_of_many_jobs_are_read_together(scene: Scene) -> None:
    for job in ("one", "two", "none"):
        await scene.broker.submit(job_id=job)
        lease = await scene.broker.take()
        chunks = [] if job == "none" else [chunk(lease, page, {"job": job, "page": page}) for page in range(2)]
        await scene.broker.bring(*chunks, last(lease))
        await scene.ended(job)
    rows = scene.database.rows("SELECT organisation, id, job, platform FROM task ORDER BY job DESC")
    places = [Place(*row[1:]) for row in rows]

    found = await scene.home.app.state.jobs.writing.documents(rows[0][0], places)

    jobs = {place.task: place.job for place in places}
    assert {jobs[task]: documents for task, documents in found.items()} == {
        job: [{"job": job, "page": page} for page in range(2)] for job in ("one", "two")
    }


async def test_what_was_written_and_not_booked_is_written_again_and_stays_once(scene: Scene) -> None:
    """As when the writer dies between the two."""
    await scene.broker.submit(job_id="twice")
    lease = await scene.broker.take()
    await scene.broker.bring(chunk(lease, "p1", {"n": 1}), last(lease))
    await scene.ended("twice")
    jobs = scene.home.app.state.jobs
    row = scene.database.rows("SELECT organisation, task, platform, key, number, attempt FROM receipt")[0]
    again = Chunk(row[1], "twice", row[2], bytes(row[3]), row[4], row[5], [{"n": 1}])

    refused = await jobs.writing.writers.targets[scene.target].write(row[0], Space.MAIN, [again])
    await jobs.writing.confirm(row[0], [again.name], {})

    assert refused == {}
    assert await scene.broker.documents("twice") == [{"n": 1}]
    assert (await scene.broker.job("twice"))["status"] == "completed"


async def test_news_of_a_superseded_attempt_are_written_and_change_no_state(scene: Scene) -> None:
    await scene.broker.submit(job_id="late")
    lease = await scene.broker.take()
    await scene.broker.client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "returned"})
    second = await scene.broker.take()
    await scene.broker.bring(last(second))
    await scene.ended("late")

    told = await scene.broker.bring(chunk(lease, "p9", {"n": 9}))
    found = await until(lambda: scene.broker.documents("late"), bool)

    assert told == [{"verdict": "superseded", "detail": "kept"}]
    assert found == [{"n": 9}]
    assert (await scene.broker.job("late"))["status"] == "completed"


@pytest.mark.parametrize("scene", ["mongo primary", "mongo stream", "postgres stream"], indirect=True)
async def test_a_job_is_not_completed_before_its_writer_has_confirmed(scene: Scene) -> None:
    server = scene.redis if scene.phase == "stream" else scene.mongo.mongo
    await scene.broker.submit(job_id="waits", deadline_seconds=1)
    lease = await scene.broker.take()
    server.kill()
    try:
        verdicts = await scene.broker.verdicts(chunk(lease, "p1", {"n": 1}), last(lease))
        await asyncio.sleep(1.5)
        await scene.home.app.state.jobs.reap([scene.database.rows("SELECT id FROM organisation")[0][0]])
        waits = await scene.broker.job("waits")
        explained = (await scene.broker.client.get("/v2/jobs/waits/explain")).json()
    finally:
        server.start()
    done = await scene.ended("waits")

    assert verdicts == ["accepted", "accepted"]
    assert (waits["status"], waits["sub_status"]) == ("processing", "writing")
    assert explained["parts"][0]["reason"] == "writing"
    assert (done["status"], await scene.broker.documents("waits")) == ("completed", [{"n": 1}])


@pytest.mark.parametrize("scene", ["mongo primary", "mongo stream"], indirect=True)
async def test_what_the_writer_will_never_take_fails_the_job_and_is_kept(scene: Scene) -> None:
    await scene.broker.submit(job_id="huge")
    lease = await scene.broker.take()

    await scene.broker.bring(chunk(lease, "p1", {"n": 2**63 + 5}), chunk(lease, "p2", {"n": 2}), last(lease))
    done = await scene.ended("huge")
    (letter,) = await scene.broker.dead()

    assert (done["status"], done["sub_status"]) == ("failed", "unwritable")
    assert (letter["reason"], letter["payload"]["cursor"]) == ("unwritable", "p1")
    assert await scene.broker.documents("huge") == [{"n": 2}]
    assert (await scene.broker.books())["alpha"]["unaccounted"] == 0


@pytest.mark.parametrize("scene", ["postgres stream", "mongo stream"], indirect=True)
async def test_nothing_is_lost_with_redis_and_nothing_stays_in_it(scene: Scene) -> None:
    await scene.broker.submit(job_id="forgotten")
    lease = await scene.broker.take()
    with scene.redis.client() as client:
        # The entry is taken out from under the data-writer, as when Redis loses what it was told last.
        client.xgroup_destroy("leasehold:results", "data-writer")
        client.delete("leasehold:results")
        client.set("leasehold:results", "in the way")
        await scene.broker.bring(chunk(lease, "p1", {"n": 1}), last(lease))
        await asyncio.sleep(0.5)
        client.delete("leasehold:results")
        scene.database.run("UPDATE receipt SET streamed_at = streamed_at - interval '2 minutes'")
        done = await scene.ended("forgotten")
        left = client.xlen("leasehold:results")

    assert (done["status"], await scene.broker.documents("forgotten")) == ("completed", [{"n": 1}])
    assert left == 0


@pytest.mark.parametrize("scene", ["postgres stream", "mongo stream"], indirect=True)
async def test_what_a_dead_data_writer_had_taken_is_taken_over(scene: Scene) -> None:
    background = scene.home.app.state.background
    task = next(one for one in background.tasks if one.name == "data-writer")
    with scene.redis.client() as client:  # it makes the stream when it begins to read
        await until(lambda: asyncio.to_thread(client.exists, "leasehold:results"), bool)
    task.handle.cancel()
    await asyncio.wait([task.handle])
    await scene.broker.submit(job_id="orphan")
    lease = await scene.broker.take()
    await scene.broker.bring(chunk(lease, "p1", {"n": 1}), last(lease))
    with scene.redis.client() as client:
        await until(lambda: asyncio.to_thread(client.xlen, "leasehold:results"), bool)
        client.xreadgroup("data-writer", "who died", {"leasehold:results": ">"}, count=10)
        (entry,) = client.xpending_range("leasehold:results", "data-writer", "-", "+", 10)
        client.xclaim(
            "leasehold:results",
            "data-writer",
            "who died",
            min_idle_time=0,
            message_ids=[entry["message_id"]],
            idle=60_000,
        )

        task.handle = asyncio.create_task(background._run(task))
        done = await scene.ended("orphan")

        pending = client.xpending("leasehold:results", "data-writer")["pending"]

    assert (done["status"], await scene.broker.documents("orphan")) == ("completed", [{"n": 1}])
    assert pending == 0
