"""What Prometheus is told of jobs: how platforms stand, and what became of every attempt, message and chunk."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.jobs.conftest import change, platform
from tests.parts.broker import Broker, chunk, failed, last
from tests.parts.house import House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

PATIENCE_S = 30.0


def value(home: House, name: str, **labels: str) -> float | None:
    found: float | None = home.app.state.metrics.registry.get_sample_value(f"leasehold_{name}", labels)
    return found


async def everybody(home: House) -> list[object]:
    return [row[0] for row in home.database.rows("SELECT id FROM organisation")]


async def measured(home: House) -> House:
    await home.app.state.measuring.measure(await everybody(home))
    await home.app.state.measuring.measure_books(await everybody(home))
    return home


async def test_a_platform_is_measured_over_all_organisations(home: House, broker: Broker) -> None:
    theirs = Broker(await home.caller(organisation="theirs"))
    for one in (broker, broker, theirs):
        await one.submit()
    await broker.take()
    home.database.run("UPDATE task SET not_before = not_before - interval '1 hour' WHERE status = 'pending'")

    await measured(home)

    assert value(home, "jobs", platform="alpha", status="pending") == 2
    assert value(home, "jobs", platform="alpha", status="dispatched") == 1
    assert value(home, "job_in_flight", platform="alpha") == 1
    assert value(home, "job_in_flight_limit", platform="alpha") == 10
    assert 3600 <= (value(home, "job_oldest_pending_seconds", platform="alpha") or 0) < 3700
    assert value(home, "jobs_unaccounted", platform="alpha") == 0


async def test_the_limit_that_is_told_is_the_one_in_force(home: House, broker: Broker) -> None:
    await broker.client.put("/v2/platforms/alpha/limits", json={"concurrency": 3, "reason": "they asked for it"})

    await measured(home)

    assert value(home, "job_in_flight_limit", platform="alpha") == 3
    assert value(home, "job_in_flight_limit", platform="beta") == 10


async def test_a_platform_with_nothing_to_do_says_so(home: House) -> None:
    await measured(home)

    for name in ("job_oldest_pending_seconds", "job_in_flight", "unwritten_chunks", "jobs_unaccounted"):
        assert value(home, name, platform="beta") == 0
    assert value(home, "jobs", platform="beta", status="pending") == 0


async def test_what_rests_before_its_next_attempt_is_not_late(home: House, broker: Broker) -> None:
    await broker.submit()
    home.database.run("UPDATE task SET created_at = created_at - interval '1 hour'")
    home.database.run("UPDATE task SET not_before = clock_timestamp() + interval '1 hour'")

    await measured(home)

    assert value(home, "job_oldest_pending_seconds", platform="alpha") == 0


async def test_a_request_that_is_nowhere_is_seen(home: House, broker: Broker) -> None:
    await broker.submit()
    home.database.run("DELETE FROM task_event")
    home.database.run("DELETE FROM task")

    await measured(home)

    assert value(home, "jobs_unaccounted", platform="alpha") == 1


async def test_a_platform_whose_file_is_gone_is_forgotten(home: House, folder: Path) -> None:
    await measured(home)
    (folder / "beta.yaml").unlink()
    home.app.state.jobs.catalogue.reload()

    await measured(home)

    assert value(home, "job_in_flight_limit", platform="beta") is None


async def test_a_task_in_a_workers_hands_is_counted_with_how_long_it_was_due(home: House, broker: Broker) -> None:
    await broker.submit()
    home.database.run("UPDATE task SET not_before = not_before - interval '40 seconds'")

    await broker.take()

    assert value(home, "job_dispatched_total", platform="alpha") == 1
    assert value(home, "job_dispatch_lag_seconds_count", platform="alpha") == 1
    assert value(home, "job_dispatch_lag_seconds_bucket", platform="alpha", le="15.0") == 0
    assert value(home, "job_dispatch_lag_seconds_bucket", platform="alpha", le="60.0") == 1


@pytest.mark.parametrize("outcome", ["completed", "failed", "retried", "timed_out", "cancelled", "lost"])
async def test_every_attempt_is_counted_once_by_how_it_ended(home: House, broker: Broker, outcome: str) -> None:
    await broker.submit(job_id="j")
    lease = await broker.take()

    match outcome:
        case "completed":
            await broker.bring(last(lease), last(lease))
        case "failed" | "retried":
            await broker.bring(failed(lease, "not_found" if outcome == "failed" else "timeout"))
        case "timed_out":
            home.database.run("UPDATE task SET deadline_at = clock_timestamp() - interval '1 second'")
        case "cancelled":
            await broker.client.post("/v2/jobs/j/cancel")
        case "lost":
            home.database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 ms'")
            home.database.run("UPDATE task SET back_at = clock_timestamp() - interval '1 ms'")
    await home.app.state.jobs.reap(await everybody(home))

    counted = _counted(home)
    async with asyncio.timeout(PATIENCE_S):
        # The reaper of the house may be at it at the same moment, and then it is the one who counts.
        while not any(counted.values()):
            await asyncio.sleep(0.01)
            counted = _counted(home)
    assert counted == dict.fromkeys(counted) | {outcome: 1}
    is_over = outcome not in ("retried", "lost")
    assert value(home, "job_duration_seconds_count", platform="alpha") == (1 if is_over else None)


def _counted(home: House) -> dict[str, float | None]:
    return {
        one: value(home, "job_attempts_total", platform="alpha", outcome=one)
        for one in ("completed", "failed", "retried", "timed_out", "cancelled", "lost")
    }


async def test_a_late_chunk_of_what_is_over_ends_no_attempt(home: House, broker: Broker) -> None:
    await broker.submit()
    lease = await broker.take()
    await broker.bring(last(lease))

    await broker.bring(chunk(lease, "late", {"n": 1}))

    assert value(home, "job_attempts_total", platform="alpha", outcome="completed") == 1
    assert value(home, "job_duration_seconds_count", platform="alpha") == 1


async def test_how_long_crawlers_say_a_chunk_took_is_measured_once_for_each(home: House, broker: Broker) -> None:
    await broker.submit()
    lease = await broker.take()
    first = chunk(lease, "p1", {"n": 1}, metrics={"duration_ms": 1500})

    await broker.bring(first, first, chunk(lease, "p2", {"n": 2}), last(lease))
    await broker.submit(job_id="slow")
    slow = await broker.take()
    await broker.bring(chunk(slow, "p1", {"n": 1}, schema_version=2, metrics={"duration_seconds": 1e300}))

    assert value(home, "job_chunk_seconds_count", platform="alpha") == 2
    assert value(home, "job_chunk_seconds_sum", platform="alpha") == 1.5 + 86_400


async def test_messages_are_counted_by_verdict_under_names_there_are(home: House, broker: Broker) -> None:
    await broker.submit()
    lease = await broker.take()
    made_up = {**chunk(lease, "p1", {"n": 1}), "platform": "made-up"}

    await broker.bring(chunk(lease, "p1", {"n": 1}), chunk(lease, "p1", {"n": 1}), made_up, "nonsense")

    assert value(home, "results_total", platform="alpha", verdict="accepted") == 1
    assert value(home, "results_total", platform="alpha", verdict="duplicate") == 1
    assert value(home, "results_total", platform="unknown", verdict="invalid") == 2
    assert value(home, "results_total", platform="made-up", verdict="invalid") is None


async def test_dead_letters_are_counted_under_reasons_that_a_file_or_we_name(home: House, broker: Broker) -> None:
    for code in ("not_found", "whatever-a-crawler-makes-up-7"):
        await broker.submit()
        await broker.bring(failed(await broker.take(), code))

    assert value(home, "dead_letters_total", platform="alpha", reason="not_found") == 1
    assert value(home, "dead_letters_total", platform="alpha", reason="other") == 1


async def test_what_somebody_put_among_the_dead_letters_is_counted_as_that(home: House, broker: Broker) -> None:
    await broker.submit(job_id="j")

    await broker.client.post("/v2/jobs/j/dead-letter", json={"reason": "no use"})

    assert value(home, "dead_letters_total", platform="alpha", reason="by_hand") == 1


async def test_chunks_are_counted_until_they_are_written_and_then_how_long_that_took(
    database: TestDatabase, tmp_path: Path, mongo_database: MongoDatabase
) -> None:
    (tmp_path / "alpha.yaml").write_text(platform("alpha") + "writer: {target: mongo}\n")
    async with house(database, platforms_dir=tmp_path) as home:  # which cannot write there
        broker = Broker(await home.caller())
        await broker.submit()
        lease = await broker.take()
        await broker.bring(chunk(lease, "p1", {"n": 1}), chunk(lease, "p2", {"n": 2}))
        await measured(home)
        assert value(home, "unwritten_chunks", platform="alpha") == 2
        assert value(home, "job_result_lag_seconds_count", platform="alpha") is None
    database.run("UPDATE receipt SET received_at = received_at - interval '2 minutes'")
    host, _, options = mongo_database.url.partition("?")

    async with house(database, platforms_dir=tmp_path, mongo_url=f"{host}{mongo_database.name}?{options}") as home:
        async with asyncio.timeout(15):
            while value(home, "job_result_lag_seconds_count", platform="alpha") != 2:
                await asyncio.sleep(0.02)
        await measured(home)

        assert value(home, "unwritten_chunks", platform="alpha") == 0
        assert value(home, "job_result_lag_seconds_bucket", platform="alpha", le="60.0") == 0
        assert value(home, "job_result_lag_seconds_bucket", platform="alpha", le="300.0") == 2


async def test_what_is_written_at_once_has_no_lag(home: House, broker: Broker) -> None:
    await broker.submit()

    await broker.bring(chunk(await broker.take(), "p1", {"n": 1}))

    assert value(home, "job_result_lag_seconds_count", platform="alpha") == 1
    assert value(home, "job_result_lag_seconds_sum", platform="alpha") == 0


async def test_no_organisation_is_named(home: House, folder: Path, admin: httpx.AsyncClient) -> None:
    change(home, folder, "")
    await Broker(await home.caller(organisation="secretive")).submit()
    await measured(home)

    text = (await admin.get("/metrics")).text

    assert 'leasehold_jobs{platform="alpha",status="pending"} 1.0' in text
    assert "secretive" not in text
