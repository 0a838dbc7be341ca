"""What driving a run costs over its bare jobs, and how soon a thousand live sockets hear what happens to it."""

import argparse
import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import psycopg

from bench import aims
from bench.ground import scratch_postgres, serving, token
from bench.jobs import measured
from bench.leases import free_port, machine
from bench.measured import Report
from bench.zero import PLATFORM


class Bench:
    """One measurement, on one PostgreSQL."""

    def __init__(self, url: str, folder: Path, items: int, sockets: int, rounds: int) -> None:
        self.url = url
        self.folder = folder
        self.items = items
        self.sockets = sockets
        self.rounds = rounds
        self.report = Report()
        self.found: dict[str, Any] = {}
        self.bearer = asyncio.run(token(url))
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute("INSERT INTO organisation_setting (organisation) SELECT id FROM organisation")

    def driving(self) -> None:
        """The bare jobs and the run take turns."""
        common = {"database": self.url, "platforms": self.folder}
        for how in ("bare", "run"):  # warm
            measured("bench.driving", how=how, items=200, **common)
        for _ in range(self.rounds):
            for how in ("bare", "run"):
                self._clear()
                found = measured("bench.driving", how=how, items=self.items, **common)
                per_item = {
                    name: 1e6 * found[name] / self.items for name in ("cpu_s", "server_cpu_s", "postgres_cpu_s")
                }
                self.report.add(f"{how}: CPU per item, us", per_item["cpu_s"])
                parts = f"server {per_item['server_cpu_s']:.0f}, PostgreSQL {per_item['postgres_cpu_s']:.0f}"
                rate = self.items / found["seconds"]
                print(f"{how:<4} {per_item['cpu_s']:6.0f} µs of CPU per item ({parts}), {rate:.0f} items/s", flush=True)
        ours, bare = "run: CPU per item, us", "bare: CPU per item, us"
        self.report.ratio("CPU per item, run ÷ bare jobs", ours, bare, aims.RUN_TO_JOBS)

    def _clear(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as conn:
            conn.execute("TRUNCATE job, task, task_event, receipt, result, lease, lease_end, run CASCADE")
            conn.execute("VACUUM ANALYZE")
            conn.execute("CHECKPOINT")

    def watching(self) -> None:
        self._clear()
        port = free_port()
        flags = ("--platforms", str(self.folder), "--zero", str(self.items))
        with serving(self.url, port, *flags) as pid:
            given = {"port": port, "token": self.bearer, "sockets": self.sockets, "server": pid}
            found = measured("bench.watchers", **given)
        self.found = found
        heard = f"{self.sockets:,} sockets hear of a commit: p99 in seconds"
        self.report.note(heard, [found["p99_s"]], aims.HEARD_AFTER_S)
        self.report.note(f"{self.sockets:,} sockets: MB more in the server", [found["added_mb"]], aims.SOCKETS_MB)
        print(
            f"{self.sockets} sockets: {found['events']} events heard by each, {found['messages']} messages in all; "
            f"commit to receipt p50 {found['p50_s']:.3f} s, "
            f"p99 {found['p99_s']:.3f} s, worst {found['worst_s']:.3f} s; server +{found['added_mb']:.1f} MB",
            flush=True,
        )


def run(json_file: Path | None, items: int, sockets: int, rounds: int = 3) -> Report:
    before = machine()
    print(f"{before['cpus']} CPUs, load {before['load']:.1f}, Python {before['python']}, Linux {before['kernel']}")
    with scratch_postgres() as (url, _), tempfile.TemporaryDirectory(prefix="leasehold-platforms-") as folder:
        Path(folder, "bench.yaml").write_text(PLATFORM)
        bench = Bench(url, Path(folder), items, sockets, rounds)
        bench.watching()
        bench.driving()
        bench.report.print()
        most = f"p99 under {aims.HEARD_AFTER_S.must} s, under {aims.SOCKETS_MB.must} MB more"
        print(f"wanted: ratio at most {aims.RUN_TO_JOBS.must}, {most}")
        if json_file:
            found = {"machine": before, **bench.report.document(), "sockets": bench.found}
            json_file.write_text(json.dumps(found, indent=2))
    return bench.report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write everything that was measured here")
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--sockets", type=int, default=1000)
    given = parser.parse_args()
    run(given.json, given.items, given.sockets)


if __name__ == "__main__":
    main()
