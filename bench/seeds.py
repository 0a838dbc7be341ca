"""What handing out due seeds costs: with few and with a million, with most not due, at one site and at hundreds.

Organisations of one database take turns in every round, so that a ratio says something about seeds and not about the
machine. Measured at the service, where nothing of HTTP hides a difference.
"""

import argparse
import asyncio
import json
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psycopg

from bench import aims
from bench.ground import scratch_postgres
from bench.leases import machine
from bench.measured import NOTHING, Aim, Report
from leasehold.caller import Caller
from leasehold.db import Database
from leasehold.ids import uuid7
from leasehold.leases import BoundLeases, PostgresFace, Timekeeper, Wanted
from leasehold.metrics import Metrics
from leasehold.seeds import Seeds
from leasehold.sites import Sites

FEW, SITES = 1_000, 500


@dataclass(frozen=True)
class Plot:
    """Seeds of one organisation: how many, over how many sites, and how many of a hundred are due."""

    name: str
    seeds: int
    sites: int
    due_percent: int


def fill(url: str, plot: Plot) -> UUID:
    """Make it past the API; what falls due first was due longest."""
    organisation = uuid7()
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("INSERT INTO organisation (id, slug) VALUES (%s, %s)", [organisation, f"o{organisation.hex}"])
        conn.execute(
            "INSERT INTO site (organisation, slug, name) SELECT %s, 's' || n, 's' || n FROM generate_series(1, %s) n",
            [organisation, plot.sites],
        )
        conn.execute(
            "INSERT INTO mount (id, organisation, site, host, scheme, prefix, subdomains, fold, trust, current)"
            " SELECT gen_random_uuid(), %s, 's' || n, 's' || n || '.example', 'https', '/', 'keep', '{www}',"
            " 'credentials', true FROM generate_series(1, %s) n",
            [organisation, plot.sites],
        )
        conn.execute(
            "INSERT INTO seed (id, organisation, site, sub, rest, reference, original_url, next_due_at)"
            " SELECT gen_random_uuid(), %s, 's' || 1 + n %% %s, '', '/' || n, sha256(convert_to(' /' || n, 'UTF8')),"
            "        'https://s.example/' || n, clock_timestamp() + CASE WHEN n %% 100 < %s"
            "        THEN -random() * interval '1 day' ELSE interval '1 hour' + random() * interval '14 days' END"
            "   FROM generate_series(1, %s) n",
            [organisation, plot.sites, plot.due_percent, plot.seeds],
        )
    return organisation


def tidy(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE")


class Bench:
    """One run, on one PostgreSQL."""

    def __init__(self, url: str, db: Database, rounds: int, times: int) -> None:
        self.url = url
        self.rounds = rounds
        self.times = times
        self.report = Report()
        self.gardens: dict[Plot, UUID] = {}
        metrics = Metrics()
        self.seeds = Seeds(db, Timekeeper(db, PostgresFace(), metrics), Sites(db, {}), metrics, 86_400, BoundLeases(db))

    async def compare(self, what: str, small: Plot, large: Plot, wanted: Wanted, aim: Aim) -> None:
        """The same acquire in two gardens, one after the other again and again."""
        for _ in range(20):  # warm: connections, plans
            for one in (small, large):
                await self.acquire(self.gardens[one], wanted)
        for _ in range(self.rounds):
            took: dict[str, list[float]] = {}
            for _ in range(self.times):
                for one in (small, large):
                    took.setdefault(f"{what}, {one.name}: ms", []).append(await self.acquire(self.gardens[one], wanted))
            for name, found in took.items():
                self.report.add(name, statistics.median(found))
        names = [f"{what}, {one.name}: ms" for one in (large, small)]
        self.report.ratio(f"{what}: {large.name} ÷ {small.name}", names[0], names[1], aim)
        for name in reversed(names):
            print(f"{time.strftime('%H:%M:%S')}  {name} {statistics.median(self.report.values[name]):.2f}", flush=True)

    async def acquire(self, organisation: UUID, wanted: Wanted) -> float:
        """How long it takes, in ms; what was handed out is given back, which is not counted."""
        caller = Caller(organisation, None, "bench", frozenset())
        began = time.perf_counter()
        offer = await self.seeds.acquire(caller, wanted)
        took = (time.perf_counter() - began) * 1000
        if offer.grants:
            await self.seeds.give_back_unused(caller, offer)
        return took


def plot(name: str, seeds: int, sites: int = 1, due_percent: int = 100) -> Plot:
    return Plot(name, seeds, sites, due_percent)


async def measure(url: str, rounds: int, times: int, many: int) -> Report:
    few, lot = plot(f"{FEW:,} seeds", FEW), plot(f"{many:,} seeds", many)
    none_of_few, none_of_lot = plot(f"{FEW:,} seeds", FEW, 1, 0), plot(f"{many:,} seeds", many, 1, 0)
    hardly, wide = plot(f"1 % of {many:,}", many, 1, 1), plot(f"{many:,} seeds, {SITES} sites", many, SITES)
    async with Database(url, pool_size=4) as db:
        bench = Bench(url, db, rounds, times)
        for one in (few, lot, none_of_few, none_of_lot, hardly, wide):
            bench.gardens[one] = await asyncio.to_thread(fill, url, one)
        await asyncio.to_thread(tidy, url)
        single, ten, there = Wanted("bench", None, 1), Wanted("bench", None, 10), Wanted("bench", "s1", 1)
        await bench.compare("all due", few, lot, single, aims.SEEDS_OF_MANY)
        await bench.compare("all due, ten at once", few, lot, ten, aims.SEEDS_OF_MANY)
        await bench.compare("most not due", few, hardly, single, aims.SEEDS_OF_MANY)
        await bench.compare("none due", none_of_few, none_of_lot, single, aims.SEEDS_OF_MANY)
        await bench.compare("of any site", lot, wide, single, NOTHING)  # grows a little: it reads every bed
        await bench.compare("of one site", few, wide, there, aims.SEEDS_OF_MANY)
        return bench.report


def run(json_file: Path | None, rounds: int, times: int, many: int) -> Report:
    before = machine()
    print(f"{before['cpus']} CPUs, load {before['load']:.1f}, Python {before['python']}, Linux {before['kernel']}")
    with scratch_postgres() as (url, _programs):
        report = asyncio.run(measure(url, rounds, times, many))
    report.print()
    if json_file:
        json_file.write_text(json.dumps({"machine": before, **report.document()}, indent=2))
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write everything that was measured here")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--many", type=int, default=1_000_000)
    given = parser.parse_args()
    run(given.json, given.rounds, given.times, given.many)


if __name__ == "__main__":
    main()
