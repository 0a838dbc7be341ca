"""Leases under torture: servers and clients as real processes, a nemesis, and a checker that reads what is left.

python -m tests.faults.torture --seed 1 --seconds 60 --servers 2 --clients 24 --store postgres
"""

import argparse
import asyncio
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from pymongo.errors import PyMongoError

from tests.faults import books as ledgers
from tests.faults import checker, history, sometimes
from tests.faults.books import Books
from tests.faults.clients import Orders
from tests.faults.history import Clock
from tests.faults.nemesis import Crowd, Mortal, Nemesis, Server, Victims
from tests.faults.progress import prove
from tests.parts import mongo as mongo_parts
from tests.parts import nursery
from tests.parts import postgres as parts
from tests.parts.mongo import REPLICA_SET, Mongo
from tests.parts.ports import free_port
from tests.parts.postgres import Postgres
from tests.parts.process import PATIENCE_S, Leasehold, Place, place, until
from tests.parts.weather import Sky, Weather, over_postgres

ROOT = Path(__file__).parents[2]
ADMIN = "lh_" + "Torture000" * 3
KEYS = "torture:" + "A" * 43 + "="
TTL_S = 5
# How far the database's clock may drift against the monotonic one in a run.
DRIFT_S = 0.02
# How long clients go on after the last fault, when nothing may fail any more.
HEALED_S = 4.0
# How many times its time the nemesis goes on, at the most, while something has not happened yet.
ROUNDS = 3
CROWDS = 4
TOLD_EVERY_S = 5.0

POLICY = {"reclaim_delay_seconds": 1, "quarantine_after_unclean": 1000, "breaker_min_accounts": 1_000_000}
# A third of the accounts carry the labels, and a third of those who ask want them: then two servers that serve one site
# at the same time do not look at the same accounts first.
GOLD = {"tier": "gold"}
SITES: dict[str, dict[str, Any]] = {
    "plain": {"accounts": 24, "weight": 35, "policy": {"reclaim_delay_seconds": 0}, "labels": GOLD},
    "capped": {"accounts": 16, "weight": 20, "policy": {"max_concurrent_accounts": 6}},
    "tight": {
        "accounts": 12,
        "weight": 25,
        "policy": {"max_concurrent_accounts": 3},
        "labels": GOLD,
        "can_wait": False,
    },
    "cooled": {"accounts": 20, "weight": 15, "policy": {"cooldown_seconds": 1}},
}
# Where hardly anybody asks, nobody notices for a while that a lease ran out.
QUIET = {"accounts": 6, "weight": 3, "policy": {"reclaim_delay_seconds": 0}, "is_sleepy": True}
SITES |= {f"quiet-{number}": QUIET for number in range(1, 7)}

say = partial(print, flush=True)


@dataclass(frozen=True, slots=True)
class Plan:
    seed: int
    seconds: float
    servers: int = 2
    clients: int = 24
    # Where the servers take leasehold from; as it is installed when empty.
    pythonpath: str = ""
    # Whether servers are killed and stopped, and whether the database is, and the way to it gets weather.
    strikes_servers: bool = True
    strikes_database: bool = False

    def must(self, stores: "Stores") -> Iterator[str]:
        """What must have happened, or the run shows nothing."""
        yield from sometimes.MUST if self.strikes_servers else sometimes.LEAST
        if self.strikes_servers:
            yield from ("server kills", "server stops")
        if self.strikes_database:
            yield "database kills"
        if self.strikes_database and not stores.mongo_url:
            yield from [f"wire {weather}s" for weather in Weather if weather is not Weather.FAIR]


@dataclass(frozen=True, slots=True)
class Stores:
    """Where the servers keep everything."""

    url: str
    # The database of the pools itself, to be killed; only one that nobody shares.
    database: Mortal | None = None
    # Where the pools are, when that is not in PostgreSQL with the rest.
    mongo_url: str = ""

    @property
    def settings(self) -> dict[str, str]:
        return self.settings_under(None)

    def settings_under(self, sky: Sky | None) -> dict[str, str]:
        """Where a server finds them: directly, or on a way with weather."""
        found = {"LEASEHOLD_DATABASE_URL": self.url}
        if sky is not None:
            place = conninfo_to_dict(self.url)
            found["LEASEHOLD_DATABASE_URL"] = f"postgresql://{place['user']}@127.0.0.1:{sky.port}/{place['dbname']}"
        if self.mongo_url:
            found |= {"LEASEHOLD_POOLS": "mongo", "LEASEHOLD_MONGO_URL": self.mongo_url}
        return found

    def books(self) -> Books:
        return ledgers.from_mongo(self.url, self.mongo_url) if self.mongo_url else ledgers.from_postgres(self.url)

    def clock(self) -> Clock:
        """That of the database that holds the pools: it is their only clock."""
        return ledgers.mongo_clock(self.mongo_url) if self.mongo_url else ledgers.postgres_clock(self.url)


