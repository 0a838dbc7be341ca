"""The gate: what makes it red, and what does not."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from bench.gate import judge, worth_it
from bench.measured import Aim, Ratio, at_least, at_most
from bench.place import ROOT, Place
from bench.results import Result, Results
from bench.turns import Turn

from leasehold.life import CannotStart

PLACE = Place(2, "a processor", 8.0, "Linux 6", 0.1, {}, "0123456789ab", "2026-11-16 12:00 UTC", "make bench")
RATE, COST = at_least(2.0, 5.0, tolerance=0.25), at_most(1.5, 1.3, tolerance=0.25)


def run(name: str, aim: Aim, *rounds: float) -> Results:
    return Results(PLACE, 3, False, [Result("jobs", "Jobs", ratios=[Ratio(name, rounds, aim)])])


def red(before: Results, fresh: Results) -> list[str]:
    return [verdict.said for verdict in judge(before, fresh) if verdict.is_red]


@pytest.mark.parametrize(
    ("aim", "before", "fresh", "is_red"),
    [
        (RATE, 6.0, 4.6, False),
        (RATE, 6.0, 4.4, True),  # worse by more than a quarter
        (RATE, 2.1, 1.9, True),  # hardly worse, and under what it must be
        (RATE, 4.0, 9.0, False),  # better is never red
        (COST, 1.1, 1.3, False),
        (COST, 1.0, 1.3, True),
        (COST, 1.4, 1.6, True),
        (COST, 1.4, 0.2, False),
        (at_least(2.0), 6.0, 1.0, False),  # too unsteady to be compared
    ],
)
def test_a_ratio_that_fell_is_red(aim: Aim, before: float, fresh: float, is_red: bool) -> None:
    assert bool(red(run("a ratio", aim, before), run("a ratio", aim, fresh))) is is_red


def test_the_median_counts_and_not_one_bad_round() -> None:
    assert red(run("rate", RATE, 6.0, 6.0, 6.0), run("rate", RATE, 6.0, 0.1, 6.0)) == []


def test_what_is_asked_today_counts() -> None:
    harder = replace(RATE, must=7.0)

    assert red(run("rate", RATE, 6.0), run("rate", harder, 6.0)) == ["6, and it must be at least 7"]


def test_a_benchmark_that_failed_is_red() -> None:
    failed = replace(run("rate", RATE, 6.0), results=[Result("jobs", "Jobs", failed="RuntimeError: no")])

    assert red(run("rate", RATE, 6.0), failed) == ["failed: RuntimeError: no"]


def test_a_ratio_that_is_gone_is_red_and_one_that_was_not_measured_is_told() -> None:
    before = run("rate", RATE, 6.0)
    other, nothing = run("another", RATE, 6.0), replace(before, results=[Result("jobs", "Jobs", skipped="no data")])

    assert len(red(before, other)) == 1
    assert red(before, nothing) == []
    assert [verdict.said for verdict in judge(before, nothing)] == ["was 6; not measured this time"]


def test_runs_of_different_sizes_are_not_compared() -> None:
    with pytest.raises(CannotStart, match="Measure both the same way"):
        judge(run("rate", RATE, 6.0), replace(run("rate", RATE, 6.0), is_quick=True))


def test_what_brings_nothing_steady_is_not_measured_again() -> None:
    before = replace(
        run("rate", RATE, 6.0), results=[*run("rate", RATE, 6.0).results, *run("p99", at_most(1.0), 0.5).results]
    )
    before.results[1] = replace(before.results[1], name="wake-up")
    turns = [Turn(name, name, "", 1) for name in ("jobs", "wake-up", "new")]

    assert [turn.name for turn in worth_it(before, turns)] == ["jobs", "new"]


def test_the_command_ends_red_on_a_fallen_ratio_and_green_without(tmp_path: Path) -> None:
    files = {"before": 6.0, "same": 5.9, "fallen": 3.0}
    for name, value in files.items():
        run("rate", RATE, value).write(tmp_path / f"{name}.json")

    same, fallen, none = (
        _gate(tmp_path, *words) for words in (("before", "same"), ("before", "fallen"), ("no", "same"))
    )

    assert (same.returncode, fallen.returncode, none.returncode) == (0, 1, 2)
    assert "RED  rate: 3, was 6, and may be at least 4.5" in fallen.stdout
    assert "Run `make bench` on a quiet machine, and commit what it writes." in none.stderr


def _gate(folder: Path, before: str, fresh: str) -> subprocess.CompletedProcess[str]:
    words = ["--against", str(folder / f"{before}.json"), "--fresh", str(folder / f"{fresh}.json")]
    return subprocess.run(
        [sys.executable, "-m", "bench.gate", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
