"""A job on its way is changed by hand: more or less urgent, put off, or begun at once."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.jobs.conftest import change
from tests.parts.broker import Broker, failed, last
from tests.parts.house import House

LONG_AGO = "1970-01-01T00:00:00Z"


async def steer(broker: Broker, job: str, **wish: Any) -> httpx.Response:
    return await broker.client.patch(f"/v2/jobs/{job}", json=wish)


def later(**span: float) -> str:
    return (datetime.now(UTC) + timedelta(**span)).isoformat()


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_what_became_urgent_goes_first(broker: Broker) -> None:
    for job in ("first", "second"):
        await broker.submit(job_id=job)

    answer = await steer(broker, "second", priority=9)

    assert (answer.status_code, answer.json()["priority"]) == (200, 9)
    assert [lease["task"]["job_id"] for lease in (await broker.offer(limit=2))["leases"]] == ["second", "first"]
    told = next(one for one in (await broker.job("second"))["history"] if one["event"] == "prioritised")
    assert {"priority": 9, "before": 4}.items() <= told["detail"].items()
    assert told["detail"]["by"]
    entries = (await broker.client.get("/v2/audit", params={"subject": "second"})).json()["items"]
    assert [(one["action"], one["detail"]) for one in entries] == [
        ("job.changed", {"priority": {"before": 4, "after": 9}})
    ]


async def test_what_is_put_off_is_nobodys_until_then_and_has_as_long_as_before(broker: Broker) -> None:
    before = await broker.submit(job_id="j")

    after = (await steer(broker, "j", not_before=later(hours=1))).json()

    offer = await broker.offer()
    assert (offer["leases"], offer["waiting"]["reason"]) == ([], "not_due")
    moved = moment(after["deadline_at"]) - moment(before["deadline_at"])
    assert timedelta(minutes=59) < moved < timedelta(minutes=61)
    assert after["parts"][0]["deadline_at"] == after["deadline_at"]
    explained = (await broker.client.get("/v2/jobs/j/explain")).json()["parts"][0]
    assert (explained["reason"], explained["next_at"]) == ("resting", after["not_before"])
    assert after["history"][-1]["event"] == "put_off"

    again = (await steer(broker, "j", not_before=LONG_AGO)).json()

    assert again["deadline_at"] == after["deadline_at"]
    assert (await broker.take())["task"]["job_id"] == "j"


async def test_a_rest_after_a_failure_is_cut_short(broker: Broker, home: House, folder: Path) -> None:
    change(home, folder, "", wait=3600.0)
    await broker.submit(job_id="j")
    await broker.bring(failed(await broker.take(), "timeout"))
    assert (await broker.offer())["leases"] == []

    await steer(broker, "j", not_before=LONG_AGO)

    assert (await broker.take())["task"]["attempt"] == 2


async def test_who_waits_for_work_is_called(broker: Broker) -> None:
    await broker.submit(job_id="j")
    await steer(broker, "j", not_before=later(hours=1))
    waiting = asyncio.create_task(broker.offer(wait_seconds=30))
    await asyncio.sleep(0.3)
    assert not waiting.done()

    await steer(broker, "j", not_before=LONG_AGO)

    async with asyncio.timeout(20):
        assert [lease["task"]["job_id"] for lease in (await waiting)["leases"]] == ["j"]


async def test_what_a_worker_has_goes_on_and_cannot_be_put_off(broker: Broker) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take()

    refused = await steer(broker, "j", not_before=later(hours=1))
    changed = await steer(broker, "j", priority=1)

    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/wrong-state")
    assert (changed.status_code, changed.json()["status"], changed.json()["priority"]) == (200, "dispatched", 1)
    assert await broker.verdicts(last(lease)) == ["accepted"]
    assert (await broker.job("j"))["status"] == "completed"


async def test_of_several_parts_those_that_wait_are_put_off(broker: Broker) -> None:
    await broker.submit(["alpha", "beta"], job_id="j")
    await broker.take("alpha")

    answer = await steer(broker, "j", not_before=later(hours=1), priority=7)

    assert answer.status_code == 200
    parts = {one["platform"]: moment(one["not_before"]) > datetime.now(UTC) for one in answer.json()["parts"]}
    assert parts == {"alpha": False, "beta": True}
    assert (await broker.offer("beta"))["leases"] == []


async def test_what_is_over_or_unknown_is_not_changed(broker: Broker) -> None:
    await broker.submit(job_id="j")
    await broker.client.post("/v2/jobs/j/cancel")

    over, unknown = await steer(broker, "j", priority=1), await steer(broker, "nothing", priority=1)

    assert (over.status_code, over.json()["status_now"]) == (409, "cancelled")
    assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/job-unknown")
    assert (await broker.job("j"))["priority"] == 4


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({"priority": 10}, "/priority"),
        ({"priority": "9"}, "/priority"),
        ({"not_before": "2026-01-01T00:00:00"}, "/not_before"),
        ({"not_before": 1}, "/not_before"),
        ({"not_before": later(days=31)}, "/not_before"),
        ({"deadline_at": later(days=1)}, "/deadline_at"),
    ],
)
async def test_what_nobody_can_mean_is_refused(broker: Broker, wish: dict[str, Any], pointer: str) -> None:
    await broker.submit(job_id="j")

    answer = await steer(broker, "j", **wish)

    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
    assert [one["event"] for one in (await broker.job("j"))["history"]] == ["accepted"]
