"""All benchmarks of the report, and how large each is: whole, or short to see that it works.

Each is measured in a process of its own (`python -m bench.turns`), on services of its own, so that one that fails takes
nothing along. What it found comes back as a file.
"""

import argparse
import importlib
import json
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.leases import Bench as Leases
    from bench.measured import Report


@dataclass(frozen=True, slots=True)
class Plan:
    """How thoroughly to measure."""

    rounds: int = 3
    is_quick: bool = False
    data: str | None = None  # the folder of labelled sets


@dataclass(frozen=True, slots=True)
class Turn:
    """One benchmark: what it is about, the function that measures it, and about how long it takes in whole."""

    name: str
    what: str
    where: str
    minutes: float
    needs_data: bool = False


TURNS = (
    Turn("rewrite", "Rewriting URLs", "bench.turns:rewrite", 0.5),
    Turn("sessions", "Merging sessions", "bench.turns:sessions", 0.3),
    Turn("writer", "Writing results", "bench.turns:writer", 0.5),
    Turn("leases", "Leases over HTTP", "bench.turns:leases", 2.0),
    Turn("grants", "What a grant costs the database", "bench.turns:grants", 3.5),
    Turn("mongo", "Leases with pools in MongoDB", "bench.turns:mongo", 1.0),
    Turn("wake-up", "Waking a waiter", "bench.turns:wake_up", 0.4),
    Turn("seeds", "Handing out seeds", "bench.turns:seeds", 4.0),
    Turn("captures", "Uploads of captures", "bench.turns:captures", 0.7),
    Turn("jobs", "Jobs over HTTP", "bench.turns:jobs", 1.5),
    Turn("rabbitmq", "Jobs over RabbitMQ", "bench.turns:rabbitmq", 1.2),
    Turn("runs", "Runs and live sockets", "bench.turns:runs", 2.5),
    Turn("identity", "Linking records", "bench.turns:identity", 16.0, needs_data=True),
)


def rewrite(plan: Plan) -> "Report":
    from bench import rewrite

    return rewrite.run(None, max(plan.rounds, 3 if plan.is_quick else 7))


def sessions(plan: Plan) -> "Report":
    from bench import sessions

    return sessions.run(None, max(plan.rounds, 3 if plan.is_quick else 15))


def writer(plan: Plan) -> "Report":
    from bench import writer

    return writer.run(None, plan.rounds if plan.is_quick else max(plan.rounds, 5), 1 if plan.is_quick else 5)


@contextmanager
def _leases(plan: Plan) -> "Iterator[Leases]":
    from bench.ground import scratch_postgres
    from bench.leases import Bench

    with scratch_postgres() as (url, programs):
        yield Bench(url, programs, plan.rounds, 1 if plan.is_quick else 4)


def leases(plan: Plan) -> "Report":
    with _leases(plan) as bench:
        bench.compare(2_000 if plan.is_quick else 100_000, [64])
        return bench.report


def grants(plan: Plan) -> "Report":
    with _leases(plan) as bench:
        bench.grant_cost(*((1_000, 2_000) if plan.is_quick else (10_000, 1_000_000)))
        return bench.report


def mongo(plan: Plan) -> "Report":
    with _leases(plan) as bench:
        bench.mongo(2_000 if plan.is_quick else 10_000)
        return bench.report


def wake_up(plan: Plan) -> "Report":
    with _leases(plan) as bench:
        bench.wake()
        return bench.report


def seeds(plan: Plan) -> "Report":
    from bench import seeds

    if plan.is_quick:
        return seeds.run(None, plan.rounds, 10, 5_000)
    return seeds.run(None, max(plan.rounds, 5), 100, 1_000_000)


def captures(plan: Plan) -> "Report":
    from bench import captures

    return captures.run(None, plan.rounds if plan.is_quick else max(plan.rounds, 7), 2 if plan.is_quick else 100)


def jobs(plan: Plan) -> "Report":
    from bench import jobs

    return jobs.run(None, plan.rounds, 200 if plan.is_quick else 4000, "http")


def rabbitmq(plan: Plan) -> "Report":
    from bench import jobs

    return jobs.run(None, plan.rounds, 200 if plan.is_quick else 4000, "rabbitmq")


def runs(plan: Plan) -> "Report":
    from bench import runs

    items, sockets = (200, 20) if plan.is_quick else (10_000, 1000)
    return runs.run(None, items, sockets, plan.rounds)


def identity(plan: Plan) -> "Report":
    from bench import identity

    shuffles, held, only = (2, 0, "fodors") if plan.is_quick else (20, 100_000, "")
    return identity.run(Path(plan.data or ""), None, max(shuffles, plan.rounds), held, only)


def found(turn: Turn, plan: Plan) -> dict[str, Any]:
    """What was measured, or why nothing was."""
    module, _, name = turn.where.partition(":")
    measure: Callable[[Plan], Report] = getattr(importlib.import_module(module), name)
    try:
        report = measure(plan)
    except subprocess.CalledProcessError as error:
        # Its command has a token in it.
        print(str(error.stderr or "")[-2000:], file=sys.stderr)
        return {"why": f"a process it started ended with {error.returncode}; what it said is above the report"}
    except Exception as error:
        traceback.print_exception(error)
        return {"why": f"{type(error).__name__}: {error}"}
    return {"ratios": [asdict(ratio) for ratio in report.ratios.values()], "figures": report.values}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turn", required=True, help="as JSON")
    parser.add_argument("--plan", required=True, help="as JSON")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    told = found(Turn(**json.loads(given.turn)), Plan(**json.loads(given.plan)))
    given.out.write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
