"""Two writers of one graph are killed at every batch: nothing is lost, nothing is done twice, and it ends as if nobody
had died."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from psycopg.conninfo import conninfo_to_dict

from leasehold.db import Database
from leasehold.entities import offer
from leasehold.entities.writers import Writer
from leasehold.ids import uuid7
from leasehold.linking import PERFORMER
from tests.entities.people import records
from tests.faults.undying import Undying, undying, until
from tests.parts.fuse import Fuse, fused
from tests.parts.postgres import TestDatabase
from tests.parts.process import KEYS, Place

# As many as one likes: KILLS=200 pytest tests/faults/test_graph.py
KILLS = int(os.environ.get("KILLS", "10"))
BATCH = "DELETE FROM record_queue"
# Enough for a batch after each of those whose batch was written.
RECORDS = records(260 * (KILLS // 2 + 1))

# What there is in the end, by what does not depend on when it was made or by whom.
STATE = {
    "records": "SELECT node, name, content, digest, state, times_seen FROM source_record WHERE organisation = %s"
    " ORDER BY node",
    "groups": "SELECT array_agg(node ORDER BY node) FROM source_record WHERE organisation = %s"
    " GROUP BY entity ORDER BY 1",
    "cards": "SELECT name, aliases, external_ids::text, urls::text, attributes::text, size FROM entity"
    " WHERE organisation = %s AND merged_into IS NULL ORDER BY external_ids::text",
    "edges": "SELECT a, b, bits, step FROM edge WHERE organisation = %s ORDER BY a, b",
    "keys": "SELECT key, node FROM link_key WHERE organisation = %s ORDER BY key, node",
    "seen": "SELECT sum(count) FROM graph_count WHERE organisation = %s AND source <> '' AND name NOT LIKE '%%added'",
}


@pytest.fixture
async def fuse(database: TestDatabase) -> AsyncIterator[Fuse]:
    async with fused(database.url) as made:
        yield made


def end(writers: list[Undying]) -> None:
    for writer in writers:
        writer.kill()


def long_dead(database: TestDatabase) -> None:
    """Let the time pass that the lease of a writer runs."""
    database.run("UPDATE graph_writer SET until = clock_timestamp() - interval '1 second'")


async def hand_over(db: Database, organisation: UUID) -> None:
    for at in range(0, len(RECORDS), 100):
        async with db.transaction(organisation) as conn:
            await offer(conn, organisation, None, RECORDS[at : at + 100])


def state(database: TestDatabase, organisation: UUID) -> dict[str, list[Any]]:
    return {name: database.rows(statement, organisation) for name, statement in STATE.items()}


async def test_writers_that_are_killed_leave_what_one_that_lived_leaves(
    here: Place, fuse: Fuse, database: TestDatabase
) -> None:
    undisturbed, disturbed = uuid7(), uuid7()
    place = conninfo_to_dict(database.url)
    environment = {
        "LEASEHOLD_DATABASE_URL": f"postgresql://{place['user']}@127.0.0.1:{fuse.port}/{place['dbname']}",
        "LEASEHOLD_KEYS": KEYS,
    }
    async with Database(database.url, pool_size=2) as db:
        await hand_over(db, undisturbed)
        alone = Writer(db, undisturbed, uuid7(), {"performer": PERFORMER}, None)
        await alone.claim()
        while await alone.write_some():
            pass
        await hand_over(db, disturbed)

    async def is_blown() -> bool:
        return fuse.blown.is_set()

    async def is_written() -> bool:
        return not database.rows("SELECT FROM record_queue")

    async with AsyncExitStack() as stack:
        writers: list[Undying] = []
        fuse.blow = partial(end, writers)
        fuse.set(BATCH, "before")
        work = partial(undying, here, "work", "--only", "entities", **environment)
        writers += [await stack.enter_async_context(work()) for _ in range(2)]
        for kill in range(KILLS):
            await until(is_blown)
            if kill < KILLS - 1:
                fuse.set(BATCH, "before" if kill % 2 else "after")
            long_dead(database)
        await until(is_written)
        starts = sum(writer.starts for writer in writers)

    assert starts > KILLS, "they died and lived again"
    ended, wanted = state(database, disturbed), state(database, undisturbed)
    assert ended["seen"] == [(len(RECORDS),)]
    for name in STATE:
        assert ended[name] == wanted[name], name
    left = database.rows("SELECT left_over, (done_at IS NULL) FROM record_batch WHERE organisation = %s", disturbed)
    assert set(left) == {(0, False)}
