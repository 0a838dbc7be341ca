"""Every promise about tasks, over HTTP and over RabbitMQ."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from leasehold import duties
from tests.amqp.conftest import amqp_platform
from tests.contracts.crawling import NOTHING_S, Crawling, OverHttp, Taken, moved, over_amqp
from tests.jobs.conftest import platform
from tests.parts.broker import JSON, Broker
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.wire import PATIENCE_S

LIMIT = 3
Start = Callable[[], Awaitable[House]]


@pytest.fixture(params=["http", "amqp"])
def transport(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
async def start(
    request: pytest.FixtureRequest, transport: str, database: TestDatabase, tmp_path: Path
) -> AsyncIterator[Start]:
    """Starts a whole leasehold; another one on the same database and broker each time."""
    make = platform if transport == "http" else amqp_platform
    (tmp_path / "alpha.yaml").write_text(make("alpha", concurrency=LIMIT))
    settings = {} if transport == "http" else {"amqp_url": request.getfixturevalue("amqp_url")}
    async with AsyncExitStack() as stack:

        async def begin() -> House:
            made = house(database, duties=duties.ALL, platforms_dir=tmp_path, **settings)
            return await stack.enter_async_context(made)

        yield begin


@pytest.fixture
async def crawl(
    request: pytest.FixtureRequest, transport: str, start: Start, database: TestDatabase
) -> AsyncIterator[Crawling]:
    operator = Broker(await (await start()).caller())
    if transport == "http":
        yield OverHttp(operator, database)
        return
    async with over_amqp(operator, database, request.getfixturevalue("amqp_url")) as made:
        yield made


async def taken(crawl: Crawling) -> Taken:
    found = await crawl.take()
    assert found is not None
    return found


async def pause(crawl: Crawling, word: str = "pause") -> None:
    assert (await crawl.operator.client.post(f"/v2/platforms/alpha/{word}")).status_code == 200


async def ended(crawl: Crawling, job: str) -> JSON:
    async with asyncio.timeout(PATIENCE_S):
        while (found := await crawl.operator.job(job))["ended_at"] is None:
            await asyncio.sleep(0.05)
    assert (await crawl.operator.books())["alpha"]["unaccounted"] == 0
    return found


async def test_a_job_goes_from_request_to_documents(crawl: Crawling) -> None:
    await crawl.submit("j", metadata={"who": "ann"})
    task = await taken(crawl)

    verdicts = await crawl.bring(
        task, task.says(cursor="p1", payload_chunk=[{"n": 1}, {"n": 2}]), task.says(final=True)
    )
    await crawl.finish(task)

    done = await ended(crawl, "j")
    assert verdicts == ["accepted", "accepted"]
    assert (done["status"], done["result_count"], done["metadata"]) == ("completed", 2, {"who": "ann"})
    assert await crawl.operator.documents("j") == [{"n": 1}, {"n": 2}]
    assert task.task["payload"] == {"page": "front"}


async def test_higher_priority_goes_first_then_the_older(crawl: Crawling) -> None:
    await pause(crawl)
    for job, priority in (("low", 1), ("old", 4), ("new", 4), ("high", 9)):
        await crawl.submit(job, priority=priority)
    await pause(crawl, "resume")

    order = []
    for _ in range(4):
        task = await taken(crawl)
        order.append(task.task["job_id"])
        await crawl.bring(task, task.says(final=True))
        await crawl.finish(task)

    assert order == ["high", "old", "new", "low"]


async def test_a_paused_platform_begins_nothing(crawl: Crawling) -> None:
    await pause(crawl)
    await crawl.submit("j")

    nothing = await crawl.take(NOTHING_S)
    said = (await crawl.operator.client.get("/v2/jobs/j/explain")).json()["parts"][0]["reason"]
    await pause(crawl, "resume")

    assert (nothing, said) == (None, "paused")
    assert (await taken(crawl)).task["job_id"] == "j"


async def test_the_limit_holds_with_two_servers_and_every_job_is_done_once(crawl: Crawling, start: Start) -> None:
    await start()
    for n in range(20):
        await crawl.submit(f"j{n}")
    most = 0
    done: list[str] = []

    async def work() -> None:
        nonlocal most
        while len(done) < 20:
            if (task := await crawl.take(1)) is not None:
                held = crawl.database.rows("SELECT count(*) FROM task WHERE lease IS NOT NULL")[0][0]
                most = max(most, held)
                done.append(task.task["job_id"])
                await crawl.bring(task, task.says(final=True))
                await crawl.finish(task)

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(work() for _ in range(LIMIT + 2)))

    assert 1 < most <= LIMIT
    assert sorted(done) == sorted(f"j{n}" for n in range(20))
    books = (await crawl.operator.books())["alpha"]
    assert (books["completed"], books["live"], books["unaccounted"]) == (20, 0, 0)


async def test_a_retryable_failure_comes_again_with_the_next_attempt_and_the_cursor(crawl: Crawling) -> None:
    await crawl.submit("j")
    first = await taken(crawl)
    error = {"code": "timeout", "message": "So it said."}
    failed = first.says(final=True, status="failed", errors=[error])
    await crawl.bring(first, first.says(cursor={"page": 1}, payload_chunk=[{"n": 1}]), failed)
    await crawl.finish(first)

    again = await taken(crawl)
    await crawl.bring(again, again.says(cursor={"page": 2}, payload_chunk=[{"n": 2}]), again.says(final=True))
    await crawl.finish(again)

    assert (first.task["attempt"], first.task["retry"]) == (1, False)
    assert (again.task["attempt"], again.task["fence"], again.task["retry"]) == (2, 2, True)
    assert again.task["cursor"] == {"page": 1}
    assert (await ended(crawl, "j"))["status"] == "completed"
    assert await crawl.operator.documents("j") == [{"n": 1}, {"n": 2}]


async def test_what_cannot_be_tried_again_is_a_dead_letter(crawl: Crawling) -> None:
    await crawl.submit("j")
    task = await taken(crawl)

    await crawl.bring(task, task.says(final=True, status="failed", errors=[{"code": "not_found"}]))
    await crawl.finish(task)

    assert (await ended(crawl, "j"))["status"] == "failed"
    assert [letter["reason"] for letter in await crawl.operator.dead()] == ["not_found"]


async def test_a_lost_worker_raises_the_fence_alone_and_is_superseded(crawl: Crawling) -> None:
    await crawl.submit("j")
    lost = await taken(crawl)
    await crawl.bring(lost, lost.says(status="progress"))
    moved(crawl.database)

    another = await taken(crawl)
    verdicts = await crawl.bring(lost, lost.says(cursor="p1", payload_chunk=[{"n": 1}]), lost.says(final=True))
    await crawl.finish(lost)
    await crawl.bring(another, another.says(cursor="p1", payload_chunk=[{"n": 1}]), another.says(final=True))
    await crawl.finish(another)

    assert (another.task["attempt"], another.task["fence"], another.task["retry"]) == (1, 2, True)
    assert verdicts == ["superseded", "superseded"]
    assert (await ended(crawl, "j"))["status"] == "completed"
    assert await crawl.operator.documents("j") == [{"n": 1}]


async def test_three_lost_workers_are_enough(crawl: Crawling) -> None:
    await crawl.submit("j")

    for _ in range(3):
        task = await taken(crawl)
        await crawl.bring(task, task.says(status="progress"))
        await crawl.finish(task)
        moved(crawl.database)

    assert (await ended(crawl, "j"))["sub_status"] == "worker_lost"
    assert [letter["reason"] for letter in await crawl.operator.dead()] == ["worker_lost"]


async def test_messages_may_come_twice_and_in_any_order(crawl: Crawling) -> None:
    await crawl.submit("j")
    task = await taken(crawl)
    first = task.says(cursor="p1", payload_chunk=[{"n": 1}], seq=1)
    second = task.says(cursor="p2", payload_chunk=[{"n": 2}], seq=2)

    verdicts = await crawl.bring(task, task.says(final=True, seq=3), second, second, first, first)
    await crawl.finish(task)

    assert verdicts == ["accepted", "accepted", "duplicate", "accepted", "duplicate"]
    assert (await ended(crawl, "j"))["status"] == "completed"
    assert sorted(one["n"] for one in await crawl.operator.documents("j")) == [1, 2]


async def test_another_word_on_the_same_cursor_is_a_conflict(crawl: Crawling) -> None:
    await crawl.submit("j")
    task = await taken(crawl)

    verdicts = await crawl.bring(
        task,
        task.says(cursor="p1", payload_chunk=[{"n": 1}]),
        task.says(cursor="p1", payload_chunk=[{"n": 9}]),
        task.says(final=True),
    )
    await crawl.finish(task)

    assert verdicts == ["accepted", "conflict", "accepted"]
    assert (await ended(crawl, "j"))["status"] == "completed"
    assert await crawl.operator.documents("j") == [{"n": 1}]
    assert [letter["reason"] for letter in await crawl.operator.dead()] == ["conflict"]


async def test_a_cancelled_job_takes_nothing_more_and_frees_its_place(crawl: Crawling) -> None:
    await crawl.submit("j")
    task = await taken(crawl)
    await crawl.bring(task, task.says(status="progress"))

    assert (await crawl.operator.client.post("/v2/jobs/j/cancel")).status_code == 200
    verdicts = await crawl.bring(task, task.says(status="progress"))
    await crawl.bring(task, task.says(final=True))  # it had not heard of it
    await crawl.finish(task)

    assert verdicts[0] in ("superseded", "duplicate")
    assert (await ended(crawl, "j"))["status"] == "cancelled"
    assert crawl.database.rows("SELECT count(*) FROM task WHERE lease IS NOT NULL") == [(0,)]


async def test_a_deadline_ends_what_is_in_hand(crawl: Crawling) -> None:
    await crawl.submit("j")
    task = await taken(crawl)
    crawl.database.run("UPDATE task SET deadline_at = clock_timestamp() - interval '1 second'")

    over = await ended(crawl, "j")
    verdicts = await crawl.bring(task, task.says(final=True))
    await crawl.finish(task)

    assert over["status"] == "timed_out"
    assert verdicts[0] in ("superseded", "duplicate")
    assert [letter["reason"] for letter in await crawl.operator.dead()] == ["timed_out"]
