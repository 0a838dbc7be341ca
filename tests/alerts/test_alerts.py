"""What an operator is told without asking: once for a swarm, signed, again until it is taken, and in nobody's way."""

import asyncio
import hashlib
import hmac
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr

from leasehold import alerts
from leasehold.db import RollBack
from leasehold.settings import Settings
from tests.jobs.conftest import platform
from tests.parts.broker import Broker, failed
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.receiver import Receiver, receiver
from tests.parts.upstream import ENOUGH_BYTES, Manner, upstream

SECRET = "LHCANARY-only-the-operator-knows"


@pytest.fixture
def ear() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
async def home(database: TestDatabase, tmp_path: Path, ear: Receiver) -> AsyncIterator[House]:
    (tmp_path / "alpha.yaml").write_text(platform("alpha"))
    told: dict[str, Any] = {"alert_url": SecretStr(ear.url), "alert_secret": SecretStr(SECRET)}
    async with house(database, platforms_dir=tmp_path, **told) as made:
        yield made


@pytest.fixture
async def broker(home: House) -> Broker:
    return Broker(await home.caller())


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(15):
        while not is_so():
            await asyncio.sleep(0.02)


async def step(home: House) -> None:
    """What the sender does every other second."""
    await home.app.state.alerts.step(home.database.rows("SELECT id, slug FROM organisation"))


async def bury(broker: Broker, *jobs: str, code: str = "not_found") -> None:
    for job in jobs:
        await broker.submit(job_id=job)
        await broker.bring(failed(await broker.take(), code))


def has_more(ear: Receiver, than: int) -> bool:
    return len(ear.came) > than


def past(home: House, seconds: int) -> None:
    """So long ago was all that was told."""
    columns = ", ".join(
        f"{name} = {name} - %s * interval '1 second'" for name in ("made_at", "due_at", "sent_at", "at")
    )
    home.database.run(f"UPDATE alert_message SET {columns}", *([seconds] * 4))


async def test_a_dead_letter_is_told_of(home: House, broker: Broker, ear: Receiver) -> None:
    await bury(broker, "j")

    await until(lambda: len(ear.came) == 1)

    (document,) = ear.documents
    assert document.pop("at").endswith("Z")
    assert UUID(document.pop("id"))
    assert document == {
        "kind": "dead_letters",
        "organisation": "default",
        "platform": "alpha",
        "reason": "not_found",
        "count": 1,
        "job_ids": ["j"],
        "text": "leasehold, default: 1 dead letter at alpha: not_found.",
    }


async def test_a_message_is_signed_by_time_and_body(broker: Broker, ear: Receiver) -> None:
    await bury(broker, "j")
    await until(lambda: len(ear.came) == 1)

    headers, body = ear.came[0]

    at, _, signed = headers["leasehold-signature"].partition(",")
    ours = hmac.new(SECRET.encode(), at.removeprefix("t=").encode() + b"." + body, hashlib.sha256).hexdigest()
    assert signed == f"v1={ours}"
    assert abs(time.time() - int(at.removeprefix("t="))) < 60
    assert headers["content-type"] == "application/json"


async def test_a_swarm_is_one_message_a_minute_with_some_of_its_jobs(
    home: House, broker: Broker, ear: Receiver
) -> None:
    await bury(broker, "first")
    await until(lambda: len(ear.came) == 1)
    await bury(broker, *(f"j{n}" for n in range(7)))
    await step(home)
    in_the_same_minute = len(ear.came)
    past(home, 61)

    await until(lambda: len(ear.came) == 2)

    assert in_the_same_minute == 1
    assert (ear.documents[1]["count"], ear.documents[1]["job_ids"]) == (7, ["j0", "j1", "j2", "j3", "j4"])
    assert ear.documents[1]["text"].endswith("7 dead letters at alpha: not_found.")


