"""Replaying dead letters over HTTP: what is tried again, what is not and why, at which rate, and how it is stopped."""

import asyncio
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from leasehold.app import edged
from tests.jobs.conftest import platform
from tests.parts.broker import Broker, chunk, failed, last
from tests.parts.house import House

JSON = dict[str, Any]
REPLAY = "/v2/jobs/dead-letters/replay"


async def replay(broker: Broker, key: str | None = None, **wish: Any) -> JSON:
    headers = {"Idempotency-Key": key} if key else {}
    answer = await broker.client.post(REPLAY, json=wish, headers=headers)
    assert answer.status_code == 200, answer.text
    found: JSON = answer.json()
    return found


# Whoever waits for a lock.
WAITING = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


async def stop(broker: Broker, outcome: JSON) -> JSON:
    answer = await broker.client.post(f"{REPLAY}/stop", json={"replay": outcome["replay"]})
    assert answer.status_code == 200, answer.text
    found: JSON = answer.json()
    return found


async def die(broker: Broker, *jobs: str, code: str = "not_found", slug: str = "alpha") -> list[str]:
    """Jobs that fail for good; returns their letters, in the same order."""
    for job in jobs:
        await broker.submit(slug, job_id=job)
        await broker.bring(failed(await broker.take(slug), code))
    letters = {letter["job_id"]: letter["id"] for letter in await broker.dead()}
    return [letters[job] for job in jobs]


def refused(home: House, payload: JSON, reason: str = "invalid") -> str:
    """A request that was refused on its way in; returns its letter."""
    home.database.run(
        "INSERT INTO dead_letter (id, organisation, reason, payload)"
        " SELECT gen_random_uuid(), id, %s, %s FROM organisation WHERE slug = 'default'",
        reason,
        Jsonb(payload),
    )
    ((id_,),) = home.database.rows("SELECT id FROM dead_letter ORDER BY at DESC, id LIMIT 1")
    return f"dead_{id_.hex}"


def refused_many(home: House, count: int) -> None:
    """Good requests that were refused all the same, each a moment after the one before."""
    home.database.run(
        "INSERT INTO dead_letter (id, organisation, at, reason, payload)"
        " SELECT gen_random_uuid(), o.id, clock_timestamp() - interval '1 hour' + n * interval '1 ms', 'invalid',"
        " jsonb_build_object('platform', 'alpha', 'task_type', 'page', 'payload', jsonb_build_object('page', n::text))"
        " FROM organisation o, generate_series(1, %s) AS n WHERE o.slug = 'default'",
        count,
    )


# A letter of the second batch.
HOLD = "SELECT FROM dead_letter WHERE id = (SELECT id FROM dead_letter ORDER BY at, id OFFSET 250 LIMIT 1) FOR UPDATE"


async def first_batch(broker: Broker) -> str:
    """Wait until the first batch of a replay is done; returns the replay's id."""
    async with asyncio.timeout(20):
        while not (begun := [one["id"] for one in await replays(broker) if one["replayed"]]):
            await asyncio.sleep(0.05)
    found: str = begun[0]
    return found


async def replays(broker: Broker) -> list[JSON]:
    items: list[JSON] = (await broker.client.get("/v2/jobs/dead-letters/replays")).json()["items"]
    return items


async def test_a_task_that_failed_gets_another_attempt(broker: Broker) -> None:
    (letter,) = await die(broker, "j")

    done = await replay(broker, ids=[letter])

    again = await broker.take()
    await broker.bring(last(again))
    job = await broker.job("j")
    assert (done["dry_run"], done["matched"], done["replayed"], done["skipped"]) == (False, 1, 1, [])
    assert done["items"] == [{"id": letter, "job_id": "j", "what": "retried"}]
    assert (again["task"]["attempt"], again["task"]["fence"], again["task"]["retry"]) == (2, 2, True)
    assert job["status"] == "completed"
    assert [one["event"] for one in job["history"]] == [
        "accepted",
        "dispatched",
        "failed",
        "replayed",
        "dispatched",
        "completed",
    ]
    assert (await broker.dead())[0]["replayed_at"] is not None
    assert (await broker.books())["alpha"]["unaccounted"] == 0


