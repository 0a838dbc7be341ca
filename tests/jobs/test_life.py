"""The life of a job over HTTP: from the request to its end, whatever workers do."""

from pathlib import Path

import pytest

from tests.jobs.conftest import platform
from tests.parts.broker import Broker, chunk, failed, last, result
from tests.parts.house import House
from tests.parts.postgres import TestDatabase


async def test_a_job_goes_from_request_to_documents(broker: Broker) -> None:
    job = await broker.submit(job_id="mine-1", metadata={"who": "ann"}, unknown_to_us=1)
    lease = await broker.take()

    verdicts = await broker.verdicts(chunk(lease, "p1", {"n": 1}, {"n": 2}), chunk(lease, "p2", {"n": 3}), last(lease))
    done = await broker.job("mine-1")

    assert (job["status"], job["id"]) == ("pending", "mine-1")
    assert (lease["kind"], lease["site"], lease["task"]["attempt"], lease["task"]["fence"]) == ("task", None, 1, 1)
    assert lease["task"]["payload"] == {"page": "front"}
    assert verdicts == ["accepted"] * 3
    assert (done["status"], done["result_count"], done["sub_status"]) == ("completed", 3, None)
    assert await broker.documents("mine-1") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert [one["event"] for one in done["history"]] == ["accepted", "dispatched", "completed"]
    assert (await broker.books())["alpha"]["unaccounted"] == 0


async def test_the_same_job_again_is_the_first(broker: Broker) -> None:
    first = await broker.submit(job_id="once", payload={"page": "a"})
    again = await broker.submit(job_id="once", payload={"page": "b"})

    assert again["payload"] == first["payload"] == {"page": "a"}
    assert len((await broker.offer(limit=10))["leases"]) == 1


@pytest.mark.parametrize("way", ["alone", "batch"])
async def test_the_first_stands_also_when_it_would_be_refused_by_now(
    broker: Broker, home: House, folder: Path, way: str
) -> None:
    first = await broker.submit(job_id="once")
    narrower = platform("alpha").replace("minLength: 1", "minLength: 6").replace("page: front}", "page: frontpage}")
    (folder / "alpha.yaml").write_text(narrower)
    home.app.state.jobs.catalogue.reload()
    request = {"platform": "alpha", "task_type": "page", "payload": {"page": "front"}, "job_id": "once"}

    if way == "alone":
        answer = await broker.client.post("/v2/jobs", json=request)
        told = answer.json()["id"], answer.json()["payload"]
    else:
        answer = await broker.client.post("/v2/jobs/batch", json={"items": [request, {**request, "job_id": "new"}]})
        again, refused = answer.json()["items"]
        assert (refused["job_id"], [one["pointer"] for one in refused["errors"]]) == (None, ["/payload/page"])
        assert again["created"] is False
        told = again["job_id"], first["payload"]

    assert (answer.status_code, told) == (202, ("once", first["payload"]))


@pytest.mark.parametrize(
    ("request_", "pointer"),
    [
        ({"platform": "nowhere"}, "/platform"),
        ({"task_type": "nothing"}, "/task_type"),
        ({"payload": {}}, "/payload"),
        ({"payload": {"page": ""}}, "/payload/page"),
        ({"payload": {"page": "a", "more": 1}}, "/payload"),
        ({"priority": 10}, "/priority"),
        ({"platform": ["alpha", "alpha"]}, "/platform"),
    ],
)
async def test_what_can_go_nowhere_is_refused(broker: Broker, request_: dict[str, object], pointer: str) -> None:
    request = {"platform": "alpha", "task_type": "page", "payload": {"page": "front"}, **request_}

    answer = await broker.client.post("/v2/jobs", json=request)

    assert answer.status_code == 422
    assert any(one["pointer"].startswith(pointer) for one in answer.json()["errors"]), answer.json()
    assert (await broker.client.get("/v2/jobs")).json()["items"] == []


