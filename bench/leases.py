"""Acquire and release over HTTP: against plain transactions, against pgbench, and as pools grow and fill up.

Everything is printed as ratios inside one run, with the median and the spread of repeated rounds whose variants take
turns: absolute figures say more about the machine than about leasehold.
"""

import argparse
import asyncio
import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import psycopg
from psycopg import sql

from bench import aims, mongo, pgbench
from bench.ground import SITES, fill, make_busy, scratch_postgres, serving, token
from bench.measured import NOTHING, Report
from bench.wake import wake_ups
from leasehold.migrate import migrate

# What is asked is asked at so many.
ASKED_CLIENTS = 64


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def load(port: int, bearer: str, clients: int, sites: int, seconds: float) -> dict[str, float]:
    words = ["--port", str(port), "--token", bearer, "--clients", str(clients), "--sites", str(sites)]
    command = [sys.executable, "-m", "bench.load", *words, "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    if found["errors"]:
        raise RuntimeError(f"{found['errors']} requests failed")
    return found


class Bench:
    """One run, on one PostgreSQL."""

    def __init__(self, url: str, programs: Path, rounds: int, seconds: float) -> None:
        self.url = url
        self.programs = programs
        self.rounds = rounds
        self.seconds = seconds
        self.report = Report()
        self.bearer = asyncio.run(token(url))

    def say(self, what: str) -> None:
        print(f"{time.strftime('%H:%M:%S')}  {what}", flush=True)

    def serve(self, name: str, flags: Sequence[str], clients: Sequence[int], sites: int = SITES) -> None:
        port = free_port()
        with serving(self.url, port, *flags):
            load(port, self.bearer, max(clients), sites, 1.0)  # warm: connections, plans
            for count in clients:
                found = load(port, self.bearer, count, sites, self.seconds)
                self.report.add(f"{name}, {count} clients: pairs/s", found["pairs_per_second"])
                self.report.add(f"{name}, {count} clients: p99 ms", found["p99_ms"])
                self.say(
                    f"{name}, {count} clients: {found['pairs_per_second']:.0f} pairs/s, p99 {found['p99_ms']:.0f} ms"
                )

    def compare(self, accounts: int, clients: Sequence[int], sites: int = SITES) -> None:
        """The product, plain transactions and pgbench on one pool."""
        self.say(f"filling {accounts:,} accounts over {sites} sites")
        organisation = fill(self.url, accounts, sites)
        pool = f"{accounts:,} accounts"
        for _ in range(self.rounds):
            self.serve(f"{pool}, batched", [], clients, sites)
            self.serve(f"{pool}, plain", ["--plain"], clients, sites)
            if sites == SITES:  # its script cannot go on when a site has nothing free
                self.pgbench(f"{pool}, pgbench", organisation)
        for count in clients:
            ours, theirs = f"{pool}, batched, {count} clients", f"{pool}, plain, {count} clients"
            what = f"{pool}, {count} clients"
            is_asked = count == ASKED_CLIENTS and sites == SITES
            plain, tail, floor = (
                (aims.PAIRS_TO_PLAIN, aims.P99_TO_PLAIN, aims.PAIRS_TO_PGBENCH) if is_asked else (NOTHING,) * 3
            )
            self.report.ratio(f"{what}: pairs/s, batched ÷ plain", f"{ours}: pairs/s", f"{theirs}: pairs/s", plain)
            self.report.ratio(f"{what}: p99, batched ÷ plain", f"{ours}: p99 ms", f"{theirs}: p99 ms", tail)
            if sites < SITES:
                continue
            in_c = f"{pool}, pgbench: pairs/s"
            self.report.ratio(f"{what}: pairs/s, batched ÷ pgbench", f"{ours}: pairs/s", in_c, floor)

    def pgbench(self, name: str, organisation: UUID) -> None:
        text = pgbench.script(organisation, SITES)
        url = self.url + ("&" if "?" in self.url else "?") + "options=-crole%3Dleasehold_app"
        best = max(
            pgbench.pairs_per_second(self.programs, url, text, count, int(self.seconds)) for count in (4, 16, 32)
        )
        self.report.add(f"{name}: pairs/s", best)
        self.say(f"{name}: {best:.0f} pairs/s at its best")

    def grant_cost(self, small: int, large: int) -> None:
        """What one pair costs the database, as the pool grows, and when nearly all of every site is busy."""
        pools: dict[str, tuple[str, UUID]] = {}
        for name, accounts in (("small", small), ("busy", small), ("large", large)):
            self.say(f"grant cost, {name}: filling {accounts:,} accounts")
            url = self.database(f"cost_{name}")
            pools[name] = url, fill(url, accounts)
        make_busy(pools["busy"][0], percent=99)
        for _ in range(self.rounds):
            for name, (url, organisation) in pools.items():
                as_app = url + ("&" if "?" in url else "?") + "options=-crole%3Dleasehold_app"
                text = pgbench.script(organisation, SITES)
                found = pgbench.pairs_per_second(self.programs, as_app, text, 1, int(self.seconds))
                self.report.add(f"cost, {name}: ms", 1000 / found)
                self.say(f"grant cost, {name}: {1000 / found:.2f} ms a pair")
        many, busy, few = "cost, large: ms", "cost, busy: ms", "cost, small: ms"
        self.report.ratio(f"cost of a pair: {large:,} accounts ÷ {small:,}", many, few, aims.GRANT_OF_MANY)
        self.report.ratio("cost of a pair: 99 % of every site busy ÷ idle", busy, few, aims.GRANT_WHEN_BUSY)

    def database(self, name: str) -> str:
        """One more on the same PostgreSQL, so that pools take turns; its address."""
        with psycopg.connect(self.url, autocommit=True) as conn:
            conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        parts = urlsplit(self.url)
        url = urlunsplit(parts._replace(path=f"/{name}"))
        migrate(url)
        asyncio.run(token(url))
        return url

    def mongo(self, accounts: int) -> None:
        """The same pool in MongoDB, against bare updates of one document each."""
        fill(self.url, accounts)
        with mongo.scratch_mongo() as address:
            self.say("moving the pool to MongoDB")
            asyncio.run(mongo.carry(self.url, address))
            for _ in range(self.rounds):
                self.serve("mongo", ["--mongo", address], [64])
                bare = asyncio.run(mongo.bare_pairs(address, 64, SITES, self.seconds))
                self.report.add("mongo, bare: pairs/s", bare)
                self.say(f"mongo, bare find_one_and_update, 64 tasks: {bare:.0f} pairs/s")
        self.report.ratio(
            "MongoDB: over HTTP ÷ bare find_one_and_update, 64 clients",
            "mongo, 64 clients: pairs/s",
            "mongo, bare: pairs/s",
            aims.PAIRS_TO_BARE_MONGO,
        )
        with psycopg.connect(self.url, autocommit=True) as conn:
            conn.execute("UPDATE pool SET store = 'postgres', moving_to = NULL")

    def wake(self) -> None:
        fill(self.url, 100)
        for _ in range(self.rounds):
            notified, polled = asyncio.run(wake_ups(self.url, self.bearer, 60))
            self.report.add("wake-up: ms", notified)
            self.report.add("polling: ms", polled)
            self.say(f"a waiter in another process is woken after {notified:.1f} ms; by polling {polled:.1f} ms")
        self.report.ratio(
            "wake-up of a waiter ÷ a 10 ms polling loop (p50)", "wake-up: ms", "polling: ms", aims.WAKE_UP
        )


def machine() -> dict[str, Any]:
    return {
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "kernel": platform.release(),
    }


def run(json_file: Path | None, rounds: int, seconds: float, large: int) -> None:
    before = machine()
    print(f"{before['cpus']} CPUs, load {before['load']:.1f}, Python {before['python']}, Linux {before['kernel']}")
    with scratch_postgres() as (url, programs):
        bench = Bench(url, programs, rounds, seconds)
        bench.compare(100, [1, 8, 64], sites=20)
        bench.compare(10_000, [1, 8, 64])
        bench.grant_cost(10_000, large)
        bench.compare(large, [1, 8, 64])
        bench.mongo(10_000)
        bench.wake()
        bench.report.print()
        if json_file:
            json_file.write_text(json.dumps({"machine": before, **bench.report.document()}, indent=2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write everything that was measured here")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--large", type=int, default=1_000_000)
    given = parser.parse_args()
    run(given.json, given.rounds, given.seconds, given.large)


if __name__ == "__main__":
    main()