async def test_only_the_part_of_the_letter_is_tried_again(broker: Broker) -> None:
    await broker.submit(["alpha", "beta"], job_id="two")
    await broker.bring(failed(await broker.take("alpha"), "not_found"), failed(await broker.take("beta"), "not_found"))
    (beta,) = [letter["id"] for letter in await broker.dead() if letter["platform"] == "beta"]

    await replay(broker, ids=[beta])

    parts = {part["platform"]: part["status"] for part in (await broker.job("two"))["parts"]}
    assert parts == {"alpha": "failed", "beta": "pending"}


async def test_a_job_that_missed_its_deadline_has_time_again(broker: Broker, home: House) -> None:
    await broker.submit(job_id="late")
    home.database.run("UPDATE task SET deadline_at = clock_timestamp() - interval '1 second'")
    await home.app.state.jobs.reap([row[0] for row in home.database.rows("SELECT id FROM organisation")])
    assert (await broker.job("late"))["status"] == "timed_out"

    await replay(broker, filter={"reason": "timed_out"})

    assert (await broker.take())["task"]["job_id"] == "late"


async def test_who_has_no_attempt_left_gets_one(broker: Broker) -> None:
    await broker.submit(job_id="worn-out", max_attempts=1)
    await broker.bring(failed(await broker.take(), "timeout"))

    await replay(broker, filter={"reason": "attempts_exhausted"})
    again = await broker.take()
    job = await broker.job("worn-out")
    await broker.bring(failed(again, "timeout"))

    assert (job["attempt"], job["max_attempts"]) == (2, 2)
    assert [letter["attempt"] for letter in await broker.dead()] == [2, 1]


async def test_workers_that_were_lost_before_do_not_count_any_more(broker: Broker, home: House) -> None:
    (letter,) = await die(broker, "lost")
    home.database.run("UPDATE task SET losses = 2")

    await replay(broker, ids=[letter])

    assert (await broker.job("lost"))["parts"][0]["losses"] == 0


async def test_a_dry_run_says_the_same_and_changes_nothing(broker: Broker, home: House) -> None:
    first, second = await die(broker, "a", "b")
    refused(home, {"platform": "alpha", "task_type": "page", "payload": {"page": "x"}})
    await broker.client.post("/v2/jobs/a/retry")

    tried = await replay(broker, filter={}, dry_run=True)
    before = await broker.job("b")
    done = await replay(broker, filter={})

    assert (tried["dry_run"], tried["replay"], tried["matched"], tried["replayed"]) == (True, None, 3, 2)
    assert [one["what"] for one in tried["items"]] == [one["what"] for one in done["items"]] == ["retried", "submitted"]
    assert tried["skipped"] == done["skipped"] == [{"id": first, "detail": "It is being tried again already."}]
    assert (before["status"], done["items"][0]["id"]) == ("failed", second)
    assert len(await replays(broker)) == 1


async def test_a_letter_is_replayed_once_unless_it_is_said(broker: Broker) -> None:
    (letter,) = await die(broker, "j")
    await replay(broker, ids=[letter])
    await broker.bring(failed(await broker.take(), "not_found"))

    once = await replay(broker, ids=[letter])
    by_filter = await replay(broker, filter={"before": (await broker.dead())[0]["at"]})
    again = await replay(broker, ids=[letter], again=True)

    assert once["skipped"] == [{"id": letter, "detail": "It was replayed already."}]
    assert (by_filter["matched"], by_filter["replay"]) == (0, None)
    assert again["replayed"] == 1


async def test_two_letters_of_one_task_make_one_attempt(broker: Broker) -> None:
    (first,) = await die(broker, "j")
    await broker.client.post("/v2/jobs/j/retry")
    await broker.bring(failed(await broker.take(), "not_found"))

    done = await replay(broker, filter={})

    assert (done["matched"], done["replayed"], done["items"][0]["id"]) == (2, 1, first)
    assert done["skipped"][0]["detail"] == "It is being tried again already."
    assert len((await broker.offer(limit=10))["leases"]) == 1