async def test_higher_priority_goes_first_then_the_older(broker: Broker) -> None:
    for job, priority in (("low", 1), ("old", 4), ("new", 4), ("high", 9)):
        await broker.submit(job_id=job, priority=priority)

    taken = [(await broker.take())["task"]["job_id"] for _ in range(2)]
    taken += [lease["task"]["job_id"] for lease in (await broker.offer(limit=10))["leases"]]

    assert taken == ["high", "old", "new", "low"]


async def test_a_platform_bears_no_more_than_its_file_says(broker: Broker, home: House, folder: Path) -> None:
    (folder / "alpha.yaml").write_text(platform("alpha", concurrency=2))
    home.app.state.jobs.catalogue.reload()
    for _ in range(3):
        await broker.submit()

    first = (await broker.offer(limit=10))["leases"]
    none = await broker.offer()
    await broker.bring(last(first[0]))
    after = (await broker.offer(limit=10))["leases"]

    assert (len(first), none["leases"], len(after)) == (2, [], 1)
    assert none["waiting"]["reason"] == "all_leased"


async def test_who_waits_is_called_when_there_is_something_to_do(broker: Broker) -> None:
    import asyncio

    waiting = asyncio.create_task(broker.take(wait_seconds=20))
    await asyncio.sleep(0.3)

    await broker.submit(job_id="late")

    assert (await asyncio.wait_for(waiting, 15))["task"]["job_id"] == "late"


async def test_a_retryable_failure_is_tried_again_with_the_cursor_and_the_documents(broker: Broker) -> None:
    await broker.submit(job_id="j")
    first = await broker.take()
    await broker.bring(chunk(first, {"page": 1}, {"n": 1}), failed(first, "timeout"))

    again = await broker.take()
    job = await broker.job("j")
    await broker.bring(chunk(again, {"page": 1}, {"n": 1}), chunk(again, {"page": 2}, {"n": 2}), last(again))

    assert (again["task"]["attempt"], again["task"]["fence"], again["task"]["retry"]) == (2, 2, True)
    assert again["task"]["cursor"] == {"page": 1}
    assert job["last_error"]["code"] == "timeout"
    assert await broker.documents("j") == [{"n": 1}, {"n": 2}]
    assert (await broker.job("j"))["status"] == "completed"


async def test_a_fatal_failure_ends_a_job_and_is_a_dead_letter(broker: Broker) -> None:
    await broker.submit(job_id="j")

    await broker.bring(failed(await broker.take(), "not_found", retryable=True))

    (letter,) = await broker.dead()
    assert (await broker.job("j"))["status"] == "failed"
    assert (letter["reason"], letter["job_id"], letter["payload"]) == ("not_found", "j", {"page": "front"})
    assert (await broker.offer())["leases"] == []


async def test_what_the_file_does_not_name_is_as_the_crawler_says(broker: Broker) -> None:
    await broker.submit(job_id="again")
    await broker.submit(job_id="never")

    await broker.bring(failed(await broker.take(), "odd", retryable=True))
    await broker.bring(failed((await broker.offer(limit=1, task_types=["page"]))["leases"][0], "odd"))

    statuses = {(await broker.job(job))["status"] for job in ("again", "never")}
    assert statuses == {"pending", "failed"}


async def test_attempts_come_to_an_end(broker: Broker) -> None:
    await broker.submit(job_id="j")

    for _ in range(3):
        await broker.bring(failed(await broker.take(), "timeout"))

    assert (await broker.job("j"))["status"] == "failed"
    assert [letter["reason"] for letter in await broker.dead()] == ["attempts_exhausted"]


async def test_a_retry_waits_as_long_as_its_file_says(broker: Broker, home: House, folder: Path) -> None:
    (folder / "alpha.yaml").write_text(platform("alpha", wait=200))
    home.app.state.jobs.catalogue.reload()
    await broker.submit(job_id="j")

    await broker.bring(failed(await broker.take(), "timeout"))
    empty = await broker.offer()

    assert (empty["leases"], empty["waiting"]["reason"]) == ([], "not_due")
    assert 190 < empty["waiting"]["retry_after_seconds"] <= 201