@dataclass(frozen=True, slots=True)
class Report:
    plan: Plan
    faults: list[str]
    counters: Counter[str]
    folder: Path

    def __str__(self) -> str:
        counts = [f"  {count:>7,} {what}" for what, count in sorted(self.counters.items())]
        faults = [f"  {fault}" for fault in self.faults[:50]]
        head = f"seed {self.plan.seed}: {len(self.faults)} faults"
        kept = [f"histories and logs are kept in {self.folder}"] if self.faults else []
        return "\n".join([head, *counts, *faults, *kept])


class Stage:
    """The processes of one run."""

    def __init__(self, plan: Plan, stores: Stores, sky: Sky | None, here: Place, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.database, self.sky = stores.database if plan.strikes_database else None, sky
        self._settings = stores.settings_under(sky)
        self._here = here
        self._tokens: dict[str, str] = {}
        self._crowd_numbers = iter(range(1, 1_000_000))
        self.servers = [self._server(f"s{number}") for number in range(1, plan.servers + 1)]
        self.recover()

    def recover(self) -> None:
        """Wait until every server can do its work."""
        for server in self.servers:
            server.running.ready()

    @property
    def addresses(self) -> list[str]:
        return [f"http://127.0.0.1:{server.port}" for server in self.servers]

    def _server(self, name: str) -> Server:
        port = free_port()
        start = partial(self._serve, str(port))
        return Server(name, port, start, start())

    def _serve(self, port: str) -> Leasehold:
        environment = {
            "LEASEHOLD_DATABASE_POOL_SIZE": "8",
            "LEASEHOLD_KEYS": KEYS,
            "LEASEHOLD_BOOTSTRAP_TOKEN": ADMIN,
            "LEASEHOLD_LOG_LEVEL": "warning",
            **self._settings,
        }
        if self.plan.pythonpath:
            environment["PYTHONPATH"] = self.plan.pythonpath
        return self._here.start("serve", "--port", port, **environment)

    def furnish(self) -> None:
        """Sites, accounts and tokens."""
        for site, wanted in SITES.items():
            policy = POLICY | wanted["policy"]
            self._make("/v2/sites", {"slug": site, "domain": f"{site}.example", "policy": policy})
            items = [
                {
                    "site": site,
                    "username": f"{site}-{number}",
                    "secret": {"password": "LHCANARYx"},
                    "labels": wanted.get("labels", {}) if number % 3 == 0 else {},
                }
                for number in range(wanted["accounts"])
            ]
            self._make("/v2/accounts/import", {"items": items})
        for role in ("collector", "operator"):
            self._tokens[role] = self._make("/v2/tokens", {"name": role, "role": role})["token"]

    def _make(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        response = self.servers[0].running.ask("POST", path, ADMIN, body)
        assert response.status_code in (200, 201), response.text
        made: dict[str, Any] = response.json()
        return made

    def crowd(self, role: str = "collector") -> Crowd:
        """Start a process of clients."""
        clients = self.plan.clients // CROWDS if role == "collector" else 1
        orders = Orders(
            folder=str(self.folder),
            process=f"{role[0]}{next(self._crowd_numbers)}",
            clients=clients,
            seed=str(self.plan.seed),
            servers=self.addresses,
            token=self._tokens[role],
            places=[
                {
                    "site": site,
                    **{name: wanted[name] for name in ("weight", "labels", "can_wait", "is_sleepy") if name in wanted},
                }
                for site, wanted in SITES.items()
            ],
            ttl_s=TTL_S,
            role=role,
        )
        err = self.folder / f"{orders.process}.err"
        words = [json.dumps(asdict(orders))]
        process = nursery.start(words, self._here.folder, os.environ, err, err, module="tests.faults.clients")
        return Crowd(orders.process, process)


async def perform(stage: Stage, tell: Callable[[], None], missing: Callable[[], list[str]]) -> list[str]:
    """Load, torment, heal, and see that everything goes on; returns what did not. A busy machine does less in its time:
    while something that must happen is missing, there is more."""
    plan = stage.plan
    crowds = [stage.crowd() for _ in range(CROWDS)]
    operator = stage.crowd("operator")
    log = history.Recorder(stage.folder, history.NEMESIS)
    telling = asyncio.create_task(_tell(tell))
    try:
        await asyncio.to_thread(until, lambda: all(_has_begun(stage.folder, crowd) for crowd in crowds))
        servers = stage.servers if plan.strikes_servers else []
        victims = Victims(crowds, stage.crowd, servers, stage.recover, stage.database, stage.sky)
        nemesis = Nemesis(str(plan.seed), TTL_S, log)
        for _ in range(ROUNDS):
            await nemesis.torment(victims, plan.seconds)
            await asyncio.sleep(HEALED_S)
            if not await asyncio.to_thread(missing):
                break
        ended = await asyncio.gather(*(asyncio.to_thread(_end, crowd) for crowd in (*crowds, operator)))
    finally:
        telling.cancel()
        log.close()
        for crowd in (*crowds, operator):
            crowd.process.kill()
            crowd.process.wait()
    # A process of clients that came to an end by itself made the run easier than it looks.
    faults = [f"clients: {fault}" for fault in ended if fault]
    return faults + await prove(stage.folder, stage.addresses, ADMIN, SITES, TTL_S)


def _has_begun(folder: Path, crowd: Crowd) -> bool:
    return any(file.stat().st_size for file in folder.glob(f"{crowd.name}.*.jsonl"))


def _end(crowd: Crowd) -> str | None:
    if crowd.process.poll() is not None:
        return f"{crowd.name} ended early with {crowd.process.returncode}"
    crowd.process.terminate()
    try:
        code = crowd.process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        crowd.process.kill()
        code = crowd.process.wait()
    return f"{crowd.name} ended with {code}" if code else None


async def _tell(tell: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(TOLD_EVERY_S)
        await asyncio.to_thread(tell)


async def torture(plan: Plan, stores: Stores) -> Report:
    """One run, from the first process to the verdict. The folder with everything is left only if there are faults."""
    folder = Path(tempfile.mkdtemp(prefix=f"leasehold-torture-{plan.seed}-"))
    say(f"torture: {plan}, histories in {folder}")
    before = stores.clock()
    began = time.monotonic()

    def tell() -> None:
        with suppress(psycopg.Error, PyMongoError):  # it is dead, just now
            grants = stores.books().grants
            ends = Counter(grant.how or "live" for grant in grants)
            say(f"  {time.monotonic() - began:5.1f} s: {len(grants):,} grants, {dict(ends)}")

    def seen() -> checker.Case:
        books = stores.books()
        return checker.Case(history.read(folder, ledgers.either(before, stores.clock()), DRIFT_S), books)

    def missing() -> list[str]:
        return sometimes.missing(sometimes.counted(seen()), plan.must(stores))

    async with AsyncExitStack() as stack:
        is_wired = plan.strikes_database and not stores.mongo_url
        sky = await stack.enter_async_context(over_postgres(stores.url)) if is_wired else None
        here = stack.enter_context(place())
        stack.enter_context(_kept(here, folder))
        stage = await asyncio.to_thread(Stage, plan, stores, sky, here, folder)
        await asyncio.to_thread(stage.furnish)
        faults = await perform(stage, tell, missing)
        case = seen()
        faults += await asyncio.to_thread(_verified, here, stores)
    faults += [*_deadlocks(folder), *checker.check(case.history, case.books)]
    counters = sometimes.counted(case)
    faults += sometimes.missing(counters, plan.must(stores))
    if not faults:
        shutil.rmtree(folder)
    return Report(plan, faults, counters, folder)


@contextmanager
def _kept(here: Place, folder: Path) -> Iterator[None]:
    """What the servers said goes with the histories."""
    try:
        yield
    finally:
        for log in (*here.folder.glob("*.out"), *here.folder.glob("*.err")):
            shutil.copy(log, folder)


def _verified(here: Place, stores: Stores) -> list[str]:
    """What the product itself says of its books."""
    ended = here.run("verify", LEASEHOLD_KEYS=KEYS, **stores.settings)
    return [] if ended.code == 0 else [f"verify says {ended.out}{ended.err}"]


def _deadlocks(folder: Path) -> Iterator[str]:
    """Batches that waited for each other in a circle: one of them is answered 503 with nothing being broken."""
    for log in sorted(folder.glob("*-serve.err")):
        if count := log.read_text(errors="replace").count("DeadlockDetected"):
            yield f"servers: {log.name} tells of {count} calls that ended in a deadlock of the database"


def stores_in(postgres: Postgres, mongo: Mongo | None = None) -> Stores:
    """Databases of their own for one run."""
    name = f"lh_torture_{secrets.token_hex(4)}"
    mongo_url = f"mongodb://127.0.0.1:{mongo.port}/{name}?replicaSet={REPLICA_SET}" if mongo else ""
    return Stores(postgres.create(name).url, mongo or postgres, mongo_url)


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    words.add_argument("--seconds", type=float, default=60.0, help="how long the nemesis works")
    words.add_argument("--servers", type=int, default=2)
    words.add_argument("--clients", type=int, default=24)
    words.add_argument("--store", choices=["postgres", "mongo"], default="postgres")
    words.add_argument("--pythonpath", default="", help="where the servers take leasehold from")
    words.add_argument("--database", dest="strikes_database", action="store_true", help="strike the database, too")
    given = vars(words.parse_args())
    with ExitStack() as stack:
        mongo = stack.enter_context(mongo_parts.running()) if given.pop("store") == "mongo" else None
        postgres = stack.enter_context(parts.alone())
        report = asyncio.run(torture(Plan(**given), stores_in(postgres, mongo)))
    say(report)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
