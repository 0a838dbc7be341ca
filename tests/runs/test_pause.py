"""While a run is paused nothing of it begins, whatever comes back."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from leasehold.duties import Duty
from tests.parts.broker import JSON, Broker, chunk, failed
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import UNBALANCED, World, world
from tests.runs.shop import PRICE, Shop, asin

ITEMS = 3
EXPIRE = (
    "UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' WHERE kind = 'task'",
    "UPDATE task SET back_at = clock_timestamp() - interval '1 second' WHERE back_at IS NOT NULL",
)


class Desk(World):
    """A world whose items are collected by whoever asks for them."""

    @property
    def broker(self) -> Broker:
        return Broker(self.client)

    async def take(self, limit: int = 10) -> list[JSON]:
        leases: list[JSON] = (await self.broker.offer("amazon", limit=limit))["leases"]
        return leases

    async def begun(self) -> str:
        """A run that has all of its items in the broker."""
        run = await self.started()
        await self.until(run, lambda now: now["in_flight"] == ITEMS)
        return run

    def lose(self) -> None:
        for statement in EXPIRE:
            self.database.run(statement)

    async def reap(self) -> None:
        """Book what ran out, as the reaper does."""
        (row,) = self.database.rows("SELECT organisation FROM run LIMIT 1")
        await self.home.app.state.jobs.reap([row[0]])


@pytest.fixture
async def desk(database: TestDatabase) -> AsyncIterator[Desk]:
    async with world(database, Shop(toys=ITEMS), duties={Duty.RUNS, Duty.WRITER}) as made:
        yield Desk(made.home, made.client, made.shop)
        assert database.rows(UNBALANCED) == []


Come = Callable[[Desk, JSON], Awaitable[None]]


def brought(lease: JSON) -> JSON:
    document = {"asin": asin(int(lease["task"]["payload"]["asin"])), "title": "A product"}
    return chunk(lease, "all", document, final=True, metrics={"cost_micros": PRICE})


async def snoozed(desk: Desk, lease: JSON) -> None:
    await desk.broker.bring(failed(lease, "rate_limited", retry_after_seconds=0))


async def out(desk: Desk, lease: JSON) -> None:
    await desk.broker.bring(failed(lease, "provider_down", retry_after_seconds=0))


async def lost(desk: Desk, _lease: JSON) -> None:
    desk.lose()
    await desk.reap()


async def returned(desk: Desk, lease: JSON) -> None:
    answer = await desk.client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "returned"})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("come_back", [snoozed, out, lost, returned])
async def test_what_comes_back_to_a_paused_run_is_not_given_out(come_back: Come, desk: Desk) -> None:
    run = await desk.begun()
    (lease,) = await desk.take(1)
    await desk.act(run, "pause")

    await come_back(desk, lease)

    assert await desk.take() == []
    rested = await desk.until(run, lambda now: now["sub_status"] is None)
    assert (rested["status"], rested["in_flight"]) == ("paused", ITEMS)
    await desk.act(run, "resume")
    again = await desk.take()
    assert lease["task"]["job_id"] in {one["task"]["job_id"] for one in again}
    await desk.broker.bring(*(brought(one) for one in again))
    assert (await desk.over(run))["processed_items"] == ITEMS


async def test_what_a_worker_has_when_it_is_resumed_may_come_back(desk: Desk) -> None:
    run = await desk.begun()
    (lease,) = await desk.take(1)
    await desk.act(run, "pause")
    await desk.act(run, "resume")

    await snoozed(desk, lease)

    assert len(await desk.take()) == ITEMS


async def test_what_comes_back_to_a_cancelled_run_is_taken_back(desk: Desk) -> None:
    run = await desk.begun()
    (lease,) = await desk.take(1)
    await desk.act(run, "cancel")

    await snoozed(desk, lease)

    assert await desk.take() == []
    done = await desk.over(run, "cancelled")
    assert (done["skipped_items"], done["reserved_cost_micros"]) == (ITEMS, 0)