@pytest.mark.parametrize("status", ["completed", "cancelled"])
async def test_what_ended_otherwise_since_is_left_alone(broker: Broker, status: str) -> None:
    (letter,) = await die(broker, "j")
    await broker.client.post("/v2/jobs/j/retry")
    if status == "completed":
        await broker.bring(last(await broker.take()))
    else:
        await broker.client.post("/v2/jobs/j/cancel")

    done = await replay(broker, ids=[letter])

    assert done["skipped"] == [{"id": letter, "detail": f"It was {status} since."}]
    assert (await broker.job("j"))["status"] == status


async def test_a_refused_result_cannot_be_replayed_and_says_so(broker: Broker) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take()
    await broker.bring(chunk(lease, "p1", {"n": 1}), chunk(lease, "p1", {"n": 2}), failed(lease, "not_found"))

    done = await replay(broker, filter={"reason": "conflict"})

    assert (done["matched"], done["replayed"]) == (1, 0)
    assert "cannot be tried again" in done["skipped"][0]["detail"]
    assert (await broker.job("j"))["status"] == "failed"


async def test_a_platform_that_is_gone_is_said(broker: Broker, home: House, folder: Path) -> None:
    await die(broker, "j")
    (folder / "alpha.yaml").unlink()
    home.app.state.jobs.catalogue.reload()

    done = await replay(broker, filter={})

    assert done["skipped"][0]["detail"] == "There is no platform alpha any more."


async def test_a_request_that_was_refused_is_sent_again_as_it_is(broker: Broker, home: House, folder: Path) -> None:
    request = {"platform": "gamma", "task_type": "page", "payload": {"page": "x"}, "job_id": "theirs", "priority": 7}
    letter = refused(home, request, "unroutable")
    still = await replay(broker, filter={})
    (folder / "gamma.yaml").write_text(platform("gamma"))
    home.app.state.jobs.catalogue.reload()

    done = await replay(broker, filter={"reason": "unroutable"})

    job = await broker.job("theirs")
    assert still["skipped"][0]["id"] == letter
    assert "refused again. /platform" in still["skipped"][0]["detail"]
    assert done["items"] == [{"id": letter, "job_id": "theirs", "what": "submitted"}]
    assert (job["status"], job["priority"], job["payload"]) == ("pending", 7, {"page": "x"})
    assert (await broker.take("gamma"))["task"]["job_id"] == "theirs"


@pytest.mark.parametrize(
    ("payload", "where"),
    [
        ({"raw": "no JSON"}, "/platform"),
        ({"platform": "alpha", "task_type": "page", "payload": {}}, "/payload"),
        ({"platform": "alpha", "task_type": "page", "payload": {"page": "x"}, "priority": 99}, "/priority"),
    ],
)
async def test_what_is_refused_again_is_said(broker: Broker, home: House, payload: JSON, where: str) -> None:
    refused(home, payload)

    done = await replay(broker, filter={"reason": "invalid"})

    assert done["skipped"][0]["detail"].startswith(f"It is refused again. {where}")
    assert (await broker.dead())[0]["replayed_at"] is None


async def test_a_request_does_not_take_the_place_of_a_job(broker: Broker, home: House) -> None:
    await broker.submit(job_id="taken")
    for page in ("a", "b"):
        refused(home, {"platform": "alpha", "task_type": "page", "payload": {"page": page}, "job_id": "taken"})
    for page in ("a", "b"):
        refused(home, {"platform": "alpha", "task_type": "page", "payload": {"page": page}, "job_id": "twin"})

    tried = await replay(broker, filter={}, dry_run=True)
    done = await replay(broker, filter={})

    assert (tried["items"], tried["skipped"]) == (done["items"], done["skipped"])
    assert [one["job_id"] for one in done["items"]] == ["twin"]
    assert {one["detail"] for one in done["skipped"]} == {"There is a job of this id already."}
    assert len(done["skipped"]) == 3


