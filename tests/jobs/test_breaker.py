"""What keeps a platform from beginning tasks: its rate, its breaker; and canaries, snoozes and prices."""

from pathlib import Path
from typing import Any

from tests.jobs.conftest import change
from tests.parts.broker import JSON, Broker, chunk, failed, last
from tests.parts.house import House
from tests.parts.postgres import TestDatabase

BREAKER = "breaker: {percent: 80, at_least: 4, window_seconds: 60, probe_seconds: 600}\n"


async def many(broker: Broker, count: int, **more: Any) -> list[str]:
    return [(await broker.submit(**more))["id"] for _ in range(count)]


async def explained(broker: Broker, job: str) -> JSON:
    found: JSON = (await broker.client.get(f"/v2/jobs/{job}/explain")).json()["parts"][0]
    return found


async def breaker(broker: Broker) -> JSON:
    found: JSON = (await broker.client.get("/v2/platforms/alpha")).json()["breaker"]
    return found


async def test_no_more_tasks_begin_than_the_rate_allows(home: House, broker: Broker, folder: Path) -> None:
    change(home, folder, "", limits="{concurrency: 50, rate: {tasks: 3, per_seconds: 600.0, burst: 2}}")
    jobs = await many(broker, 4)

    first = await broker.offer(limit=10)
    second = await broker.offer(limit=10)

    assert len(first["leases"]) == 2
    assert (second["leases"], second["waiting"]["reason"]) == ([], "rate_limited")
    assert 150 < second["waiting"]["retry_after_seconds"] <= 200
    said = await explained(broker, jobs[-1])
    assert (said["reason"], said["next_at"] is not None) == ("rate_limited", True)
    assert (await broker.client.get("/v2/platforms/alpha")).json()["rate"]["burst"] == 2


async def test_a_rate_comes_back_with_time(home: House, broker: Broker, folder: Path) -> None:
    change(home, folder, "", limits="{concurrency: 50, rate: {tasks: 20, per_seconds: 1.0, burst: 1}}")
    await many(broker, 3)

    taken = [len((await broker.offer(limit=10, wait_seconds=5))["leases"]) for _ in range(3)]

    assert taken == [1, 1, 1]


async def test_the_breaker_opens_when_nearly_everything_fails_and_a_probe_closes_it(
    home: House, broker: Broker, folder: Path, database: TestDatabase
) -> None:
    change(home, folder, BREAKER)
    await many(broker, 8)
    leases = (await broker.offer(limit=5))["leases"]
    await broker.bring(last(leases[0]), *(failed(one, "timeout") for one in leases[1:]))
    opened = await breaker(broker)
    database.run("UPDATE platform_breaker SET probe_at = clock_timestamp()")

    probes = (await broker.offer(limit=10))["leases"]
    meanwhile = await broker.offer(limit=10)
    probed = await breaker(broker)
    await broker.bring(last(probes[0]))
    closed = await breaker(broker)
    rest = (await broker.offer(limit=10))["leases"]

    assert (opened["state"], opened["reason"]) == ("open", "4 of 5 attempts failed within 60 seconds")
    assert len(probes) == 1
    assert [(one["probing"], one["probes"]) for one in (opened, probed, closed)] == [(False, 0), (True, 1), (False, 0)]
    assert (meanwhile["leases"], meanwhile["waiting"]["reason"]) == ([], "paused")
    assert closed["state"] == "closed"
    assert len(rest) > 1


async def test_a_probe_that_fails_leaves_it_open_and_the_next_comes_later(
    home: House, broker: Broker, folder: Path, database: TestDatabase
) -> None:
    change(home, folder, BREAKER)
    await many(broker, 6)
    await broker.bring(*(failed(one, "timeout") for one in (await broker.offer(limit=4))["leases"]))
    database.run("UPDATE platform_breaker SET probe_at = clock_timestamp()")

    (probe,) = (await broker.offer(limit=10))["leases"]
    await broker.bring(failed(probe, "timeout"))

    assert (await breaker(broker))["state"] == "open"
    assert database.rows("SELECT probes FROM platform_breaker") == [(1,)]


async def test_failures_that_speak_of_what_was_asked_for_do_not_count(
    home: House, broker: Broker, folder: Path
) -> None:
    change(home, folder, BREAKER)
    await many(broker, 6)

    await broker.bring(*(failed(one, "not_found") for one in (await broker.offer(limit=6))["leases"]))

    assert (await breaker(broker))["state"] == "closed"


async def test_an_open_breaker_is_explained_and_an_operator_may_close_it(
    home: House, broker: Broker, folder: Path
) -> None:
    change(home, folder, BREAKER)
    jobs = await many(broker, 5)
    await broker.bring(*(failed(one, "timeout") for one in (await broker.offer(limit=4))["leases"]))

    waits = await explained(broker, jobs[-1])
    resumed = await broker.client.post("/v2/platforms/alpha/resume")
    audit = (await broker.client.get("/v2/audit", params={"subject": "alpha"})).json()["items"]

    assert (waits["reason"], waits["next_at"] is not None) == ("breaker_open", True)
    assert resumed.json()["breaker"]["state"] == "closed"
    assert {one["action"] for one in audit} >= {"platform.breaker_opened", "platform.breaker_closed"}
    assert len((await broker.offer(limit=10))["leases"]) >= 1


