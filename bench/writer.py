"""Writing results to PostgreSQL: the writer's one statement against COPY into a temporary table and an upsert.

All write the same documents to the same table, as the role of requests and under row-level security, a batch in a
transaction of its own, durable when it ends. Both begin with documents in memory, and encode them themselves. Taking
results in and booking them is not in it: it is the same whichever way they are written.
"""

import argparse
import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

import orjson
import psycopg

from bench import aims
from bench.ground import scratch_postgres, token
from bench.leases import machine
from bench.measured import Report
from leasehold.db import Database
from leasehold.ids import uuid7
from leasehold.writers import Chunk, PostgresTarget, Space

# As many chunks as the writer takes at once.
CHUNKS = 200
_DOCUMENTS = 50
_PLATFORM = "bench"
# One by one is so slow that few are enough.
_ONE_BY_ONE = 20

_TABLE = """
CREATE TEMPORARY TABLE IF NOT EXISTS arrived
    (task uuid, organisation uuid, space text, key bytea, number bigint, place int, document jsonb)
    ON COMMIT DELETE ROWS
"""
_COLUMNS = "task, organisation, space, key, number, place, document"
_COPY = f"COPY arrived ({_COLUMNS}) FROM STDIN"
_UPSERT = f"INSERT INTO result ({_COLUMNS}) SELECT {_COLUMNS} FROM arrived ON CONFLICT DO NOTHING"
_INSERT = f"INSERT INTO result ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s::jsonb) ON CONFLICT DO NOTHING"

Row = tuple[UUID, UUID, str, bytes, int, int, str]


def ground(url: str) -> tuple[UUID, list[UUID]]:
    """The organisation, and tasks that results may come from, each of a job of its own."""
    tasks = [uuid7() for _ in range(CHUNKS)]
    with psycopg.connect(url) as conn:
        row = conn.execute("SELECT id FROM organisation WHERE slug = 'default'").fetchone()
        assert row is not None
        conn.execute(
            "INSERT INTO job (organisation, id, task_type, platforms, payload, priority, deadline_at)"
            " SELECT %s, id::text, 'page', ARRAY[%s], '{}', 4, now() + interval '1 day' FROM unnest(%s::uuid[]) id",
            [row[0], _PLATFORM, tasks],
        )
        conn.execute(
            "INSERT INTO task (id, organisation, job, platform, task_type, priority, max_attempts, deadline_at)"
            " SELECT id, %s, id::text, %s, 'page', 4, 1, now() + interval '1 day' FROM unnest(%s::uuid[]) id",
            [row[0], _PLATFORM, tasks],
        )
    return row[0], tasks


def batch(tasks: list[UUID], number: int) -> list[Chunk]:
    """Chunks that nobody has written yet."""
    return [
        Chunk(task, str(task), _PLATFORM, secrets.token_bytes(16), number, 1, [_document(n) for n in range(_DOCUMENTS)])
        for task in tasks
    ]


def _document(n: int) -> dict[str, object]:
    return {"url": f"https://board.example/t/{n}", "title": f"Thread {n}", "words": ["one", "two"], "replies": n}


def rows(organisation: UUID, chunks: list[Chunk]) -> list[Row]:
    return [
        (chunk.task, organisation, Space.MAIN.value, chunk.key, chunk.number, place, orjson.dumps(document).decode())
        for chunk in chunks
        for place, document in enumerate(chunk.documents, start=1)
    ]


class Bench:
    """One run, on one PostgreSQL."""

    def __init__(self, url: str, db: Database, rounds: int, batches: int) -> None:
        self.url = url
        self.db = db
        self.rounds = rounds
        self.batches = batches
        self.report = Report()
        self.organisation, self.tasks = ground(url)
        self.target = PostgresTarget(db)

    async def ours(self, chunks: list[Chunk]) -> None:
        await self.target.write(self.organisation, Space.MAIN, chunks)

    async def copied(self, chunks: list[Chunk]) -> None:
        async with self.db.transaction(self.organisation) as conn:
            cur = conn.cursor()
            async with cur.copy(_COPY) as copy:
                for row in rows(self.organisation, chunks):
                    await copy.write_row(row)
            await cur.execute(_UPSERT)

    async def one_by_one(self, chunks: list[Chunk]) -> None:
        async with self.db.transaction(self.organisation) as conn:
            for row in rows(self.organisation, chunks[:_ONE_BY_ONE]):
                await conn.execute(_INSERT, row)

    async def run(self) -> None:
        variants: dict[str, tuple[Callable[[list[Chunk]], Awaitable[None]], int, int]] = {
            "the writer": (self.ours, self.batches, CHUNKS),
            "COPY and upsert": (self.copied, self.batches, CHUNKS),
            "row by row": (self.one_by_one, 1, _ONE_BY_ONE),
        }
        async with self.db.transaction(self.organisation) as conn:
            await conn.execute(_TABLE)
        for turn in range(self.rounds + 1):
            order = list(variants.items())
            for name, (write, batches, chunks) in order if turn % 2 else reversed(order):
                given = [batch(self.tasks, turn * self.batches + n) for n in range(batches)]
                await asyncio.to_thread(self._clear)
                began = time.perf_counter()
                for one in given:
                    await write(one)
                rate = batches * chunks * _DOCUMENTS / (time.perf_counter() - began)
                await asyncio.to_thread(self._check, batches * chunks * _DOCUMENTS)
                if turn:  # the first makes connections and plans
                    self.report.add(f"{name}: rows/s", rate)
                    print(f"{time.strftime('%H:%M:%S')}  {name}: {rate:,.0f} rows/s", flush=True)
        ours, copied, slow = (f"{name}: rows/s" for name in variants)
        self.report.ratio("rows/s, the writer ÷ COPY and upsert", ours, copied, aims.ROWS_TO_COPY)
        self.report.ratio("rows/s, the writer ÷ row by row", ours, slow)

    def _clear(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as conn:
            conn.execute("TRUNCATE result")
            conn.execute("CHECKPOINT")

    def _check(self, wanted: int) -> None:
        with psycopg.connect(self.url) as conn:
            row = conn.execute("SELECT count(*) FROM result").fetchone()
        if row is None or row[0] != wanted:
            raise RuntimeError(f"{row} rows were written, not {wanted}")


async def measure(url: str, rounds: int, batches: int) -> Report:
    await token(url)  # which makes the organisation
    async with Database(url, pool_size=1) as db:
        bench = Bench(url, db, rounds, batches)
        await bench.run()
        return bench.report


def run(json_file: Path | None, rounds: int, batches: int) -> Report:
    before = machine()
    print(f"{before['cpus']} CPUs, load {before['load']:.1f}, Python {before['python']}, Linux {before['kernel']}")
    with scratch_postgres() as (url, _):
        report = asyncio.run(measure(url, rounds, batches))
    report.print()
    if json_file:
        json_file.write_text(json.dumps({"machine": before, **report.document()}, indent=2))
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write everything that was measured here")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=5, help=f"of {CHUNKS * _DOCUMENTS:,} rows each")
    given = parser.parse_args()
    run(given.json, given.rounds, given.batches)


if __name__ == "__main__":
    main()