async def test_the_same_again_is_a_duplicate_and_something_else_a_conflict(broker: Broker) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take()

    verdicts = await broker.verdicts(
        chunk(lease, "p1", {"n": 1}),
        chunk(lease, "p1", {"n": 1}),
        chunk(lease, "p1", {"n": 2}),
        last(lease),
        last(lease),
        chunk(lease, "p1", {"n": 1}, final=True),
    )

    assert verdicts == ["accepted", "duplicate", "conflict", "accepted", "duplicate", "duplicate"]
    assert await broker.documents("j") == [{"n": 1}]
    assert [letter["reason"] for letter in await broker.dead()] == ["conflict"]
    assert (await broker.job("j"))["status"] == "completed"


async def test_news_of_a_worker_that_is_late_do_not_hide_that_it_is_lost(broker: Broker, home: House) -> None:
    await broker.submit(job_id="j")
    late = await broker.take()
    # Nobody looks for it before its time.
    home.database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' WHERE kind = 'task'")

    told = await broker.bring(chunk(late, "p1", {"n": 1}))
    await run_out(home, late)
    new = await broker.take()
    await broker.bring(last(new))

    assert [(one["verdict"], one["detail"]) for one in told] == [("superseded", "kept")]
    assert (new["task"]["attempt"], new["task"]["fence"]) == (1, 2)
    assert await broker.documents("j") == [{"n": 1}]
    assert (await broker.job("j"))["status"] == "completed"


async def test_who_was_superseded_changes_nothing_but_its_news_are_kept(broker: Broker, home: House) -> None:
    await broker.submit(job_id="j")
    old = await broker.take()
    await run_out(home, old)
    new = await broker.take()

    told = await broker.bring(chunk(old, "p1", {"n": 1}), last(old))
    await broker.bring(chunk(new, "p1", {"n": 1}), last(new))

    assert (new["task"]["attempt"], new["task"]["fence"]) == (1, 2)
    assert [(one["verdict"], one["detail"]) for one in told] == [("superseded", "kept"), ("superseded", None)]
    assert await broker.documents("j") == [{"n": 1}]
    assert (await broker.job("j"))["status"] == "completed"


async def run_out(home: House, lease: dict[str, object]) -> None:
    """As if its worker had been silent for too long."""
    home.database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' WHERE kind = 'task'")
    home.database.run("UPDATE task SET back_at = clock_timestamp() - interval '1 second' WHERE back_at IS NOT NULL")


async def test_three_lost_workers_are_enough(broker: Broker, home: House) -> None:
    await broker.submit(job_id="j")

    for _ in range(3):
        await run_out(home, await broker.take())
    empty = await broker.offer()

    job = await broker.job("j")
    assert empty["leases"] == []
    assert (job["status"], job["sub_status"], job["attempt"]) == ("failed", "worker_lost", 1)
    assert [letter["reason"] for letter in await broker.dead()] == ["worker_lost"]


async def test_an_attempt_that_was_never_given_out_is_invalid(broker: Broker) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take()
    from_nowhere = {**last(lease), "fence": 7}
    of_nobody = {**last(lease), "job_id": "other"}
    of_another_kind = {**last(lease), "task_type": "search"}

    told = await broker.bring(from_nowhere, of_nobody, of_another_kind, {"job_id": "j"}, "not a message")

    assert [one["verdict"] for one in told] == ["invalid"] * 5
    assert (await broker.job("j"))["status"] == "dispatched"