async def test_what_is_put_off_costs_no_attempt_and_not_for_ever(home: House, broker: Broker, folder: Path) -> None:
    change(home, folder, "", fatal="[not_found]\n  snooze: [no_account]\n  snoozes: 2")
    await broker.submit(job_id="one")
    for _ in range(3):
        await broker.bring(failed(await broker.take(), "no_account", retry_after_seconds=0))

    job = await broker.job("one")
    (letter,) = await broker.dead()

    assert (job["status"], job["attempt"], job["parts"][0]["snoozes"]) == ("failed", 1, 2)
    assert [one["event"] for one in job["history"]].count("snoozed") == 2
    assert letter["reason"] == "snoozes_exhausted"


async def test_what_the_platform_says_about_when_to_come_again_stands(broker: Broker, database: TestDatabase) -> None:
    await broker.submit(job_id="one")
    await broker.bring(failed(await broker.take(), "rate_limited", retry_after_seconds=120))

    (wait,) = database.rows("SELECT extract(epoch FROM not_before - clock_timestamp())::float8 FROM task")[0]

    assert 100 < wait <= 120


async def test_canaries_get_their_share_and_the_others_leave_it_to_them_for_a_while(
    home: House, broker: Broker, folder: Path, database: TestDatabase
) -> None:
    change(home, folder, "canary: {share: 0.5, patience_seconds: 600}\n", limits="{concurrency: 100}")
    for n in range(40):
        await broker.submit(job_id=f"j{n}")

    plain = {one["task"]["job_id"] for one in (await broker.offer(limit=100))["leases"]}
    bold = [one["task"]["job_id"] for one in (await broker.offer(limit=5, canary=True))["leases"]]
    database.run("UPDATE task SET created_at = created_at - interval '1 hour'")
    late = {one["task"]["job_id"] for one in (await broker.offer(limit=100))["leases"]}

    assert len(bold) == 5
    assert 8 <= len(plain) <= 32
    assert len(plain | set(bold) | late) == len(plain) + 5 + len(late) == 40


async def test_tasks_cost_what_they_say_or_what_the_price_of_their_day_is(
    home: House, broker: Broker, folder: Path
) -> None:
    prices = "prices: [{since: 2020-01-01, micros: 7, per: document}, {since: 2999-01-01, micros: 9}]\n"
    change(home, folder, prices)
    await broker.submit(job_id="priced")
    lease = await broker.take()
    first = chunk(lease, "p1", {"n": 1}, {"n": 2})

    await broker.bring(first, first, chunk(lease, "p2", {"n": 3}, metrics={"cost_micros": 100}), last(lease))
    platform = (await broker.client.get("/v2/platforms/alpha")).json()

    assert (await broker.job("priced"))["parts"][0]["cost_micros"] == 2 * 7 + 100
    assert platform["price_micros"] == 7


async def test_the_breaker_stays_closed_while_enough_succeeds(home: House, broker: Broker, folder: Path) -> None:
    change(home, folder, BREAKER)
    await many(broker, 5)
    leases = (await broker.offer(limit=5))["leases"]

    await broker.bring(last(leases[0]), last(leases[1]), *(failed(one, "timeout") for one in leases[2:]))

    assert (await breaker(broker))["state"] == "closed"


async def test_a_platform_says_what_its_file_says_and_how_it_went_lately(
    home: House, broker: Broker, folder: Path
) -> None:
    change(home, folder, BREAKER + "prices: [{since: 2020-01-01, micros: 1500, per: document}]\n")
    await many(broker, 3)
    leases = (await broker.offer(limit=3))["leases"]
    await broker.bring(last(leases[0]), failed(leases[1], "timeout"), failed(leases[2], "not_found"))

    told = (await broker.client.get("/v2/platforms/alpha")).json()

    assert told["recent"] == {"succeeded": 1, "failed": 1}
    policy = told["policy"]
    assert policy["breaker"]["at_least"] == 4
    assert (policy["retry"]["attempts"], policy["retry"]["fatal"]) == (3, ["not_found"])
    assert policy["prices"] == [{"since": "2020-01-01", "micros": 1500, "per": "document", "task_type": None}]
    assert (policy["writer"]["shadow"], policy["writer"]["compare_at_least"]) == (None, 100)


async def test_what_an_attempt_had_cost_by_its_end_is_in_the_history(home: House, broker: Broker, folder: Path) -> None:
    change(home, folder, "prices: [{since: 2020-01-01, micros: 1500}]\n")
    job = (await broker.submit())["id"]
    await broker.bring(failed(await broker.take(), "timeout"))
    await broker.bring(last(await broker.take()))

    history = (await broker.job(job))["history"]

    costs = {one["event"]: one["detail"].get("cost_micros") for one in history}
    assert (costs["failed"], costs["completed"]) == (1500, 3000)