async def test_a_filter_means_what_fits_all_of_it(broker: Broker) -> None:
    await die(broker, "a", code="not_found")
    await die(broker, "b", code="gone")
    await die(broker, "c", slug="beta")
    times = {letter["job_id"]: letter["at"] for letter in await broker.dead()}

    def matched(**which: str) -> Any:
        return replay(broker, filter=which, dry_run=True)

    assert [one["job_id"] for one in (await matched(reason="gone"))["items"]] == ["b"]
    assert [one["job_id"] for one in (await matched(platform="alpha"))["items"]] == ["a", "b"]
    assert [one["job_id"] for one in (await matched(after=times["b"]))["items"]] == ["b", "c"]
    assert [one["job_id"] for one in (await matched(before=times["b"]))["items"]] == ["a"]
    assert (await matched(platform="beta", reason="gone"))["matched"] == 0


async def test_more_than_the_limit_is_left_and_counted(broker: Broker) -> None:
    await die(broker, "a", "b", "c")

    done = await replay(broker, filter={}, limit=2)
    rest = await replay(broker, filter={})

    assert (done["matched"], done["left"], [one["job_id"] for one in done["items"]]) == (3, 1, ["a", "b"])
    assert [one["job_id"] for one in rest["items"]] == ["c"]


async def test_many_go_in_batches_and_each_once(broker: Broker, home: House) -> None:
    await die(broker, "first")
    refused_many(home, 450)

    done = await replay(broker, filter={})

    assert (done["matched"], done["replayed"], done["left"]) == (451, 451, 0)
    assert len({one["job_id"] for one in done["items"]}) == 451
    assert (await broker.books())["alpha"]["live"] == 451


async def test_a_rate_holds_over_all_batches(broker: Broker, home: House) -> None:
    refused_many(home, 401)

    await replay(broker, filter={}, rate_per_second=1)

    ((between,),) = home.database.rows("SELECT extract(epoch FROM max(not_before) - min(not_before))::float8 FROM task")
    assert between == pytest.approx(400, abs=10)


async def test_at_a_rate_they_begin_one_after_the_other(broker: Broker) -> None:
    await die(broker, "a", "b", "c")

    await replay(broker, filter={}, rate_per_second=0.01)

    jobs = [await broker.job(job) for job in "abc"]
    first, second, third = (job["not_before"] for job in jobs)
    assert first < second < third
    assert [lease["task"]["job_id"] for lease in (await broker.offer(limit=10))["leases"]] == ["a"]
    assert jobs[2]["parts"][0]["deadline_at"] > jobs[0]["parts"][0]["deadline_at"]
    between = datetime.fromisoformat(third) - datetime.fromisoformat(second)
    assert between.total_seconds() == pytest.approx(100, abs=1)


async def test_what_rests_reaches_a_worker_that_waits(broker: Broker) -> None:
    await die(broker, "a", "b")
    waiting = asyncio.create_task(broker.take(wait_seconds=20))
    await asyncio.sleep(0.2)

    await replay(broker, filter={}, rate_per_second=2)

    assert (await asyncio.wait_for(waiting, 15))["task"]["job_id"] == "a"
    assert (await asyncio.wait_for(broker.take(wait_seconds=20), 15))["task"]["job_id"] == "b"


async def test_a_stop_puts_back_what_has_not_begun(broker: Broker, home: House) -> None:
    letters = await die(broker, "a", "b")
    new = refused(home, {"platform": "alpha", "task_type": "page", "payload": {"page": "x"}, "job_id": "new"})
    done = await replay(broker, filter={}, rate_per_second=0.01)
    begun = await broker.take()

    stopped = await stop(broker, done)

    jobs = {job: await broker.job(job) for job in ("a", "b", "new")}
    by_id = {letter["id"]: letter["replayed_at"] for letter in await broker.dead()}
    assert (stopped["stopped"], stopped["replayed"]) == (2, 3)
    assert (begun["task"]["job_id"], jobs["a"]["status"]) == ("a", "dispatched")
    assert (jobs["b"]["status"], jobs["b"]["sub_status"], jobs["b"]["attempt"]) == ("failed", "not_found", 1)
    assert jobs["b"]["history"][-1]["event"] == "stopped"
    assert jobs["new"]["status"] == "cancelled"
    assert (by_id[letters[1]], by_id[letters[0]] is None, by_id[new] is None) == (None, False, False)
    assert (await broker.books())["alpha"]["unaccounted"] == 0
    assert (await replay(broker, filter={}))["items"][0]["job_id"] == "b"