async def test_completion_waits_for_every_message_that_was_counted(broker: Broker) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take()

    await broker.bring(chunk(lease, "p1", {"n": 1}, seq=1), last(lease, seq=3))
    incomplete = await broker.job("j")
    late = await broker.verdicts(chunk(lease, "p2", {"n": 2}, seq=2))
    complete = await broker.job("j")

    assert (incomplete["status"], incomplete["sub_status"]) == ("processing", "incomplete")
    assert late == ["accepted"]
    assert (complete["status"], complete["result_count"]) == ("completed", 2)


async def test_messages_that_never_come_cost_a_worker(broker: Broker, home: House) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take()
    await broker.bring(last(lease, seq=2))

    home.database.run("UPDATE task SET back_at = clock_timestamp() - interval '1 second' WHERE back_at IS NOT NULL")
    again = await broker.take()

    assert again["task"]["fence"] == 2


async def test_a_final_result_ends_the_lease(broker: Broker) -> None:
    await broker.submit()
    lease = await broker.take()

    await broker.bring(last(lease, status="skipped"))
    beat = await broker.client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    released = await broker.client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "ok"})

    assert (beat.status_code, beat.json()["reason"]) == (410, "released")
    assert released.json()["already_released"] is True
    assert (await broker.job(lease["task"]["job_id"]))["status"] == "completed"


async def test_a_sign_of_life_renews(broker: Broker, home: House) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take(ttl_seconds=600)
    home.database.run("UPDATE lease SET expires_at = clock_timestamp() + interval '5 seconds'")

    await broker.bring(result(lease, status="progress"))

    left = home.database.rows("SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM lease")[0][0]
    assert left > 500
    assert (await broker.job("j"))["status"] == "processing"


async def test_a_task_that_is_given_back_goes_to_another(broker: Broker) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take()

    back = await broker.client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "returned"})
    again = await broker.take()

    assert back.json()["resource"]["status"] == "pending"
    assert (again["task"]["attempt"], again["task"]["fence"]) == (1, 2)


async def test_a_heartbeat_says_whether_the_task_is_still_wanted(broker: Broker, database: TestDatabase) -> None:
    await broker.submit(job_id="wanted")
    lease = await broker.take()
    wanted = await broker.client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    await broker.client.post("/v2/jobs/wanted/cancel")
    in_hand = database.rows("SELECT count(*) FROM task WHERE lease IS NOT NULL")
    back = await broker.client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "returned"})

    assert wanted.json()["cancel"] is False
    assert in_hand == [(1,)]
    assert (back.status_code, back.json()["resource"]["status"]) == (200, "cancelled")
    assert database.rows("SELECT count(*) FROM task WHERE lease IS NOT NULL") == [(0,)]


async def test_what_was_cancelled_and_is_retried_is_nobodys_any_more(broker: Broker) -> None:
    await broker.submit(job_id="one")
    old = await broker.take()
    await broker.client.post("/v2/jobs/one/cancel")

    await broker.client.post("/v2/jobs/one/retry")
    beat = await broker.client.post(f"/v2/leases/{old['id']}/heartbeat", json={})
    new = await broker.take()

    assert beat.status_code == 410
    assert new["task"]["fence"] > old["task"]["fence"]
    assert await broker.verdicts(last(new)) == ["accepted"]


async def test_a_worker_that_never_hears_of_a_cancel_is_no_loss(
    home: House, broker: Broker, database: TestDatabase
) -> None:
    await broker.submit(job_id="one")
    await broker.take()
    await broker.client.post("/v2/jobs/one/cancel")
    database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second'")
    database.run("UPDATE task SET back_at = clock_timestamp() - interval '1 second'")

    await home.app.state.jobs.reap([database.rows("SELECT id FROM organisation")[0][0]])

    job = await broker.job("one")
    assert (job["status"], job["parts"][0]["losses"]) == ("cancelled", 0)
    assert database.rows("SELECT count(*) FROM task WHERE lease IS NOT NULL") == [(0,)]


