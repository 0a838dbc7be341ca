"""A job that is not over is moved to the dead letters by hand, and can be replayed from there."""

from typing import Any

import httpx
import pytest

from tests.parts.broker import JSON, Broker, chunk, failed, last
from tests.parts.postgres import TestDatabase

HELD = "SELECT count(*) FROM task WHERE lease IS NOT NULL"


async def give_up(broker: Broker, job: str, **wish: Any) -> httpx.Response:
    return await broker.client.post(f"/v2/jobs/{job}/dead-letter", json={"reason": "the page is gone", **wish})


async def replay(broker: Broker, **wish: Any) -> JSON:
    answer = await broker.client.post("/v2/jobs/dead-letters/replay", json=wish)
    assert answer.status_code == 200, answer.text
    found: JSON = answer.json()
    return found


async def test_what_waits_fails_and_its_letter_says_who_put_it_there_and_why(broker: Broker) -> None:
    await broker.submit(job_id="j", payload={"page": "lost"})

    answer = await give_up(broker, "j")

    job = answer.json()
    assert (answer.status_code, job["status"], job["sub_status"]) == (200, "failed", "by_hand")
    assert job["ended_at"] is not None
    (letter,) = await broker.dead()
    assert (letter["job_id"], letter["platform"], letter["reason"]) == ("j", "alpha", "by_hand")
    assert letter["payload"] == {"page": "lost"}
    told = job["history"][-1]
    assert (told["event"], told["detail"]["reason"]) == ("dead_lettered", "the page is gone")
    assert letter["detail"] == f"{told['detail']['by']} put it here: the page is gone"
    entries = (await broker.client.get("/v2/audit", params={"subject": "j"})).json()["items"]
    assert [(one["action"], one["detail"]) for one in entries] == [
        ("job.dead_lettered", {"parts": 1, "reason": "the page is gone"})
    ]
    assert (await broker.offer())["leases"] == []


async def test_who_works_on_it_has_lost_it_and_the_books_balance(broker: Broker, database: TestDatabase) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take()
    await broker.bring(chunk(lease, "p1", {"n": 1}))

    await give_up(broker, "j")

    assert database.rows(HELD) == [(0,)]
    beat = await broker.client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    assert (beat.status_code, beat.json()["reason"]) == (410, "revoked")
    assert await broker.verdicts(chunk(lease, "p2", {"n": 2}), last(lease)) == ["superseded", "duplicate"]
    books = (await broker.books())["alpha"]
    assert (books["failed"], books["live"], books["unaccounted"]) == (1, 0, 0)
    assert (await broker.job("j"))["status"] == "failed"


async def test_a_replay_goes_on_from_the_last_cursor(broker: Broker) -> None:
    await broker.submit(job_id="j")
    await broker.bring(chunk(await broker.take(), "p1", {"n": 1}))
    await give_up(broker, "j")

    done = await replay(broker, filter={"reason": "by_hand"})

    again = await broker.take()
    assert (done["replayed"], again["task"]["attempt"], again["task"]["cursor"]) == (1, 2, "p1")
    await broker.bring(chunk(again, "p2", {"n": 2}), last(again))
    assert (await broker.job("j"))["status"] == "completed"
    assert await broker.documents("j") == [{"n": 1}, {"n": 2}]
    assert (await broker.books())["alpha"]["unaccounted"] == 0


async def test_a_replay_that_is_stopped_leaves_it_as_it_was(broker: Broker) -> None:
    await broker.submit(job_id="j")
    await give_up(broker, "j")
    done = await replay(broker, filter={"reason": "by_hand"}, rate_per_second=0.001)

    await broker.client.post("/v2/jobs/dead-letters/replay/stop", json={"replay": done["replay"]})

    job = await broker.job("j")
    assert (job["status"], job["sub_status"]) == ("failed", "by_hand")
    assert (await broker.dead())[0]["replayed_at"] is None


async def test_of_several_parts_those_that_are_not_over_get_a_letter_each(broker: Broker) -> None:
    await broker.submit(["alpha", "beta"], job_id="j")
    await broker.bring(last(await broker.take("alpha")))

    answer = (await give_up(broker, "j")).json()

    assert answer["status"] == "partial"
    assert {one["platform"]: one["status"] for one in answer["parts"]} == {"alpha": "completed", "beta": "failed"}
    assert [letter["platform"] for letter in await broker.dead()] == ["beta"]


async def test_what_rests_after_a_failure_keeps_its_error(broker: Broker) -> None:
    await broker.submit(job_id="j")
    await broker.bring(failed(await broker.take(), "timeout", retry_after_seconds=3600))

    job = (await give_up(broker, "j")).json()

    assert (job["status"], job["last_error"]["code"]) == ("failed", "timeout")
    assert [letter["attempt"] for letter in await broker.dead()] == [2]


async def test_what_was_taken_for_it_ends_with_it(broker: Broker) -> None:
    await broker.client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
    await broker.client.post("/v2/seeds", json={"items": [{"site": "board", "url": "https://board.example/1"}]})
    await broker.submit(job_id="j")
    taken = await broker.client.post("/v2/seeds/acquire", json={"owner": "ann", "job_id": "j"})
    (lease,) = taken.json()["leases"]

    await give_up(broker, "j")

    beat = await broker.client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    assert (beat.status_code, beat.json()["reason"]) == (410, "revoked")


async def test_a_lease_that_had_run_out_is_booked_as_that(broker: Broker, database: TestDatabase) -> None:
    await broker.submit(job_id="j")
    await broker.take()
    database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second'")

    job = (await give_up(broker, "j")).json()

    assert (job["status"], job["parts"][0]["losses"]) == ("failed", 0)
    assert database.rows("SELECT how FROM lease_end") == [("expired",)]
    assert len(await broker.dead()) == 1


async def test_what_is_over_or_unknown_is_left_alone(broker: Broker) -> None:
    await broker.submit(job_id="j")
    await broker.bring(last(await broker.take()))

    over, unknown = await give_up(broker, "j"), await give_up(broker, "nothing")

    assert (over.status_code, over.json()["status_now"]) == (409, "completed")
    assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/job-unknown")
    assert await broker.dead() == []


@pytest.mark.parametrize("reason", [None, "", 7, "two\nlines", "x" * 501])
async def test_it_takes_a_reason(broker: Broker, reason: Any) -> None:
    await broker.submit(job_id="j")

    answer = await give_up(broker, "j", reason=reason)

    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == ["/reason"]
    assert (await broker.job("j"))["status"] == "pending"
