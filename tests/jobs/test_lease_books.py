"""The books of leases on tasks: every grant there was ended somehow or is held, however it ended."""

from uuid import UUID

import pytest

from leasehold.jobs import lease_books
from leasehold.leases import Books
from tests.parts.broker import Broker, last
from tests.parts.house import House


async def books(home: House) -> Books:
    ((organisation,),) = home.database.rows("SELECT id FROM organisation WHERE slug = 'default'")
    assert isinstance(organisation, UUID)
    return await lease_books(home.app.state.db, organisation)


async def ended_in_every_way(home: House, broker: Broker) -> None:
    for name in ("done", "back", "lost", "gone", "held"):
        await broker.submit(job_id=name)
    taken = {lease["task"]["job_id"]: lease for lease in (await broker.offer(limit=5))["leases"]}
    await broker.bring(last(taken["done"]))
    await broker.client.post(f"/v2/leases/{taken['back']['id']}/release", json={"outcome": "returned"})
    await broker.client.delete(f"/v2/leases/{taken['gone']['id']}")
    home.database.run(
        "UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' FROM task"
        " WHERE task.id = lease.resource AND task.job = 'lost'"
    )
    home.database.run("UPDATE task SET back_at = clock_timestamp() - interval '1 second' WHERE job = 'lost'")
    await broker.offer(limit=1)  # books what ran out, and takes one of those that came back


async def test_they_balance_however_leases_end(home: House, broker: Broker) -> None:
    await ended_in_every_way(home, broker)

    found = await books(home)

    assert found.are_whole
    assert (found.released, found.expired, found.revoked) == (2, 1, 1)
    assert found.grants == found.released + found.expired + found.revoked + found.held


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("DELETE FROM lease_end WHERE how = 'expired'", "unbalanced"),
        ("UPDATE task SET fence = fence + 1 WHERE job = 'done'", "unbalanced"),
        ("DELETE FROM lease", "dangling"),
    ],
)
async def test_what_was_changed_past_us_is_told(home: House, broker: Broker, change: str, fault: str) -> None:
    await ended_in_every_way(home, broker)

    home.database.run(change)

    assert getattr(await books(home), fault) > 0
