"""What a worker promises to those who write its functions."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from leasehold.client.worker import Chunk, Skipped, Task, TaskFailed, WorkerMisconfigured
from tests.client.wire import Wire
from tests.client.works import Works, running, until


async def test_what_a_function_yields_is_kept_chunk_by_chunk(works: Works) -> None:
    worker = works.worker()
    seen: list[Task] = []

    @worker.task("alpha", "page")
    async def page(task: Task) -> AsyncIterator[Chunk]:
        seen.append(task)
        yield Chunk([{"n": 1}, {"n": 2}], cursor="p2", cost_micros=400)
        yield Chunk([{"n": 3}], cursor="p3")

    await works.submit("one", payload={"page": "front"}, trace_ctx={"traceparent": "00-aa-bb-01"})
    (job,) = await works.done(worker, "one")

    assert (job["status"], job["result_count"], job["attempt"]) == ("completed", 3, 1)
    assert await works.broker.documents("one") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert (seen[0].payload, seen[0].cursor, seen[0].trace_ctx) == (
        {"page": "front"},
        None,
        {"traceparent": "00-aa-bb-01"},
    )
    assert await works.leases() == []


@pytest.mark.parametrize(
    ("returned", "documents"),
    [
        (None, []),
        ([], []),
        ([{"n": 1}, {"n": 2}], [{"n": 1}, {"n": 2}]),
        ({"n": 1}, [{"n": 1}]),
        (Chunk([{"n": 1}], cursor="here"), [{"n": 1}]),
        ([{"at": datetime(2026, 1, 1, tzinfo=UTC)}], [{"at": "2026-01-01T00:00:00Z"}]),
        ([{"n": n} for n in range(2500)], [{"n": n} for n in range(2500)]),
    ],
    ids=["nothing", "none", "some", "one", "chunk", "time", "many"],
)
async def test_a_plain_function_returns_its_documents(works: Works, returned: Any, documents: list[Any]) -> None:
    worker = works.worker()

    @worker.task("alpha", "page")
    async def page(_task: Task) -> Any:
        return returned

    await works.submit("one")
    (job,) = await works.done(worker, "one")

    found = (await works.broker.client.get("/v2/jobs/one/results?limit=500")).json()["items"]
    assert (job["status"], job["result_count"]) == ("completed", len(documents))
    assert [one["document"] for one in found] == documents[:500]


async def test_who_goes_on_begins_where_the_one_before_had_come_to(works: Works) -> None:
    worker = works.worker()
    begun: list[Any] = []

    @worker.task("alpha", "page")
    async def page(task: Task) -> AsyncIterator[Chunk]:
        begun.append(task.cursor)
        if task.cursor is None:
            yield Chunk([{"n": 1}], cursor="p2")
            raise TaskFailed("rate_limited", "slowly")
        yield Chunk([{"n": 2}], cursor="p3")

    await works.submit("one")
    (job,) = await works.done(worker, "one")

    assert begun == [None, "p2"]
    assert (job["status"], job["attempt"]) == ("completed", 2)
    assert await works.broker.documents("one") == [{"n": 1}, {"n": 2}]


async def test_chunks_without_a_cursor_are_kept_once_however_often_they_are_made(works: Works) -> None:
    worker = works.worker()
    begun: list[Any] = []

    @worker.task("alpha", "page")
    async def page(task: Task) -> AsyncIterator[Chunk]:
        begun.append(task.cursor)
        for n in range(1 if task.cursor is None else 2, 4):
            yield Chunk([{"n": n}], cursor=f"p{n + 1}" if n < 2 else None)
        if len(begun) < 3:
            raise TaskFailed("rate_limited", "at the very end")

    await works.submit("one")
    (job,) = await works.done(worker, "one")

    assert begun == [None, "p2", "p2"]  # the chunks that came after it are made again, and are the same
    assert job["status"] == "completed"
    assert await works.broker.documents("one") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert await works.broker.dead() == []


@pytest.mark.parametrize(
    ("error", "code", "message", "attempts"),
    [
        (TaskFailed("not_found", "It is gone."), "not_found", "It is gone.", 1),
        (TaskFailed("odd", "Once more.", retryable=True), "odd", "Once more.", 3),
        (TaskFailed("odd", "Never.", retryable=False), "odd", "Never.", 1),
        (TaskFailed("rate_limited"), "rate_limited", "", 3),
        (KeyError("title"), "crawler_error", "KeyError: 'title'", 1),
        (RuntimeError(), "crawler_error", "RuntimeError", 1),
        (ValueError("x" * 5000), "crawler_error", "ValueError: " + "x" * 487 + "…", 1),
        (
            OSError("https://ann:hunter2@api.example/v1?key=hunter2 said lh_hunter2; password=hunter2 Bearer hunter2"),
            "crawler_error",
            "OSError: https://…@api.example/v1?… said lh_…; password=… Bearer …",
            1,
        ),
    ],
)
async def test_what_a_function_raises_is_how_the_task_failed(
    works: Works, error: Exception, code: str, message: str, attempts: int
) -> None:
    worker = works.worker()
    calls: list[int] = []

    @worker.task("alpha", "page")
    async def page(task: Task) -> None:
        calls.append(task.attempt)
        raise error

    await works.submit("one")
    (job,) = await works.done(worker, "one")

    assert job["status"] == "failed"
    assert (job["last_error"]["code"], job["last_error"].get("message", "")) == (code, message)
    assert calls == list(range(1, attempts + 1))  # whatever was tried again, the server had it tried again


async def test_a_function_may_skip(works: Works) -> None:
    worker = works.worker()

    @worker.task("alpha", "page")
    async def page(_task: Task) -> None:
        raise Skipped("the page is private")

    await works.submit("one")
    (job,) = await works.done(worker, "one")

    assert (job["status"], job["result_count"]) == ("completed", 0)
    assert job["last_error"] == {"code": "skipped", "message": "the page is private"}


@pytest.mark.parametrize(
    "documents",
    [["no object"], [{"n": float("nan")}], [{"n": object()}], [{"n": "\ud800"}], [[1]], 7],
    ids=["text", "nan", "object", "surrogate", "list", "number"],
)
async def test_what_is_no_document_fails_its_own_task_alone(works: Works, documents: Any) -> None:
    worker = works.worker()

    @worker.task("alpha", "page")
    async def page(task: Task) -> Any:
        return documents if task.payload["page"] == "bad" else [{"n": 1}]

    await works.submit("bad", payload={"page": "bad"})
    await works.submit("good")
    bad, good = await works.done(worker, "bad", "good")

    assert bad["status"] == "failed"
    assert bad["last_error"]["code"] in ("result_refused", "crawler_error")
    assert good["status"] == "completed"


async def test_at_most_so_many_are_at_work_at_once(works: Works) -> None:
    worker = works.worker(concurrency=3)
    at_work = most = 0

    @worker.task("alpha", "page")
    async def page(_task: Task) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.4)
        at_work -= 1

    jobs = [f"job-{n}" for n in range(8)]
    for job in jobs:
        await works.submit(job)
    found = await works.done(worker, *jobs)

    assert {job["status"] for job in found} == {"completed"}
    assert most == 3


async def test_a_worker_is_given_only_what_it_has_a_function_for(works: Works) -> None:
    worker = works.worker(concurrency=1)
    done: list[tuple[str, str]] = []

    async def crawl(task: Task) -> None:
        done.append((task.platform, task.task_type))

    worker.task("alpha", "page")(crawl)
    worker.task("beta", "search")(crawl)
    words = {"task_type": "search", "payload": {"words": "moon"}}
    await works.submit("beta-page", platform="beta")
    await works.submit("alpha-search", **words)
    await works.submit("alpha-page")
    await works.submit("beta-search", platform="beta", **words)
    found = await works.done(worker, "alpha-page", "beta-search")

    assert [job["status"] for job in found] == ["completed", "completed"]
    assert sorted(done) == [("alpha", "page"), ("beta", "search")]
    assert [(await works.broker.job(job))["status"] for job in ("beta-page", "alpha-search")] == ["pending"] * 2


def test_a_function_is_asynchronous_and_the_only_one_for_its_type(works: Works) -> None:
    worker = works.worker()

    with pytest.raises(TypeError, match="async def"):
        worker.task("alpha", "page")(lambda _task: None)

    async def crawl(_task: Task) -> None: ...

    worker.task("alpha", "page")(crawl)
    with pytest.raises(TypeError, match="already"):
        worker.task("alpha", "page")(crawl)


async def test_a_worker_that_cannot_begin_says_why(works: Works) -> None:
    async def crawl(_task: Task) -> None: ...

    stranger, nowhere = works.worker(), works.worker()
    stranger._token = "lh_nobody"
    stranger.task("alpha", "page")(crawl)
    nowhere.task("gamma", "page")(crawl)

    with pytest.raises(WorkerMisconfigured, match="no function"):
        await works.worker().serve()
    with pytest.raises(WorkerMisconfigured, match="refuses"):
        await asyncio.wait_for(stranger.serve(), 10)
    with pytest.raises(WorkerMisconfigured, match="No platform"):
        await asyncio.wait_for(nowhere.serve(), 10)


async def test_a_platform_that_goes_away_does_not_end_its_worker(works: Works) -> None:
    wire = Wire()
    worker = works.by(wire.options, concurrency=1)
    go_on = asyncio.Event()

    @worker.task("alpha", "page")
    async def page(_task: Task) -> None:
        await go_on.wait()

    text = (works.folder / "alpha.yaml").read_text()
    await works.submit("one")
    async with running(worker):
        await works.seen("one", lambda job: job["status"] == "dispatched")
        (works.folder / "alpha.yaml").unlink()
        await until(lambda: not works.home.app.state.jobs.catalogue.get("alpha"))
        go_on.set()
        await until(lambda: len(wire.bodies("acquire")) == 2)  # and that is refused
        await asyncio.sleep(0.5)
        (works.folder / "alpha.yaml").write_text(text)
        await until(lambda: works.home.app.state.jobs.catalogue.get("alpha"))
        await works.submit("two")

        assert (await works.over("two"))["status"] == "completed"