async def test_a_stop_leaves_a_missed_deadline_as_that(broker: Broker, home: House) -> None:
    await broker.submit(job_id="late")
    home.database.run("UPDATE task SET deadline_at = clock_timestamp() - interval '1 second'")
    await home.app.state.jobs.reap([row[0] for row in home.database.rows("SELECT id FROM organisation")])

    await stop(broker, await replay(broker, filter={}))

    assert ((await broker.job("late"))["status"], (await broker.books())["alpha"]["timed_out"]) == ("timed_out", 1)


async def test_a_stop_waits_for_a_replay_that_holds_its_letters(broker: Broker, home: House) -> None:
    (letter,) = await die(broker, "j")
    done = await replay(broker, ids=[letter], rate_per_second=0.01)
    with home.database.connect() as other, other.transaction():
        other.execute("SELECT FROM dead_letter FOR UPDATE")  # as a replay begins: letters first
        stopping = asyncio.create_task(stop(broker, done))
        await asyncio.sleep(0.3)
        other.execute("SET LOCAL lock_timeout = '2s'")
        other.execute("SELECT FROM task FOR UPDATE")

    assert (await stopping)["stopped"] == 1


async def test_a_stop_leaves_what_failed_again_by_itself(broker: Broker) -> None:
    await die(broker, "a")
    done = await replay(broker, filter={})
    await broker.bring(failed(await broker.take(), "rate_limited"))

    stopped = await stop(broker, done)

    assert (stopped["stopped"], (await broker.job("a"))["sub_status"]) == (0, "retrying")


async def test_a_replay_that_was_stopped_goes_no_further(broker: Broker, home: House) -> None:
    refused_many(home, 450)
    with home.database.connect() as other, other.transaction():
        other.execute(HOLD)
        running = asyncio.create_task(replay(broker, filter={}))
        stopping = asyncio.create_task(stop(broker, {"replay": await first_batch(broker)}))
        async with asyncio.timeout(20):
            while len(home.database.rows(WAITING)) < 2:  # the batch for us, and who stops it for the batch
                await asyncio.sleep(0.02)
    done, stopped = await running, await stopping

    # The batch that was under way is whole, and was put back with the one before.
    assert (done["matched"], done["replayed"], done["stopped"], stopped["stopped"]) == (450, 400, True, 400)
    assert (await broker.books())["alpha"]["live"] == 0


async def test_who_hangs_up_stops_it_between_batches(broker: Broker, home: House) -> None:
    refused_many(home, 450)
    gone = asyncio.Event()
    with home.database.connect() as other, other.transaction():
        other.execute(HOLD)
        running = asyncio.create_task(hang_up(home, broker, {"filter": {}}, gone))
        await first_batch(broker)
        gone.set()
        await asyncio.wait({running}, timeout=2)
    await asyncio.wait({running}, timeout=20)

    (found,) = await replays(broker)
    assert (found["matched"], found["replayed"], found["ended_at"]) == (450, 200, None)
    assert (await broker.books())["alpha"]["live"] == 200


async def hang_up(home: House, broker: Broker, body: JSON, gone: asyncio.Event) -> None:
    """Ask for a replay on a connection that ends when `gone` is set."""
    told = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> Any:
        if told:
            return told.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None: ...

    request = broker.client.build_request("POST", REPLAY, json=body)
    scope = {
        "type": "http",
        "method": "POST",
        "path": REPLAY,
        "raw_path": REPLAY.encode(),
        "query_string": b"",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 1),
        "server": ("leasehold", 80),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
        "asgi": {"version": "3.0"},
    }
    await edged(home.app)(scope, receive, send)


