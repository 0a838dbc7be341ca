"""What is published over all organisations: counted once, by one process, without a name, and never half."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import orjson
import pytest
import pytest_asyncio

from leasehold.artifacts import Artifacts, PublishFailed
from leasehold.artifacts.documents import STATUS, promised
from leasehold.duties import Duty
from leasehold.metrics import Metrics
from leasehold.settings import Settings
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.uploads import upload

# One house for all, which publishes only when it is told to.
pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = ("zanzibar", "quokka", "xylograph", "vuvuzela")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(_worker_database: TestDatabase) -> AsyncIterator[House]:
    _worker_database.empty()
    async with house(_worker_database, duties=(), artifact_history=2) as made:
        for organisation in NAMES[:2]:
            await settle(await made.caller(organisation=organisation))
        yield made


async def settle(client: httpx.AsyncClient) -> None:
    """Something of each kind, under names that must not get out."""
    await client.post("/v2/sites", json={"slug": NAMES[2], "domain": f"{NAMES[2]}.example"})
    for name in ("free", "held", "blocked"):
        account = {"site": NAMES[2], "username": f"{NAMES[3]}-{name}", "secret": {"password": NAMES[3]}}
        made = (await client.post("/v2/accounts", json=account)).json()
        if name == "blocked":
            await client.patch(f"/v2/accounts/{made['id']}", json={"state": "blocked"})
    await client.post("/v2/accounts/acquire", json={"site": NAMES[2], "owner": NAMES[3], "ttl_seconds": 3600})
    seeds = [{"site": NAMES[2], "url": f"https://{NAMES[2]}.example/{n}"} for n in range(3)]
    await client.post("/v2/seeds", json={"items": seeds})
    await client.post("/v2/seeds/acquire", json={"owner": NAMES[3], "limit": 1, "ttl_seconds": 3600})
    for job in ("one", "two", "three"):
        asked = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "dQw4w9WgXcQ"}}
        await client.post("/v2/jobs", json={"job_id": f"{NAMES[3]}-{job}", **asked})
    await client.post(f"/v2/jobs/{NAMES[3]}-three/cancel")
    await client.post("/v2/runs", json={"collector": "amazon", "categories": ["toys"], "name": NAMES[3]})
    await upload(client, {"a": b"1"}, site=NAMES[2])
    await client.post("/v2/platforms/youtube/pause", json={"reason": NAMES[3]})


def publisher(home: House, **settings: Any) -> Artifacts:
    """Another process on the same database."""
    chosen: Settings = home.app.state.settings
    given = {"data_dir": chosen.data_dir, "artifact_history": 2, **settings}
    return Artifacts(home.app.state.db, Settings(**given), Metrics())


async def publish(home: House) -> dict[str, Any]:
    await home.app.state.artifacts.publish(lambda _line: None)
    return document(home)


def folder(home: House) -> Path:
    chosen: Settings = home.app.state.settings
    return chosen.data_dir / "artifacts"


def document(home: House) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((folder(home) / "status/status.v1.json").read_bytes())
    return found


def edition(home: House) -> int:
    found: int = document(home)["edition"]
    return found


async def test_everything_is_counted_over_all_organisations(home: House) -> None:
    found = await publish(home)

    jsonschema.validate(found, orjson.loads(promised(STATUS)))
    assert found["accounts"] == {"free": 2, "held": 2, "cooling": 0, "blocked": 2, "inactive": 0}
    assert found["seeds"] == {"resting": 0, "due": 4, "overdue": 0, "held": 2, "off": 0}
    assert found["leases"] == {"account": 2, "seed": 2, "capture": 0, "task": 0}
    assert found["captures"] == {"waiting": 2, "stuck": 0, "received_last_day": 2}
    assert found["platforms"] == {"paused": 2, "resting": 0}
    jobs = found["jobs"]
    assert (jobs["waiting"], jobs["running"]) == (4, 0)
    assert sum(hour["arrived"] for hour in jobs["hours"]) == 6
    assert sum(hour["cancelled"] for hour in jobs["hours"]) == 2
    assert jobs["oldest_waiting_seconds"] > 0
    assert found["state"] == "ok"


async def test_times_and_states_that_only_rows_can_have_are_told_apart(home: House) -> None:
    database = home.database
    before = await publish(home)
    try:
        database.run("UPDATE seed SET next_due_at = clock_timestamp() - interval '2 hours' WHERE lease IS NULL")
        database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' WHERE kind = 'account'")
        database.run(
            "UPDATE job SET status = 'failed', ended_at = clock_timestamp() - interval '2 hours' WHERE id LIKE '%%-one'"
        )
        database.run("UPDATE task SET not_before = clock_timestamp() - interval '2 hours'")
        database.run(
            "INSERT INTO run_ledger (organisation, run, kind, purpose, reserved_micros, spent_micros, at)"
            " SELECT organisation, id, 'settle', 'item', 0, 700, clock_timestamp() - n"
            " FROM run, (VALUES (interval '0'), (interval '1 day')) AS t (n)",
        )
        database.run(
            "INSERT INTO source (organisation, name, status, last_sweep)"
            " SELECT id, 'a', 'idle', jsonb_build_object('ended_at', clock_timestamp() - interval '1 hour')"
            " FROM organisation UNION ALL"
            " SELECT id, 'b', 'failed', jsonb_build_object('ended_at', clock_timestamp() - interval '2 days')"
            " FROM organisation"
        )

        found = await publish(home)
    finally:
        for table in ("run_ledger", "source"):
            database.run(f"DELETE FROM {table}")

    assert found["seeds"]["overdue"] == before["seeds"]["due"] == 4
    assert (found["leases"]["account"], found["accounts"]["free"]) == (0, 4)
    jobs = found["jobs"]
    assert sum(hour["failed"] for hour in jobs["hours"][-4:-1]) == 2
    assert (jobs["ended_last_hour"], jobs["failure_rate"]) == (0, None)
    assert found["spend"] == {"today_micros": 1400}
    assert found["sources"] == {"known": 4, "fresh": 2, "sweeping": 0, "failed": 2}
    assert found["state"] == "trouble"
    assert {note["about"] for note in found["notes"]} == {"jobs", "seeds", "sources"}


async def test_no_name_of_anything_gets_out(home: House) -> None:
    await publish(home)

    for file in (file for file in folder(home).rglob("*") if file.is_file()):
        told = file.read_text() + str(file.relative_to(folder(home)))
        assert [name for name in (*NAMES, "youtube") if name in told] == [], file


async def test_money_is_not_told_where_that_is_not_wanted(home: House) -> None:
    await publisher(home, status_shows_spend=False).publish(lambda _line: None)

    assert document(home)["spend"] is None


async def test_of_two_processes_one_publishes_and_both_know_when(home: House) -> None:
    first, second = publisher(home), publisher(home)
    await publish(home)
    before = edition(home)

    await asyncio.gather(first.look(), second.look())
    not_due = edition(home)
    home.database.run("UPDATE publication SET due_at = clock_timestamp()")
    await asyncio.gather(first.look(), second.look())

    assert (not_due, edition(home)) == (before, before + 1)
    (at,) = home.database.rows("SELECT extract(epoch FROM max(published_at))::float8 FROM artifact")[0]
    for one in (first, second):
        await one.look()
        assert one._metrics.artifacts_published._value.get() == at
    assert sum(one._metrics.artifacts.labels("published")._value.get() for one in (first, second)) == 1


async def test_the_turn_of_one_that_died_passes_on_when_its_time_is_over(home: House) -> None:
    await publish(home)
    before = edition(home)
    home.database.run(
        "UPDATE publication SET holder = gen_random_uuid(), until = clock_timestamp() + interval '1 hour',"
        " edition = edition + 1, due_at = clock_timestamp()"
    )
    other = publisher(home)

    await other.look()
    held = edition(home)
    home.database.run("UPDATE publication SET until = clock_timestamp()")
    await other.look()

    assert (held, edition(home)) == (before, before + 2)


async def test_one_that_lost_its_turn_meanwhile_replaces_nothing(home: House) -> None:
    await publish(home)
    before = edition(home)
    slow = publisher(home)
    turn = await slow._claim(at_once=True)
    assert turn
    home.database.run("UPDATE publication SET until = clock_timestamp()")

    with pytest.raises(PublishFailed, match="Nothing was replaced"):
        await slow._publish(turn)

    assert edition(home) == before
    assert (await publish(home))["edition"] == turn.edition + 1


async def test_a_shelf_that_fails_leaves_the_last_good_edition_and_is_told(home: House) -> None:
    await publish(home)
    before = edition(home)
    admin = await home.caller()
    aside = folder(home) / "drafts"
    shutil.rmtree(aside)
    aside.touch()  # no folder, whoever we are
    home.database.run("UPDATE publication SET due_at = clock_timestamp()")

    await home.app.state.artifacts.look()

    failing = (await admin.get("/v2/artifacts")).json()["items"]
    aside.unlink()
    assert edition(home) == before
    assert [item["last_error"].split(" (")[0] for item in failing] == [f"{folder(home)} cannot be written"] * 2
    assert all(item["last_error_at"] for item in failing)
    again = await publish(home)
    healed = (await admin.get("/v2/artifacts")).json()["items"]
    assert [(item["name"], item["schema"], item["version"], item["edition"]) for item in healed] == [
        ("pulse", "pulse", 1, again["edition"]),
        ("status", "status", 1, again["edition"]),
    ]
    assert all(item["last_error"] is None and item["bytes"] > 100 and len(item["etag"]) == 64 for item in healed)


async def test_a_server_publishes_by_itself_and_a_reader_needs_no_database(home: House) -> None:
    home.database.run("DELETE FROM artifact")
    home.database.run("DELETE FROM publication")
    async with house(home.database, duties=[Duty.ARTIFACTS], artifact_interval_seconds=1) as server:
        client = server.client()
        never = await client.get("/status")
        async with asyncio.timeout(60):
            while (got := await client.get("/status/pulse.v1.json")).status_code == 404:
                server.database.run("UPDATE publication SET due_at = clock_timestamp() WHERE edition = 0")
                await asyncio.sleep(0.05)
        await server.app.state.background.stop()
        await server.app.state.db.close()
        without = await client.get("/status/status.v1.json")

    assert (never.status_code, never.json()["type"]) == (404, "/problems/not-found")
    assert "leasehold artifacts publish" in never.json()["detail"]
    assert (got.status_code, got.json()["schema"]) == (200, "pulse")
    assert (without.status_code, without.json()["schema"]) == (200, "status")
