"""A world whose items are collected by whoever asks for them: no worker of its own is there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from leasehold.duties import Duty
from tests.parts.broker import JSON, Broker, chunk
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import UNBALANCED, World, world
from tests.runs.shop import PRICE, Shop, asin

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
        await self.until(run, lambda now: now["in_flight"] == now["total_items"])
        return run

    def lose(self) -> None:
        for statement in EXPIRE:
            self.database.run(statement)

    def days_go_by(self, days: int) -> None:
        """Whatever has happened was so many days ago."""
        ago = f"- interval '{days} days'"
        for column in ("deadline_at", "not_before", "paused_at"):
            self.database.run(f"UPDATE task SET {column} = {column} {ago} WHERE {column} < '9998-01-01'")
        self.database.run(f"UPDATE job SET deadline_at = deadline_at {ago}")
        self.database.run(f"UPDATE run SET paused_at = paused_at {ago}")

    async def reap(self) -> None:
        """Book what ran out, as the reaper does."""
        (row,) = self.database.rows("SELECT organisation FROM run LIMIT 1")
        await self.home.app.state.jobs.reap([row[0]])


@asynccontextmanager
async def opened(database: TestDatabase, items: int) -> AsyncIterator[Desk]:
    async with world(database, Shop(toys=items), duties={Duty.RUNS, Duty.WRITER}) as made:
        yield Desk(made.home, made.client, made.shop)
        assert database.rows(UNBALANCED) == []


def brought(lease: JSON, cost_micros: int = PRICE) -> JSON:
    document = {"asin": asin(int(lease["task"]["payload"]["asin"])), "title": "A product"}
    return chunk(lease, "all", document, final=True, metrics={"cost_micros": cost_micros})
