"""A producer and a worker that know nothing but docs/jobs.md: plain HTTP, plain JSON, no SDK."""

import httpx
import pytest

from leasehold.auth import Role
from tests.parts.house import House

NAMES = ("job_id", "attempt", "fence", "platform", "task_type")


@pytest.fixture
async def producer(home: House) -> httpx.AsyncClient:
    return await home.caller(Role.PRODUCER)


@pytest.fixture
async def worker(home: House) -> httpx.AsyncClient:
    return await home.caller(Role.COLLECTOR)


async def test_a_crawl_from_request_to_documents(producer: httpx.AsyncClient, worker: httpx.AsyncClient) -> None:
    request = {"job_id": "nightly-17", "platform": "alpha", "task_type": "page", "payload": {"page": "front"}}
    submitted = await producer.post("/v2/jobs", json=request)
    ask = {"owner": "raw-1", "platforms": ["alpha"], "limit": 5, "wait_seconds": 5}
    granted = await worker.post("/v2/tasks/acquire", json=ask)
    (lease,) = granted.json()["leases"]
    about = {name: lease["task"][name] for name in NAMES}

    beat = await worker.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    one = {**about, "status": "success", "seq": 1, "cursor": "page-1", "payload_chunk": [{"n": 1}]}
    brought = await worker.post("/v2/tasks/results", json={"items": [one, {**about, "status": "progress"}]})
    again = await worker.post("/v2/tasks/results", json={"items": [one]})
    last = {**about, "status": "success", "seq": 2, "final": True}
    ended = await worker.post("/v2/tasks/results", json={"items": [last]})
    gone = await worker.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    job = (await producer.get("/v2/jobs/nightly-17")).json()
    documents = (await producer.get("/v2/jobs/nightly-17/results")).json()["items"]

    assert (submitted.status_code, granted.status_code, beat.status_code) == (202, 200, 200)
    assert [item["verdict"] for item in brought.json()["items"]] == ["accepted", "accepted"]
    assert [item["verdict"] for item in again.json()["items"]] == ["duplicate"]
    assert (ended.status_code, gone.status_code) == (202, 410)
    assert (job["status"], job["result_count"]) == ("completed", 1)
    assert [item["document"] for item in documents] == [{"n": 1}]


async def test_a_failure_is_told_and_tried_again_by_the_server(
    producer: httpx.AsyncClient, worker: httpx.AsyncClient
) -> None:
    await producer.post(
        "/v2/jobs", json={"job_id": "one", "platform": "alpha", "task_type": "page", "payload": {"page": "a"}}
    )
    ask = {"owner": "raw-1", "platforms": ["alpha"], "wait_seconds": 5}
    for attempt in (1, 2, 3):
        (lease,) = (await worker.post("/v2/tasks/acquire", json=ask)).json()["leases"]
        about = {name: lease["task"][name] for name in NAMES}
        errors = [{"code": "rate_limited", "message": "429"}]
        failed = {**about, "status": "failed", "final": True, "errors": errors}
        await worker.post("/v2/tasks/results", json={"items": [failed]})
        assert (about["attempt"], lease["task"]["retry"]) == (attempt, attempt > 1)

    job = (await producer.get("/v2/jobs/one")).json()
    assert (job["status"], job["last_error"]["code"]) == ("failed", "rate_limited")


async def test_nothing_to_do_is_an_answer_and_what_is_not_done_goes_back(
    producer: httpx.AsyncClient, worker: httpx.AsyncClient
) -> None:
    ask = {"owner": "raw-1", "platforms": ["alpha"]}
    nothing = (await worker.post("/v2/tasks/acquire", json=ask)).json()
    await producer.post("/v2/jobs", json={"platform": "alpha", "task_type": "page", "payload": {"page": "a"}})
    (lease,) = (await worker.post("/v2/tasks/acquire", json=ask)).json()["leases"]
    released = await worker.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "returned"})
    (again,) = (await worker.post("/v2/tasks/acquire", json=ask)).json()["leases"]

    assert (nothing["leases"], nothing["waiting"]["reason"]) == ([], "none_match")
    assert released.json()["already_released"] is False
    assert (again["task"]["job_id"], again["task"]["fence"]) == (lease["task"]["job_id"], 2)
