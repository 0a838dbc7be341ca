"""Jobs are found by what they are of and what went wrong with them."""

from typing import Any

from tests.parts.broker import Broker, failed, last
from tests.parts.postgres import TestDatabase


async def test_jobs_are_found_by_run_error_and_attempt(broker: Broker, database: TestDatabase) -> None:
    await broker.submit(job_id="early", run_id="run-1")
    await broker.submit(job_id="dead", max_attempts=2)
    await broker.submit(["alpha", "beta"], job_id="two", run_id="run-2")
    await broker.bring(last(await broker.take()))
    for _ in range(2):
        await broker.bring(failed(await broker.take(), "timeout"))
    await broker.bring(failed(await broker.take("beta"), "rate_limited"))

    async def found(**wanted: Any) -> list[str]:
        answer = await broker.client.get("/v2/jobs", params=wanted)
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()["items"]]

    assert await found(run_id="run-1") == ["early"]
    assert await found(error="timeout") == ["dead"]
    assert await found(error="attempts_exhausted") == ["dead"]
    assert await found(error="rate_limited", status="processing,pending") == ["two"]
    assert await found(attempt_over=1) == ["two", "dead"]
    assert await found(attempt_over=2) == []
    assert await found(attempt_over=1, error="timeout", platform="alpha") == ["dead"]
    database.run("UPDATE job SET created_at = created_at - interval '8 days'")
    assert await found(run_id="run-1") == ["early"]
    assert (await found(error="timeout"), await found(attempt_over=1)) == ([], [])