async def test_cancel_wins(broker: Broker) -> None:
    await broker.submit(job_id="waiting")
    await broker.client.post("/v2/jobs/waiting/cancel")
    await broker.submit(job_id="running")
    lease = await broker.take()

    cancelled = await broker.client.post("/v2/jobs/running/cancel")
    beat = await broker.client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    verdicts = await broker.verdicts(last(lease))
    after = await broker.client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    twice = await broker.client.post("/v2/jobs/running/cancel")

    assert cancelled.json()["status"] == "cancelled"
    assert (beat.status_code, beat.json()["cancel"]) == (200, True)
    assert verdicts == ["duplicate"]
    assert (after.status_code, after.json()["reason"]) == (410, "released")
    assert (twice.status_code, twice.json()["status_now"]) == (409, "cancelled")
    assert (await broker.offer())["leases"] == []
    assert (await broker.books())["alpha"] | {"cancelled": 2, "live": 0} == (await broker.books())["alpha"]


async def test_what_failed_can_be_tried_again(broker: Broker) -> None:
    await broker.submit(job_id="j", max_attempts=1)
    await broker.bring(failed(await broker.take(), "timeout"))

    retried = await broker.client.post("/v2/jobs/j/retry")
    lease = await broker.take()
    await broker.bring(last(lease))
    done = await broker.client.post("/v2/jobs/j/retry")

    assert retried.json()["status"] == "pending"
    assert lease["task"]["attempt"] == 2
    assert done.status_code == 409


async def test_a_deadline_ends_what_has_not_ended(broker: Broker, home: House) -> None:
    await broker.submit(job_id="j", deadline_seconds=1)
    home.database.run("UPDATE task SET deadline_at = clock_timestamp() - interval '1 second'")

    none = await broker.offer()
    await home.app.state.jobs.reap([row[0] for row in home.database.rows("SELECT id FROM organisation")])

    assert none["leases"] == []
    assert (await broker.job("j"))["status"] == "timed_out"
    assert [letter["reason"] for letter in await broker.dead()] == ["timed_out"]


@pytest.mark.parametrize(
    ("alpha", "beta", "whole"),
    [("ok", "ok", "completed"), ("ok", "not_found", "partial"), ("not_found", "not_found", "failed")],
)
async def test_a_job_for_several_platforms_ends_as_its_parts_say(
    broker: Broker, alpha: str, beta: str, whole: str
) -> None:
    job = await broker.submit(["alpha", "beta"], job_id="both")

    for slug, end in (("alpha", alpha), ("beta", beta)):
        lease = await broker.take(slug)
        await broker.bring(last(lease) if end == "ok" else failed(lease, end))
        between = await broker.job("both")

    assert [part["platform"] for part in job["parts"]] == ["alpha", "beta"]
    assert between["status"] == whole


async def test_a_paused_platform_begins_nothing(broker: Broker) -> None:
    await broker.submit()

    paused = await broker.client.post("/v2/platforms/alpha/pause", json={"reason": "They call."})
    none = await broker.offer()
    await broker.client.post("/v2/platforms/alpha/resume")

    assert (paused.json()["paused"], paused.json()["pause_reason"]) == (True, "They call.")
    assert none["waiting"]["reason"] == "paused"
    assert len((await broker.offer())["leases"]) == 1


async def test_a_platform_there_is_not_has_no_tasks(broker: Broker) -> None:
    answer = await broker.client.post("/v2/tasks/acquire", json={"owner": "w", "platforms": ["alpha", "nowhere"]})

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/platform-unknown")


async def test_explain_says_what_a_job_waits_for(broker: Broker, home: House, folder: Path) -> None:
    (folder / "alpha.yaml").write_text(platform("alpha", concurrency=1))
    home.app.state.jobs.catalogue.reload()
    for job in ("first", "second", "third"):
        await broker.submit(job_id=job)

    async def reason(job: str) -> tuple[str, int | None]:
        (part,) = (await broker.client.get(f"/v2/jobs/{job}/explain")).json()["parts"]
        return part["reason"], part["position"]

    before = [await reason(job) for job in ("first", "second")]
    await broker.take()
    after = [await reason(job) for job in ("first", "third")]

    assert before == [("no_worker", 1), ("queued", 2)]
    assert after == [("running", None), ("at_limit", 2)]


