"""Jobs from end to end, with limits and books on, against what else could carry them, in the same rounds.

Over HTTP: a job is submitted, dispatched, done by a worker that does nothing, its result written, and the job
completed, against Procrastinate on the same PostgreSQL. Over RabbitMQ: `transport.py` says what is compared.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg

from bench import aims, transport
from bench.ground import scratch_postgres, serving, token
from bench.leases import free_port, machine
from bench.measured import NOTHING, Report
from bench.rabbit import scratch_rabbit
from leasehold.life import CannotStart

# What a platform bears is on, and never in the way.
PLATFORM = """
platform: bench
task_types:
  page:
    schema: {type: object, required: [page], additionalProperties: false, properties: {page: {type: string}}}
    example: {page: front}
limits: {concurrency: 5000, rate: {tasks: 1000000, per_seconds: 1.0, burst: 1000000}}
"""
BATCHES = (1, 10, 100)
# Each side is measured at its best: so many producers and as many workers of ours, so many slots of theirs.
_CROWDS = (1, 2, 4)
_RIVALS_SLOTS = (10, 20)
PARTS = ("http", "rabbitmq")
_OURS_AMQP, _BARE_AMQP = "leasehold over RabbitMQ: messages/s", "bare aio-pika: messages/s"


def measured(module: str, **given: Any) -> dict[str, Any]:
    words = [word for name, value in given.items() for word in (f"--{name}", str(value))]
    done = subprocess.run([sys.executable, "-m", module, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


class Bench:
    """One run, on one PostgreSQL and one RabbitMQ, if that is measured, too."""

    def __init__(self, url: str, broker: str | None, folder: Path, rounds: int, jobs: int) -> None:
        self.url = url
        self.broker = broker
        self.folder = folder
        self.rounds = rounds
        self.jobs = jobs
        self.report = Report()
        self.bearer = asyncio.run(token(url))

    def say(self, what: str) -> None:
        print(f"{time.strftime('%H:%M:%S')}  {what}", flush=True)

    def ours(self) -> None:
        port = free_port()
        with serving(self.url, port, "--platforms", str(self.folder)):
            common = {"port": port, "token": self.bearer}
            measured("bench.crowd", jobs=100, batch=10, submit=10, crowd=2, **common)  # warm: connections, plans
            for batch in BATCHES:
                given = {"jobs": max(200, self.jobs * batch // BATCHES[-1]), "batch": batch, "submit": batch, **common}
                rates = {crowd: measured("bench.crowd", crowd=crowd, **given)["jobs_per_second"] for crowd in _CROWDS}
                crowd = max(rates, key=lambda one: rates[one])
                self.report.add(f"leasehold, batches of {batch}: jobs/s", rates[crowd])
                self.say(f"leasehold, batches of {batch}, {crowd} of each: {rates[crowd]:.0f} jobs/s")
            light = {"jobs": 0, "batch": 1, "submit": 1, "latency": 100, "crowd": 1}
            seconds = sorted(measured("bench.crowd", **light, **common)["seconds"])
            p95 = 1000 * seconds[int(len(seconds) * 0.95)]
            self.report.add("dispatch at light load: p95 ms", p95)
            self.say(f"from commit to a waiting worker's hands at light load: p95 {p95:.1f} ms")
        self.balance()

    def theirs(self) -> None:
        url = self.rivals_url()
        given = {"database": url, "jobs": max(200, self.jobs // 4)}
        rates = {n: measured("bench.rivals", concurrency=n, **given)["jobs_per_second"] for n in _RIVALS_SLOTS}
        slots = max(rates, key=lambda one: rates[one])
        self.report.add("Procrastinate: jobs/s", rates[slots])
        self.say(f"Procrastinate, deferred in batches, {slots} slots: {rates[slots]:.0f} jobs/s")

    def bare(self, broker: str) -> None:
        found = measured("bench.bare", broker=broker, messages=self.jobs * transport.MESSAGES_OF_A_JOB)
        self.report.add(_BARE_AMQP, found["messages_per_second"])
        self.say(f"bare aio-pika, published, consumed and acknowledged: {found['messages_per_second']:.0f} messages/s")

    def over_rabbit(self, broker: str) -> None:
        rate = transport.through(self.url, broker, self.folder, self.jobs)
        self.report.add(_OURS_AMQP, rate)
        self.say(f"leasehold over RabbitMQ, a task and a result for each job: {rate:.0f} messages/s")
        self.balance()

    def rivals_url(self) -> str:
        """A database of its own on the same server."""
        with psycopg.connect(self.url, autocommit=True) as conn:
            if not conn.execute("SELECT 1 FROM pg_database WHERE datname = 'rival'").fetchone():
                conn.execute("CREATE DATABASE rival")
            info = conn.info
            return psycopg.conninfo.make_conninfo(info.dsn, dbname="rival", password=info.password)

    def balance(self) -> None:
        with psycopg.connect(self.url) as conn:
            row = conn.execute("SELECT count(*) FROM task WHERE status <> 'completed'").fetchone()
        if row is None or row[0]:
            raise RuntimeError(f"{row} tasks were not completed")

    def run(self, *, over_http: bool) -> None:
        for _ in range(self.rounds):
            if over_http:
                self.ours()
                self.theirs()
            if self.broker:
                self.bare(self.broker)
                self.over_rabbit(self.broker)
        if over_http:
            for batch in BATCHES:
                name = f"leasehold, batches of {batch}: jobs/s"
                aim = aims.JOBS_TO_PROCRASTINATE if batch == BATCHES[-1] else NOTHING
                self.report.ratio(f"jobs/s, batches of {batch} ÷ Procrastinate", name, "Procrastinate: jobs/s", aim)
        if self.broker:
            name = "messages/s over RabbitMQ ÷ bare aio-pika"
            self.report.ratio(name, _OURS_AMQP, _BARE_AMQP, aims.MESSAGES_TO_AIO_PIKA)

    def print(self) -> None:
        self.report.print()
        if latencies := self.report.values.get("dispatch at light load: p95 ms"):
            print(f"dispatch at light load, p95: {statistics.median(latencies):.1f} ms")
        if self.broker:
            print("A message over RabbitMQ is one that was published with a confirm, consumed and acknowledged.")
            print("A job of ours is two: its task, and its result, which is written and has completed the job.")


def run(json_file: Path | None, rounds: int, jobs: int, only: str | None = None) -> Report:
    if only not in (None, *PARTS):
        raise CannotStart(f"There is no part {only!r}: --only takes {' or '.join(PARTS)}.")
    before = machine()
    print(f"{before['cpus']} CPUs, load {before['load']:.1f}, Python {before['python']}, Linux {before['kernel']}")
    with ExitStack() as ground:
        broker = ground.enter_context(scratch_rabbit()) if only != "http" else None
        url, _ = ground.enter_context(scratch_postgres())
        folder = Path(ground.enter_context(tempfile.TemporaryDirectory(prefix="leasehold-platforms-")))
        (folder / "bench.yaml").write_text(PLATFORM)
        (folder / f"{transport.PLATFORM}.yaml").write_text(transport.FILE)
        bench = Bench(url, broker, folder, rounds, jobs)
        bench.run(over_http=only != "rabbitmq")
        bench.print()
        if json_file:
            json_file.write_text(json.dumps({"machine": before, **bench.report.document()}, indent=2))
    return bench.report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write everything that was measured here")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=4000)
    parser.add_argument("--only", choices=PARTS)
    given = parser.parse_args()
    run(given.json, given.rounds, given.jobs, given.only)


if __name__ == "__main__":
    main()
