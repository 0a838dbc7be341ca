"""What a worker sends, and what it does when the line to its server fails."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from leasehold.client.worker import Chunk, Task, TaskFailed, Worker
from leasehold.client.worker_courier import Courier
from leasehold.client.worker_models import Verdict
from tests.client.wire import Wire
from tests.client.works import Works, running, until

DOCUMENTS = [{"n": 1}, {"n": 2}, {"n": 3}]


def crawler(works: Works, wire: Wire, **more: Any) -> Worker:
    worker = works.by(wire.options, **more)

    @worker.task("alpha", "page")
    async def page(_task: Task) -> AsyncIterator[Chunk]:
        for place, document in enumerate(DOCUMENTS):
            yield Chunk([document], cursor=f"p{place}", cost_micros=400)

    return worker


def writes_itself(offer: Any) -> Any:
    """An answer in which the crawler is told to write its results itself."""
    for lease in offer["leases"]:
        lease["task"]["writer"]["crawler_writes"] = True
    return offer


async def test_results_are_numbered_and_measured_and_carry_their_trace(works: Works) -> None:
    wire = Wire()
    worker = crawler(works, wire)

    await works.submit("one", trace_ctx={"traceparent": "00-aa-bb-01"})
    await works.done(worker, "one")

    *chunks, last = wire.results
    assert [one["seq"] for one in wire.results] == [1, 2, 3, 4]
    assert (last["final"], last["status"]) == (True, "success")
    assert all(one["trace_ctx"] == {"traceparent": "00-aa-bb-01"} for one in wire.results)
    for one in chunks:
        metrics = one["metrics"]
        assert (metrics["documents"], metrics["bytes"], metrics["cost_micros"]) == (1, len('{"n":1}'), 400)
        assert metrics["duration_ms"] >= 0


@pytest.mark.parametrize("trouble", ["cut", "lost"])
async def test_results_are_sent_again_until_they_are_answered(works: Works, trouble: str) -> None:
    wire = Wire()
    getattr(wire, trouble)["results"] = 3
    worker = crawler(works, wire)

    await works.submit("one")
    (job,) = await works.done(worker, "one")

    assert len(wire.bodies("results")) >= 4
    assert (job["status"], job["result_count"], job["parts"][0]["losses"]) == ("completed", 3, 0)
    assert await works.broker.documents("one") == DOCUMENTS


async def test_tasks_whose_grant_was_lost_on_the_way_are_found_again(works: Works) -> None:
    wire = Wire(lost={"acquire": 2})
    worker = crawler(works, wire)

    await works.submit("one")
    (job,) = await works.done(worker, "one")

    assert (job["status"], job["parts"][0]["fence"]) == ("completed", 1)
    assert len(set(wire.keys[:3])) == 1


async def test_no_more_is_made_than_a_few_chunks_while_nobody_answers(works: Works) -> None:
    wire = Wire(open={"results": asyncio.Event()})
    worker = works.by(wire.options)
    made: list[int] = []

    @worker.task("alpha", "page")
    async def page(_task: Task) -> AsyncIterator[Chunk]:
        for n in range(50):
            made.append(n)
            yield Chunk([{"n": n}], cursor=n)

    await works.submit("one")
    async with running(worker):
        await until(lambda: len(made) >= 4)
        await asyncio.sleep(0.3)
        made_unanswered = len(made)
        wire.open["results"].set()
        job = await works.over("one")

    assert made_unanswered == 4
    assert (job["status"], job["result_count"]) == ("completed", 50)
    assert len(wire.bodies("results")) < 50  # what has gathered goes together


async def test_tasks_are_asked_for_together_and_their_results_go_together(works: Works) -> None:
    wire = Wire()
    worker = works.by(wire.options, concurrency=20)

    @worker.task("alpha", "page")
    async def page(_task: Task) -> list[Any]:
        return DOCUMENTS

    jobs = [f"job-{n}" for n in range(10)]
    for job in jobs:
        await works.submit(job)
    await works.done(worker, *jobs)

    assert len(wire.bodies("acquire")) <= 3
    assert len(wire.bodies("results")) < 10


async def test_one_result_that_is_refused_takes_no_other_with_it(works: Works) -> None:
    wire = Wire(open={"results": asyncio.Event()})
    worker = works.by(wire.options)

    @worker.task("alpha", "page")
    async def page(task: Task) -> list[Any]:
        large = "x" * 2_000_000 if task.payload["page"] == "large" else "small"
        return [{"text": large}]

    for job in ("small-1", "large", "small-2"):
        await works.submit(job, payload={"page": job})
    async with running(worker):
        await until(lambda: wire.bodies("results"))
        await asyncio.sleep(0.2)
        wire.open["results"].set()
        found = [await works.over(job) for job in ("small-1", "large", "small-2")]

    assert max(len(body["items"]) for body in wire.bodies("results")) > 1  # at first it went with others
    assert [job["status"] for job in found] == ["completed", "failed", "completed"]
    assert found[1]["last_error"]["code"] == "result_refused"


async def test_a_crawler_writes_itself_only_where_it_is_told_to(works: Works) -> None:
    wire = Wire()
    written: list[tuple[str, Any, int]] = []

    async def write(task: Task, chunk: Chunk) -> None:
        written.append((task.job_id, list(chunk.documents), len(wire.results)))

    worker = crawler(works, wire, write=write)
    await works.submit("ours")
    async with running(worker):
        await works.over("ours")
        wire.changed["acquire"] = writes_itself
        await works.submit("theirs")
        job = await works.over("theirs")

    before = [count for _, _, count in written]
    sent = [place for place, one in enumerate(wire.results) if one["job_id"] == "theirs"]
    assert [(name, documents) for name, documents, _ in written] == [("theirs", [one]) for one in DOCUMENTS]
    assert all(count <= place for count, place in zip(before, sent[:3], strict=True))  # before it is sent
    assert job["status"] == "completed"


@pytest.mark.parametrize(
    ("error", "code"),
    [(None, "no_writer"), (ConnectionError("token=hunter2"), "write_failed"), (TaskFailed("full"), "full")],
)
async def test_a_crawler_that_cannot_write_fails_and_sends_nothing(
    works: Works, error: Exception | None, code: str
) -> None:
    wire = Wire(changed={"acquire": writes_itself})

    async def write(_task: Task, _chunk: Chunk) -> None:
        assert error is not None
        raise error

    worker = crawler(works, wire, write=write if error else None)
    await works.submit("one", max_attempts=1)
    (job,) = await works.done(worker, "one")

    assert (job["status"], job["last_error"]["code"]) == ("failed", code)
    assert "hunter2" not in json.dumps(job)
    assert not any(one.get("payload_chunk") for one in wire.results)


async def test_a_batch_whose_refusal_is_never_heard_is_divided() -> None:
    sent: list[int] = []

    async def send(messages: Sequence[str]) -> list[Verdict]:
        sent.append(len(messages))
        if len(messages) > 1:
            raise httpx.ReadError("it hung up")
        return [Verdict(verdict="accepted")]

    courier = Courier(send)
    brought = [courier.bring("x" * 400_000, lambda: None) for _ in range(2)]
    verdicts = await asyncio.wait_for(asyncio.gather(*brought), 20)
    await courier.close()

    assert [one.verdict for one in verdicts] == ["accepted", "accepted"]
    assert sent[-2:] == [1, 1]
