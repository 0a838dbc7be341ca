"""Everything that ends a task before its function does: loss, cancelling, deadlines, and a worker that stops."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from leasehold.client.worker import Chunk, Task, Worker
from tests.client.wire import Wire
from tests.client.works import Works, running, until


class Crawl:
    """A function that brings one chunk and then works until it is stopped, and what happened to it."""

    def __init__(self, worker: Worker, slow_s: float = 0.0) -> None:
        self.begun: list[Task] = []
        self.stopped: list[str] = []
        self.cleaned: list[str] = []
        self.slow_s = slow_s
        worker.task("alpha", "page")(self.page)

    async def page(self, task: Task) -> AsyncIterator[Chunk]:
        self.begun.append(task)
        yield Chunk([{"n": 1}], cursor="p1")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.stopped.append(task.job_id)
            await asyncio.sleep(self.slow_s)
            self.cleaned.append(task.job_id)
            raise
        yield Chunk([{"n": 2}], cursor="p2")


async def test_a_task_longer_than_its_lease_is_kept(works: Works) -> None:
    worker = works.worker()

    @worker.task("alpha", "page")
    async def page(_task: Task) -> list[Any]:
        await asyncio.sleep(7)  # of a lease of 5 seconds
        return [{"n": 1}]

    await works.submit("one")
    (job,) = await works.done(worker, "one")

    assert (job["status"], job["parts"][0]["losses"], job["parts"][0]["fence"]) == ("completed", 0, 1)


async def test_a_cancelled_job_stops_its_function_which_may_clean_up(works: Works) -> None:
    wire = Wire()
    worker = works.by(wire.options)
    crawl = Crawl(worker, slow_s=0.2)

    await works.submit("one")
    async with running(worker):
        await works.seen("one", lambda job: job["result_count"])
        await works.broker.client.post("/v2/jobs/one/cancel")
        sent = len(wire.results)
        await until(lambda: crawl.cleaned)

    assert crawl.cleaned == ["one"]
    assert len(wire.results) == sent  # nothing more
    assert [one["outcome"] for one in wire.bodies("release")] == ["returned"]  # so that its place is free
    assert (await works.broker.job("one"))["status"] == "cancelled"


async def test_a_heartbeat_that_says_cancel_stops_the_function(works: Works) -> None:
    wire = Wire(changed={"heartbeat": lambda lease: lease | {"cancel": True}})
    worker = works.by(wire.options)
    crawl = Crawl(worker)

    await works.submit("one")
    async with running(worker):
        await until(lambda: crawl.cleaned)

    assert [one["cursor"] for one in wire.results] == ["p1"]


async def test_a_worker_that_is_superseded_stops_and_changes_nothing(works: Works) -> None:
    wire = Wire()
    # No heartbeat tells it in this test, and it has no place to ask for another with.
    worker = works.by({"ttl_s": 300, **wire.options}, concurrency=1)
    go_on, ended = asyncio.Event(), asyncio.Event()

    @worker.task("alpha", "page")
    async def page(_task: Task) -> AsyncIterator[Chunk]:
        try:
            yield Chunk([{"n": 1}], cursor="p1")
            await go_on.wait()
            for n in range(2, 50):
                yield Chunk([{"n": n}], cursor=f"p{n}")
        finally:
            ended.set()

    await works.submit("one")
    async with running(worker):
        await works.seen("one", lambda job: job["result_count"])
        (lease,) = await works.leases()
        await works.broker.client.delete(f"/v2/leases/{lease['id']}")
        second = await works.broker.take(ttl_seconds=300)
        go_on.set()
        await asyncio.wait_for(ended.wait(), 10)

    job = await works.broker.job("one")
    assert (job["status"], job["parts"][0]["fence"]) == ("dispatched", second["task"]["fence"])
    assert not any(one.get("final") for one in wire.results)
    assert len(wire.results) < 20


async def test_a_deadline_ends_a_task_as_a_timeout(works: Works) -> None:
    worker = works.worker()
    crawl = Crawl(worker)

    await works.submit("one", deadline_seconds=3)
    async with running(worker):
        job = await works.seen("one", lambda job: job["last_error"])
        await works.broker.client.post("/v2/platforms/alpha/pause")

    assert crawl.cleaned[:1] == ["one"]
    assert job["last_error"]["code"] == "timeout"
    assert [one["event"] for one in job["history"]][:3] == ["accepted", "dispatched", "failed"]


async def test_a_function_that_takes_no_notice_of_its_end_keeps_its_place_and_brings_nothing(works: Works) -> None:
    wire = Wire()
    worker = works.by(wire.options, concurrency=1, cleanup_seconds=0.1)
    release, ended = asyncio.Event(), asyncio.Event()

    @worker.task("alpha", "page")
    async def page(task: Task) -> AsyncIterator[Chunk]:
        if task.job_id == "one":
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            ended.set()
        yield Chunk([{"n": 1}], cursor="p1")

    await works.submit("one")
    async with running(worker):
        await works.seen("one", lambda job: job["status"] == "dispatched")
        await works.broker.client.post("/v2/jobs/one/cancel")
        await works.submit("two")
        await asyncio.sleep(2.5)
        waiting = await works.broker.job("two")
        release.set()
        done = await works.over("two")

    assert waiting["status"] == "pending"
    assert done["status"] == "completed"
    assert {one["job_id"] for one in wire.results} == {"two"}


async def test_a_worker_that_stops_lets_its_tasks_come_to_their_end(works: Works) -> None:
    wire = Wire()
    worker = works.by(wire.options)

    @worker.task("alpha", "page")
    async def page(_task: Task) -> list[Any]:
        await asyncio.sleep(1)
        return [{"n": 1}]

    await works.submit("one")
    async with running(worker):
        await works.seen("one", lambda job: job["status"] == "dispatched")
        worker.stop()
        await works.submit("two")

    assert (await works.broker.job("one"))["status"] == "completed"
    assert (await works.broker.job("two"))["status"] == "pending"
    assert wire.bodies("release") == []


async def test_a_worker_that_stops_gives_back_what_does_not_end_in_time(works: Works) -> None:
    first, second = works.worker(stop_seconds=0.1, concurrency=1), works.worker(stop_seconds=0.1)
    crawl, after = Crawl(first, slow_s=0.1), Crawl(second)

    await works.submit("one")
    async with running(first):
        await works.seen("one", lambda job: job["result_count"])
    given_back = await works.broker.job("one")
    async with running(second):
        await until(lambda: after.begun)

    assert crawl.cleaned == ["one"]
    assert (given_back["status"], given_back["sub_status"]) == ("pending", "returned")
    assert (given_back["parts"][0]["losses"], given_back["attempt"]) == (0, 1)
    assert (after.begun[0].cursor, after.begun[0].fence) == ("p1", 2)


@pytest.mark.parametrize("error", [RuntimeError("in the clean-up"), None], ids=["raises", "returns"])
async def test_a_task_that_was_stopped_has_not_failed(works: Works, error: Exception | None) -> None:
    worker = works.worker(stop_seconds=0.1)

    @worker.task("alpha", "page")
    async def page(_task: Task) -> AsyncIterator[Chunk]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if error:
                raise error from None
        yield Chunk([{"n": 1}], cursor="p1")

    await works.submit("one")
    async with running(worker):
        await works.seen("one", lambda job: job["status"] == "dispatched")
    job = await works.broker.job("one")

    assert (job["status"], job["sub_status"], job["last_error"]) == ("pending", "returned", None)


async def test_what_was_granted_while_a_worker_stopped_is_given_back(works: Works) -> None:
    wire = Wire(lost={"acquire": 1000})  # it is granted, and the answer never comes
    worker = works.by({"ttl_s": 300, **wire.options})
    Crawl(worker)

    await works.submit("one")
    async with running(worker):
        await until(works.leases)
    job = await works.broker.job("one")

    assert (job["status"], job["sub_status"]) == ("pending", "returned")
    assert await works.leases() == []
