"""Requests that come through RabbitMQ: jobs, or dead letters with a reason; never nothing, and never two for one."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from leasehold import duties
from leasehold.auth import Role
from tests.amqp.test_way import until
from tests.parts.broker import JSON, Broker
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.rabbit import Rabbit
from tests.parts.wire import Wire, wire

REQUEST = {"platform": "alpha", "task_type": "page", "payload": {"page": "front"}}


async def jobs(broker: Broker) -> list[JSON]:
    items: list[JSON] = (await broker.client.get("/v2/jobs")).json()["items"]
    return items


async def letter(broker: Broker) -> JSON:
    async def has_come() -> bool:
        return bool(await broker.dead())

    await until(has_come)
    (found,) = await broker.dead()
    return found


async def sent(line: Wire, body: bytes = b"", key: str = "crawler.alpha", **more: Any) -> None:
    await line.send("collector.inbound", key, body or json.dumps(REQUEST).encode(), **more)


async def marked(broker: Broker, line: Wire) -> None:
    """Whatever was sent before is dealt with."""
    await line.submit(job_id="mark")

    async def is_there() -> bool:
        return (await broker.client.get("/v2/jobs/mark")).status_code == 200

    await until(is_there)


async def test_the_same_job_twice_is_one(broker: Broker, line: Wire) -> None:
    for page in ("first", "second"):
        await line.submit(job_id="once", payload={"page": page})
    await marked(broker, line)

    assert {job["id"]: job["payload"]["page"] for job in await jobs(broker)} == {"once": "first", "mark": "front"}


async def test_a_message_without_a_job_is_known_again_by_its_id(broker: Broker, line: Wire) -> None:
    for message in ("a", "a", "b"):
        await sent(line, message_id=message)
    await marked(broker, line)

    assert len(await jobs(broker)) == 3  # one for each id, and the mark


async def test_the_reasons_for_dead_letters_say_what_is_wrong(broker: Broker, line: Wire) -> None:
    odd = {
        "unreadable": [b"not json", b"[1]", b"\xff\xfe"],
        "invalid": [
            json.dumps({**REQUEST, "payload": {}}).encode(),
            json.dumps({**REQUEST, "priority": 10}).encode(),
            json.dumps({**REQUEST, "task_type": "none"}).encode(),
        ],
        "unroutable": [
            json.dumps({**REQUEST, "platform": "nowhere"}).encode(),
            json.dumps({**REQUEST, "platform": "beta"}).encode(),
        ],
    }
    for bodies in odd.values():
        for body in bodies:
            await sent(line, body, key="crawler.nowhere" if b"nowhere" in body else "crawler.alpha")
    await marked(broker, line)

    async def have_all_come() -> bool:
        return len(await broker.dead()) == 8

    await until(have_all_come)
    dead = await broker.dead()
    assert {reason: len([one for one in dead if one["reason"] == reason]) for reason in odd} == {
        reason: len(bodies) for reason, bodies in odd.items()
    }
    assert all(one["detail"] for one in dead)
    assert [job["id"] for job in await jobs(broker)] == ["mark"]


async def test_what_was_sent_is_kept_whatever_it_is(broker: Broker, line: Wire) -> None:
    for body in (b"not json", b"\xff\x00"):
        await sent(line, body)
    await sent(line, json.dumps({**REQUEST, "payload": {"pages": 1}}).encode())
    await marked(broker, line)

    payloads = [one["payload"] for one in await broker.dead()]
    assert {"text": "not json"} in payloads
    assert {"base64": base64.b64encode(b"\xff\x00").decode()} in payloads
    assert {**REQUEST, "payload": {"pages": 1}} in payloads


async def test_a_character_that_no_database_takes_stops_nobody(broker: Broker, line: Wire) -> None:
    await sent(line, json.dumps({**REQUEST, "job_id": "odd", "payload": {"page": "\0"}}).encode())
    await marked(broker, line)

    found = await letter(broker)
    assert found["reason"] == "invalid"
    assert json.loads(found["payload"]["text"])["payload"] == {"page": "\0"}


async def test_a_key_that_no_queue_is_for_is_a_dead_letter(broker: Broker, line: Wire) -> None:
    await sent(line, key="somewhere.else")

    found = await letter(broker)
    assert (found["reason"], found["payload"]) == ("unroutable", REQUEST)
    assert "somewhere.else" in found["detail"]


async def test_one_of_several_platforms_may_be_the_key(broker: Broker, line: Wire) -> None:
    await line.submit(["alpha", "beta"], key="crawler.beta", job_id="both")
    await marked(broker, line)

    assert (await broker.job("both"))["platform"] == ["alpha", "beta"]


async def test_messages_are_of_the_organisation_of_the_user_that_the_broker_checked(
    database: TestDatabase, folder: Path, rabbit: Rabbit, amqp_url: str
) -> None:
    vhost = amqp_url.rpartition("/")[2]
    theirs, shared = f"theirs-{vhost}", f"shared-{vhost}"
    users = {theirs: "theirs", shared: "*", "guest": "default"}
    addresses = {name: rabbit.user(name, vhost) for name in (theirs, shared)} | {"guest": amqp_url}
    settings: JSON = {"platforms_dir": folder, "amqp_url": amqp_url, "amqp_users": users}
    async with house(database, duties=duties.ALL, **settings) as home:
        ours, others = [Broker(await home.caller(Role.ADMIN, slug)) for slug in ("default", "theirs")]
        await until(lambda: _is_declared(amqp_url))
        for name, url in addresses.items():
            async with wire(url, user=name) as line:
                await line.submit(job_id=f"of-{name}")
        async with wire(addresses[shared], user=shared) as line:
            for slug in ("theirs", "nobody"):
                body = json.dumps({**REQUEST, "job_id": f"shared-{slug}"}).encode()
                await sent(line, body, headers={"organisation": slug})
        async with wire(amqp_url) as line:
            await line.submit(job_id="of-nobody")
            await marked(ours, line)
        await letter(ours)

        assert {job["id"] for job in await jobs(ours)} == {"of-guest", "of-nobody", f"of-{shared}", "mark"}
        assert {job["id"] for job in await jobs(others)} == {f"of-{theirs}", "shared-theirs"}


async def _is_declared(url: str) -> bool:
    async with wire(url) as line:
        try:
            await line.channel.get_queue("crawler.beta.queue")
        except Exception:
            return False
    return True


async def test_while_the_database_is_down_nothing_is_acknowledged_and_then_it_goes_on(
    home: House, broker: Broker, line: Wire, database: TestDatabase
) -> None:
    name = conninfo_to_dict(database.url)["dbname"]
    with psycopg.connect(make_conninfo(database.url, dbname="postgres"), autocommit=True) as conn:
        conn.execute(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS false'.encode())
        conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        try:
            await line.submit(job_id="patient")
            await asyncio.sleep(3)
        finally:
            conn.execute(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS true'.encode())

    async def is_there() -> bool:
        return (await broker.client.get("/v2/jobs/patient")).status_code == 200

    await until(is_there, 60)
    assert await broker.dead() == []
    assert (await broker.books())["alpha"]["accepted"] == 1


async def test_a_connection_that_is_cut_in_the_middle_is_nobodys_fault(
    home: House, broker: Broker, line: Wire, database: TestDatabase
) -> None:
    """The database answers again at once: nothing keeps the message from being buried but that it is not its fault."""
    waits = "datname = current_database() AND wait_event_type = 'Lock' AND query ~ 'INSERT INTO job'"

    async def does_it_wait() -> bool:
        return bool(database.rows(f"SELECT 1 FROM pg_stat_activity WHERE {waits}"))

    with database.connect() as other, other.transaction():
        other.execute("LOCK TABLE job IN ACCESS EXCLUSIVE MODE")
        await line.submit(job_id="patient")
        await until(does_it_wait)
        database.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {waits}")
        await asyncio.sleep(0.3)

    async def is_there() -> bool:
        return (await broker.client.get("/v2/jobs/patient")).status_code == 200

    await until(is_there)
    assert await broker.dead() == []


@pytest.mark.parametrize("body", [b"{}", b"", b"null", b"1" * 5000])
async def test_an_empty_or_odd_body_is_a_dead_letter(broker: Broker, line: Wire, body: bytes) -> None:
    await line.send("collector.inbound", "crawler.alpha", body)

    assert (await letter(broker))["reason"] in ("unreadable", "invalid")
