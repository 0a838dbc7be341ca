"""Organisations share a platform: who can begin nothing there takes no share from those who can."""

from pathlib import Path

import pytest

from tests.jobs.conftest import change
from tests.parts.broker import Broker
from tests.parts.house import House

OTHERS = "WHERE organisation = (SELECT id FROM organisation WHERE slug = 'other')"
# What keeps the other organisation from beginning anything at alpha.
REASONS = {
    "put off": f"UPDATE task SET not_before = '9999-01-01' {OTHERS}",
    "too late": f"UPDATE task SET deadline_at = clock_timestamp() - interval '1 second' {OTHERS}",
    "paused": "INSERT INTO platform_pause (organisation, platform, by_name)"
    " SELECT id, 'alpha', 'somebody' FROM organisation WHERE slug = 'other'",
    "broken": "INSERT INTO platform_breaker (organisation, platform, reason, probe_at)"
    " SELECT id, 'alpha', 'all fails', clock_timestamp() + interval '1 hour' FROM organisation WHERE slug = 'other'",
}


@pytest.fixture
async def other(home: House) -> Broker:
    return Broker(await home.caller(organisation="other"))


@pytest.mark.parametrize("reason", REASONS)
async def test_who_can_begin_nothing_takes_no_share(broker: Broker, other: Broker, home: House, reason: str) -> None:
    for _ in range(10):
        await broker.submit()
    await other.submit()
    home.database.run(REASONS[reason])

    taken = (await broker.offer(limit=10))["leases"]

    assert len(taken) == 10


async def test_who_has_something_that_may_begin_beside_what_rests_has_its_share(
    broker: Broker, other: Broker, home: House
) -> None:
    for _ in range(10):
        await broker.submit()
    await other.submit(job_id="rests")
    await other.submit(job_id="goes")
    home.database.run("UPDATE task SET not_before = '9999-01-01' WHERE job = 'rests'")

    taken = (await broker.offer(limit=10))["leases"]

    assert len(taken) == 5
    assert (await other.take())["task"]["job_id"] == "goes"


async def test_a_probe_that_is_due_has_its_share(broker: Broker, other: Broker, home: House, folder: Path) -> None:
    change(home, folder, "", concurrency=2)
    for _ in range(2):
        await broker.submit()
        await other.submit()
    home.database.run(REASONS["broken"])
    home.database.run("UPDATE platform_breaker SET probe_at = clock_timestamp()")

    mine = (await broker.offer(limit=10))["leases"]
    probe = (await other.offer(limit=10))["leases"]

    assert (len(mine), len(probe)) == (1, 1)
