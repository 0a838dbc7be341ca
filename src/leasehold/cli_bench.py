"""Benchmarks on the command line. They stand beside the package, in the checkout."""

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from leasehold.cli_start import clear_errors
from leasehold.life import CannotStart

bench = typer.Typer(help="Measure this version on this machine.", no_args_is_help=True)

Json = Annotated[Path | None, typer.Option("--json", help="Write everything that was measured here.")]


@bench.command("leases")
def bench_leases(
    json_file: Json = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each variant takes its turn.")] = 3,
    seconds: Annotated[float, typer.Option(min=1, help="How long one measurement takes.")] = 4,
    accounts: Annotated[int, typer.Option(min=1000, help="The largest pool.")] = 1_000_000,
) -> None:
    """Measure acquire and release over HTTP against plain transactions, pgbench and bare MongoDB; prints ratios."""
    with clear_errors():
        _benchmark("leases").run(json_file, rounds, seconds, accounts)


@bench.command("sessions")
def bench_sessions(
    json_file: Json = None,
    rounds: Annotated[int, typer.Option(min=3, help="How often each variant takes its turn.")] = 15,
) -> None:
    """Measure the merge of a browser state against a plain merge of dictionaries; prints ratios."""
    with clear_errors():
        _benchmark("sessions").run(json_file, rounds)


@bench.command("seeds")
def bench_seeds(
    json_file: Json = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each variant takes its turn.")] = 5,
    times: Annotated[int, typer.Option(min=10, help="How many acquires one measurement takes.")] = 100,
    many: Annotated[int, typer.Option("--seeds", min=1000, help="The largest garden.")] = 1_000_000,
) -> None:
    """Measure what handing out a seed costs as they become many, as most are not due, and over hundreds of sites."""
    with clear_errors():
        _benchmark("seeds").run(json_file, rounds, times, many)


@bench.command("captures")
def bench_captures(
    json_file: Json = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each variant takes its turn.")] = 7,
    megabytes: Annotated[int, typer.Option(min=1, max=500, help="How large an upload is.")] = 100,
) -> None:
    """Measure uploads against cp and fsync of the same bytes, and what they cost the server in memory."""
    with clear_errors():
        _benchmark("captures").run(json_file, rounds, megabytes)


@bench.command("jobs")
def bench_jobs(
    json_file: Json = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each variant takes its turn.")] = 3,
    jobs: Annotated[int, typer.Option(min=100, help="How many jobs the largest batches take.")] = 4000,
    only: Annotated[str | None, typer.Option(help="One part: `http` or `rabbitmq`.")] = None,
) -> None:
    """Measure jobs from end to end against Procrastinate and against bare aio-pika; prints ratios."""
    with clear_errors():
        _benchmark("jobs").run(json_file, rounds, jobs, only)


@bench.command("runs")
def bench_runs(
    json_file: Json = None,
    items: Annotated[int, typer.Option(min=100, help="How many items the run has.")] = 10_000,
    sockets: Annotated[int, typer.Option(min=1, max=2000, help="How many watch.")] = 1000,
) -> None:
    """Measure what driving a run costs over its bare jobs, and how soon many live sockets hear of it."""
    with clear_errors():
        _benchmark("runs").run(json_file, items, sockets)


@bench.command("identity")
def bench_identity(
    data: Annotated[
        Path | None,
        typer.Option(help="The folder of labelled sets; without it, made-up records.", exists=True, file_okay=False),
    ] = None,
    json_file: Json = None,
    shuffles: Annotated[int, typer.Option(min=1, help="In how many orders each set is fed.")] = 20,
    held: Annotated[int, typer.Option(min=0, help="How many other records the full graph holds.")] = 100_000,
    only: Annotated[str, typer.Option(help="Only sets whose name has this in it.")] = "",
) -> None:
    """Measure how well and how quickly labelled records are linked, in many orders, beside Splink where it is there."""
    with clear_errors():
        _benchmark("identity").run(data, json_file, shuffles, held, only)


def _benchmark(name: str) -> Any:
    """The benchmark of that name. They stand beside the package's sources, where no installed command looks."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    if importlib.util.find_spec("bench") is None:
        raise CannotStart("The benchmarks are in the checkout, not in the package. Run this there.")
    return importlib.import_module(f"bench.{name}")