async def test_explain_says_when_a_rest_is_over(broker: Broker, home: House, folder: Path) -> None:
    (folder / "alpha.yaml").write_text(platform("alpha", wait=200))
    home.app.state.jobs.catalogue.reload()
    await broker.submit(job_id="j")
    await broker.bring(failed(await broker.take(), "timeout"))

    resting = (await broker.client.get("/v2/jobs/j/explain")).json()["parts"][0]
    home.database.run("UPDATE task SET not_before = clock_timestamp()")
    rested = (await broker.client.get("/v2/jobs/j/explain")).json()["parts"][0]

    assert (resting["reason"], rested["reason"]) == ("resting", "no_worker")
    assert (resting["next_at"] is None, rested["next_at"] is None) == (False, True)


async def test_jobs_are_listed_page_by_page_and_filtered(broker: Broker) -> None:
    for n in range(5):
        await broker.submit(job_id=f"j{n}")
    await broker.submit("beta", job_id="other")
    await broker.bring(last(await broker.take()))

    first = (await broker.client.get("/v2/jobs?limit=4")).json()
    second = (await broker.client.get(f"/v2/jobs?limit=4&cursor={first['next_cursor']}")).json()
    filtered = (await broker.client.get("/v2/jobs?platform=alpha&status=completed")).json()

    assert [one["id"] for one in first["items"] + second["items"]] == ["other", "j4", "j3", "j2", "j1", "j0"]
    assert [one["id"] for one in filtered["items"]] == ["j0"]


async def test_a_platform_tells_what_can_be_asked_of_it(broker: Broker) -> None:
    listed = (await broker.client.get("/v2/platforms")).json()["items"]
    one = (await broker.client.get("/v2/platforms/alpha")).json()

    assert [platform["platform"] for platform in listed] == ["alpha", "beta"]
    assert one["task_types"]["page"]["example"] == {"page": "front"}
    assert one["task_types"]["page"]["schema"]["required"] == ["page"]
    assert (await broker.client.get("/v2/platforms/nowhere")).status_code == 404


async def test_a_repeated_acquire_is_told_of_the_same_tasks(broker: Broker) -> None:
    await broker.submit()
    await broker.submit()
    ask = {"owner": "w", "platforms": ["alpha"]}

    answers = [
        (await broker.client.post("/v2/tasks/acquire", json=ask, headers={"Idempotency-Key": "k"})).json()
        for _ in range(2)
    ]

    assert answers[0]["leases"][0]["id"] == answers[1]["leases"][0]["id"]


async def test_organisations_share_a_platform_and_know_nothing_of_each_other(broker: Broker, home: House) -> None:
    other = Broker(await home.caller(organisation="other"))
    for _ in range(10):
        await broker.submit()
        await other.submit(job_id=None)

    mine = (await broker.offer(limit=10))["leases"]
    theirs = (await other.offer(limit=10))["leases"]

    assert (len(mine), len(theirs)) == (5, 5)
    assert (await other.client.get(f"/v2/jobs/{mine[0]['task']['job_id']}")).status_code == 404