async def test_a_repeat_under_its_key_does_nothing_and_answers_the_same(broker: Broker) -> None:
    await die(broker, "a")
    await broker.submit(job_id="b")
    first = await replay(broker, "k", filter={})
    await broker.bring(failed(await broker.take(), "not_found"))

    again = await replay(broker, "k", filter={})
    other = await broker.client.post(REPLAY, json={"filter": {"platform": "x"}}, headers={"Idempotency-Key": "k"})
    nothing = [await replay(broker, "n", filter={"reason": reason}) for reason in ("none", "none", "other")]

    assert again == first
    assert other.json()["type"] == "/problems/idempotency-mismatch"
    assert [one["matched"] for one in nothing] == [0, 0, 0]
    assert len(await replays(broker)) == 1


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"ids": ["dead_1"], "filter": {}},
        {"ids": []},
        {"ids": ["x"] * 1001},
        {"filter": {"state": "x"}},
        {"filter": {}, "rate_per_second": -1},
        {"filter": {}, "limit": 0},
        {"filter": {"after": "2026-01-01T00:00:00"}},
    ],
)
async def test_a_wish_that_is_none_is_refused(broker: Broker, wish: JSON) -> None:
    answer = await broker.client.post(REPLAY, json=wish)

    assert answer.status_code == 422


async def test_letters_of_others_are_not_there(broker: Broker, home: House) -> None:
    (letter,) = await die(broker, "j")
    done = await replay(broker, ids=[letter], rate_per_second=0.001)
    stranger = Broker(await home.caller(organisation="strangers"))

    named = await replay(stranger, ids=[letter, "dead_nonsense", letter])
    everything = await replay(stranger, filter={})
    stopping = await stranger.client.post(f"{REPLAY}/stop", json={"replay": done["replay"]})

    unknown = "No dead letter of your organisation has this id."
    assert named["skipped"] == [{"id": letter, "detail": unknown}, {"id": "dead_nonsense", "detail": unknown}]
    assert (named["matched"], everything["matched"], await replays(stranger)) == (0, 0, [])
    assert (stopping.status_code, stopping.json()["type"]) == (404, "/problems/replay-unknown")


async def test_a_replay_is_listed_with_what_waits_and_is_in_the_audit(broker: Broker) -> None:
    await die(broker, "a", "b")
    done = await replay(broker, filter={}, rate_per_second=0.01)
    await broker.take()

    (found,) = await replays(broker)
    await stop(broker, done)
    (after,) = await replays(broker)
    events = (await broker.client.get(f"/v2/audit?subject={done['replay']}")).json()["items"]

    assert (found["id"], found["matched"], found["replayed"], found["waiting"]) == (done["replay"], 2, 2, 1)
    assert found["last_at"] > found["at"]
    assert (after["waiting"], after["stopped_at"] is not None) == (0, True)
    assert sorted(event["action"] for event in events) == ["dead_letters.replayed", "replay.stopped"]


async def test_letters_are_counted_by_reason_and_listed_by_whether_they_were_replayed(broker: Broker) -> None:
    letter, _ = await die(broker, "a", "b")
    await die(broker, "c", code="gone", slug="beta")
    await replay(broker, ids=[letter])

    async def ask(path: str) -> list[JSON]:
        items: list[JSON] = (await broker.client.get(f"/v2/jobs/dead-letters{path}")).json()["items"]
        return items

    counted = [(one["platform"], one["reason"], one["total"], one["open"]) for one in await ask("/counts")]
    assert counted == [("alpha", "not_found", 2, 1), ("beta", "gone", 1, 1)]
    assert [one["reason"] for one in await ask("/counts?platform=beta")] == ["gone"]
    assert [one["job_id"] for one in await ask("?replayed=false")] == ["c", "b"]
    assert [one["job_id"] for one in await ask("?replayed=true")] == ["a"]


async def test_a_job_that_is_replayed_says_until_when(broker: Broker, home: House) -> None:
    (letter,) = await die(broker, "j")
    home.database.run("UPDATE task SET deadline_at = clock_timestamp() - interval '1 hour'")
    home.database.run("UPDATE job SET deadline_at = clock_timestamp() - interval '1 hour'")
    before = await broker.job("j")

    await replay(broker, ids=[letter])

    after = await broker.job("j")
    assert after["deadline_at"] == after["parts"][0]["deadline_at"] > before["deadline_at"]
