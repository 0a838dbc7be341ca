"""One writer of a graph at a time: who comes late writes nothing, and who goes on knows what happened in between."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from leasehold.db import Database
from leasehold.entities import offer
from leasehold.entities.writers import LostWriter, Writer
from leasehold.ids import uuid7
from leasehold.linking import PERFORMER
from tests.entities.conftest import PATIENCE_S
from tests.entities.people import JSON, records
from tests.parts.house import House

pytestmark = pytest.mark.asyncio(loop_scope="module")

RECORDS = records(20)
HALF = len(RECORDS) // 2


class Desk:
    """The graph of one organisation, and the writers that want to write it."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.organisation = uuid7()

    def writer(self) -> Writer:
        return Writer(self.db, self.organisation, uuid7(), {"performer": PERFORMER}, None)

    async def offer(self, items: list[JSON]) -> None:
        async with self.db.transaction(self.organisation) as conn:
            await offer(conn, self.organisation, None, items)

    async def run(self, statement: str) -> None:
        async with self.db.transaction(self.organisation) as conn:
            await conn.execute(statement.encode(), {"organisation": self.organisation})

    async def time_passes(self) -> None:
        await self.run("UPDATE graph_writer SET until = '-infinity' WHERE organisation = %(organisation)s")

    async def waits(self) -> bool:
        """Whether a statement waits for another."""
        async with self.db.transaction(self.organisation) as conn:
            return await (await conn.execute("SELECT FROM pg_locks WHERE NOT granted")).fetchone() is not None

    async def count(self) -> int:
        statement = "SELECT count(*) FROM source_record WHERE organisation = %s"
        async with self.db.transaction(self.organisation) as conn:
            ((found,),) = await (await conn.execute(statement, [self.organisation])).fetchall()
        return int(found)


@pytest_asyncio.fixture(loop_scope="module")
async def desk(home: House) -> AsyncIterator[Desk]:
    yield Desk(home.app.state.db)


async def test_while_one_writes_no_other_begins(desk: Desk) -> None:
    first, second = desk.writer(), desk.writer()

    assert await first.claim()
    assert not await second.claim()

    await first.leave()
    assert await second.claim()


async def test_who_was_taken_for_dead_writes_nothing_any_more(desk: Desk) -> None:
    late, next_ = desk.writer(), desk.writer()
    assert await late.claim()
    await desk.offer(RECORDS[:HALF])
    await desk.time_passes()
    assert await next_.claim()

    with pytest.raises(LostWriter):
        await late.write_some()

    assert await desk.count() == 0
    assert await next_.write_some()
    assert await desk.count() == HALF


async def test_who_was_taken_for_dead_does_not_send_the_next_one_away(desk: Desk) -> None:
    late, next_ = desk.writer(), desk.writer()
    assert await late.claim()
    await desk.time_passes()
    assert await next_.claim()

    await late.leave()

    assert not await late.claim()


async def test_who_goes_on_alone_remembers_and_after_somebody_else_does_not(desk: Desk) -> None:
    first, second = desk.writer(), desk.writer()
    assert await first.claim()
    await desk.offer(RECORDS[:HALF])
    assert await first.write_some()
    await first.leave()
    assert await first.claim()
    assert len(first.memory) == len(first.memory.chart.standings) == HALF

    await first.leave()
    assert await second.claim()
    await second.leave()
    assert await first.claim()

    assert len(first.memory) == len(first.memory.chart.standings) == 0


@pytest.mark.parametrize(("column", "records_known"), [("generation", 0), ("changes", HALF)])
async def test_what_others_changed_is_looked_at_anew(desk: Desk, column: str, records_known: int) -> None:
    """What was erased is forgotten altogether; where the graph was changed, only who is where."""
    writer = desk.writer()
    assert await writer.claim()
    await desk.offer(RECORDS[:HALF])
    assert await writer.write_some()
    await desk.run(f"UPDATE graph_writer SET {column} = {column} + 1 WHERE organisation = %(organisation)s")

    assert await writer.write_some() is None

    assert (len(writer.memory), len(writer.memory.chart.standings)) == (records_known, 0)


async def test_what_was_not_committed_is_not_remembered(desk: Desk) -> None:
    writer = desk.writer()
    assert await writer.claim()
    await desk.offer(RECORDS[:HALF])
    assert await writer.write_some()
    await desk.offer(RECORDS[HALF:])
    async with desk.db.transaction(desk.organisation) as conn:
        # Its last statements wait for this one.
        await conn.execute("SELECT FROM record_batch WHERE organisation = %s FOR UPDATE", [desk.organisation])
        writing = asyncio.create_task(writer.write_some())
        async with asyncio.timeout(PATIENCE_S):
            while not await desk.waits():
                await asyncio.sleep(0.01)
        assert len(writer.memory) == len(RECORDS)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing

    assert len(writer.memory) == len(writer.memory.chart.standings) == 0
    assert await desk.count() == HALF