async def test_many_are_taken_in_at_once_and_each_is_told(broker: Broker) -> None:
    good = {"platform": "alpha", "task_type": "page", "payload": {"page": "front"}}
    items = [
        {**good, "job_id": "a"},
        {**good, "platform": "nowhere"},
        {**good, "job_id": "a", "priority": 9},
        {"platform": "alpha"},
        {**good, "platform": ["alpha", "beta"]},
    ]

    answer = await broker.client.post("/v2/jobs/batch", json={"items": items})
    told = answer.json()["items"]

    assert answer.status_code == 202
    assert [(one["job_id"] is not None, one["created"]) for one in told] == [
        (True, True),
        (False, False),
        (True, False),
        (False, False),
        (True, True),
    ]
    assert told[1]["errors"][0]["pointer"] == "/platform"
    assert {one["pointer"] for one in told[3]["errors"]} == {"/task_type", "/payload"}
    assert (await broker.job("a"))["priority"] == 4
    assert [one["event"] for one in (await broker.job(told[4]["job_id"]))["history"]] == ["accepted", "accepted"]
    assert len((await broker.offer("alpha", "beta", limit=10))["leases"]) == 3


async def test_a_repeat_under_its_key_is_no_second_job(broker: Broker) -> None:
    ask = {"platform": "alpha", "task_type": "page", "payload": {"page": "front"}}
    headers = {"Idempotency-Key": "k"}

    first, again = [await broker.client.post("/v2/jobs", json=ask, headers=headers) for _ in range(2)]
    other = await broker.client.post("/v2/jobs", json={**ask, "priority": 9}, headers=headers)

    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["id"] == again.json()["id"]
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-mismatch")
    assert len((await broker.client.get("/v2/jobs")).json()["items"]) == 1


async def test_a_repeated_batch_is_told_of_the_same_jobs(broker: Broker) -> None:
    good = {"platform": "alpha", "task_type": "page", "payload": {"page": "front"}}
    await broker.submit(job_id="there-1")
    batch = {"items": [good, {**good, "platform": "nowhere"}, {**good, "job_id": "there-1"}, good]}
    headers = {"Idempotency-Key": "k"}

    first, again = [await broker.client.post("/v2/jobs/batch", json=batch, headers=headers) for _ in range(2)]
    other = await broker.client.post("/v2/jobs/batch", json={"items": [good]}, headers=headers)

    assert [one["created"] for one in first.json()["items"]] == [True, False, False, True]
    assert again.json() == first.json()
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-mismatch")
    assert len((await broker.client.get("/v2/jobs")).json()["items"]) == 3


async def test_a_batch_that_came_to_nothing_may_come_again_under_its_key(broker: Broker) -> None:
    bad = {"platform": "nowhere", "task_type": "page", "payload": {"page": "front"}}
    headers = {"Idempotency-Key": "k"}

    await broker.client.post("/v2/jobs/batch", json={"items": [bad]}, headers=headers)
    after = await broker.client.post("/v2/jobs/batch", json={"items": [{**bad, "platform": "alpha"}]}, headers=headers)

    assert [one["created"] for one in after.json()["items"]] == [True]


async def test_the_newest_of_a_long_history_is_shown_in_its_order(broker: Broker, home: House) -> None:
    await broker.submit(job_id="j")
    home.database.run(
        "INSERT INTO task_event (id, organisation, task, at, event, attempt, fence)"
        " SELECT gen_random_uuid(), t.organisation, t.id, t.created_at + n * interval '1 minute', 'e' || n, 1, 0"
        " FROM task t CROSS JOIN generate_series(1, 1100) AS n"
    )

    told = [one["event"] for one in (await broker.job("j"))["history"]]

    assert told == [f"e{n}" for n in range(101, 1101)]


async def test_what_is_tried_again_says_until_when(broker: Broker, home: House) -> None:
    await broker.submit(job_id="j", deadline_seconds=1)
    home.database.run("UPDATE task SET deadline_at = clock_timestamp() - interval '1 second'")
    await home.app.state.jobs.reap([row[0] for row in home.database.rows("SELECT id FROM organisation")])
    before = await broker.job("j")

    after = (await broker.client.post("/v2/jobs/j/retry")).json()

    assert (before["status"], after["status"]) == ("timed_out", "pending")
    assert after["deadline_at"] == after["parts"][0]["deadline_at"] > before["deadline_at"]