async def test_another_reason_is_another_message(home: House, broker: Broker, ear: Receiver) -> None:
    await bury(broker, "a")
    await bury(broker, "b", code="odd")

    await until(lambda: len(ear.came) == 2)

    assert {one["reason"] for one in ear.documents} == {"not_found", "odd"}


async def test_codes_that_a_crawler_makes_up_do_not_drown_anybody(home: House, broker: Broker, ear: Receiver) -> None:
    organisation = home.database.rows("SELECT id FROM organisation")[0][0]
    async with home.app.state.db.transaction(organisation) as conn:
        for number in range(100):
            await alerts.raise_(conn, organisation, alerts.DEAD_LETTERS, "alpha", f"code-{number}")

    for _ in range(12):
        home.database.run("UPDATE alert_message SET due_at = clock_timestamp() WHERE sent_at IS NULL")
        await step(home)

    assert len({one["reason"] for one in ear.documents}) == 30
    assert home.database.rows("SELECT count(*) FROM alert") == [(70,)]


async def test_pausing_and_resuming_is_told_each_time(home: House, broker: Broker, ear: Receiver) -> None:
    for _ in range(2):
        for path, body in (("pause", {"reason": "they block us"}), ("resume", None)):
            before = len(ear.came)
            await broker.client.post(f"/v2/platforms/alpha/{path}", json=body)
            await until(partial(has_more, ear, before))

    assert [one["kind"] for one in ear.documents] == ["platform_paused", "platform_resumed"] * 2
    assert ear.documents[0]["text"] == "leasehold, default: alpha was paused: they block us."
    assert ear.documents[0]["job_ids"] == []


async def test_what_is_taken_back_is_not_told(home: House, broker: Broker, ear: Receiver) -> None:
    organisation = home.database.rows("SELECT id FROM organisation")[0][0]
    async with home.app.state.db.transaction(organisation) as conn:
        await alerts.raise_(conn, organisation, "anything", "alpha")
        raise RollBack

    await step(home)

    assert ear.came == []


@pytest.mark.parametrize("status", [500, 404, 307])
async def test_what_is_not_taken_is_sent_again_later_and_later(
    home: House, broker: Broker, ear: Receiver, status: int
) -> None:
    ear.status, ear.location = status, ear.url if status == 307 else None
    await bury(broker, "j")
    await until(lambda: len(ear.came) == 1)
    await asyncio.sleep(0.1)
    await step(home)
    at_once = len(ear.came)
    past(home, 11)
    await until(lambda: len(ear.came) == 2)
    past(home, 11)
    await step(home)
    too_soon = len(ear.came)
    ear.status = 200
    past(home, 11)

    await until(lambda: home.database.rows("SELECT sent_at IS NOT NULL, tries FROM alert_message") == [(True, 3)])

    assert (at_once, too_soon, len(ear.came)) == (1, 2, 3)
    assert len({one["id"] for one in ear.documents}) == 1  # by which a receiver knows it for the same
    await step(home)
    assert len(ear.came) == 3


async def test_what_comes_while_nobody_takes_it_waits_for_that(home: House, broker: Broker, ear: Receiver) -> None:
    ear.status = 500
    await bury(broker, "a")
    await until(lambda: len(ear.came) == 1)
    past(home, 61)
    await bury(broker, "b", "c")
    await until(lambda: len(ear.came) == 2)
    ear.status = 200
    past(home, 61)
    # Sent and booked: what was told before that is not past yet.
    await until(lambda: home.database.rows("SELECT FROM alert_message WHERE sent_at IS NOT NULL") != [])
    past(home, 61)

    await until(lambda: len(ear.came) == 4)

    assert [(one["count"], one["job_ids"]) for one in ear.documents] == [
        (1, ["a"]),
        (1, ["a"]),
        (1, ["a"]),
        (2, ["b", "c"]),
    ]


async def test_after_a_day_nobody_is_told_any_more(home: House, broker: Broker, ear: Receiver) -> None:
    ear.status = 500
    await bury(broker, "a")
    await until(lambda: len(ear.came) == 1)
    await bury(broker, "b")
    past(home, 86_500)
    home.database.run("UPDATE alert SET at = at - interval '25 hours'")

    await step(home)

    assert home.database.rows("SELECT count(*) FROM alert_message") == [(0,)]
    assert home.database.rows("SELECT count(*) FROM alert") == [(0,)]
    assert len(ear.came) == 1


async def test_a_receiver_that_never_answers_is_in_nobodys_way(home: House, broker: Broker, ear: Receiver) -> None:
    ear.held = threading.Event()
    await bury(broker, "a")
    await until(lambda: len(ear.came) == 1)

    async with asyncio.timeout(3):
        await bury(broker, "b", "c")
        ready = await broker.client.get("/readyz")

    assert ready.status_code == 200


async def test_a_receiver_that_answers_for_ever_is_heard_only_as_far_as_its_status(
    database: TestDatabase, tmp_path: Path
) -> None:
    (tmp_path / "alpha.yaml").write_text(platform("alpha"))
    with upstream() as there:
        there.manner = Manner.ENDLESS_HEADER
        async with house(database, platforms_dir=tmp_path, alert_url=SecretStr(there.url)) as home:
            await bury(Broker(await home.caller()), "j")
            await until(lambda: there.asked == 1)
            there.manner = Manner.ENDLESS_BODY
            past(home, 11)

            await until(
                lambda: home.database.rows("SELECT sent_at IS NOT NULL, tries FROM alert_message") == [(True, 2)]
            )

        assert there.asked == 2
        assert there.sent_bytes < ENOUGH_BYTES // 4


async def test_one_server_at_a_time_gathers_what_is_told(home: House, broker: Broker, ear: Receiver) -> None:
    with home.database.connect() as another:
        another.execute("BEGIN")
        another.execute("SELECT pg_advisory_xact_lock(hashtextextended(id::text, 7)) FROM organisation")
        await bury(broker, "a", "b")
        await step(home)
        meanwhile = len(ear.came)
        another.execute("ROLLBACK")

    await until(lambda: len(ear.came) == 1)

    assert meanwhile == 0
    assert ear.documents[0]["count"] == 2


async def test_without_an_address_nothing_is_sent_and_old_alerts_go(database: TestDatabase, tmp_path: Path) -> None:
    (tmp_path / "alpha.yaml").write_text(platform("alpha"))
    async with house(database, platforms_dir=tmp_path) as home:
        await bury(Broker(await home.caller()), "a")
        await step(home)
        fresh = database.rows("SELECT count(*) FROM alert")
        database.run("UPDATE alert SET at = at - interval '25 hours'")

        await step(home)

    assert (fresh, database.rows("SELECT count(*) FROM alert")) == ([(1,)], [(0,)])
    assert database.rows("SELECT count(*) FROM alert_message") == [(0,)]


async def test_neither_the_address_nor_the_secret_is_in_a_log(
    home: House, broker: Broker, ear: Receiver, capfd: pytest.CaptureFixture[str]
) -> None:
    ear.status = 500
    await bury(broker, "a")
    await until(lambda: len(ear.came) == 1)
    await step(home)

    said = "".join(capfd.readouterr())

    assert "alert.not_sent" in said
    assert "LHCANARY" not in said
    assert SECRET not in said


async def test_tries_are_counted(home: House, broker: Broker, ear: Receiver) -> None:
    await bury(broker, "a")
    await until(lambda: len(ear.came) == 1)

    sent = home.app.state.metrics.registry.get_sample_value

    await until(lambda: sent("leasehold_alerts_total", {"result": "sent"}) == 1)


@pytest.mark.parametrize("url", ["ftp://host/x", "host/x", "http://", "javascript:1"])
def test_only_http_addresses_are_taken(url: str) -> None:
    with pytest.raises(ValueError, match="http"):
        Settings(alert_url=SecretStr(url))
