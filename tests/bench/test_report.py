"""One report of all benchmarks: what is in it, and what becomes of it when one of them fails."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bench.__main__ import measure, write
from bench.measured import Ratio, at_least, at_most
from bench.place import ROOT
from bench.results import Results
from bench.turns import TURNS, Plan, Turn

from tests.bench.idle import TOKEN

QUICK = Plan(rounds=3, is_quick=True)


def turn(name: str, *, needs_data: bool = False) -> Turn:
    return Turn(name, f"The {name} one", f"tests.bench.idle:{name}", 1, needs_data)


@pytest.fixture(scope="module")
def results() -> Results:
    """One run for all of the tests: three that fail, each in its own way, and one that works after them."""
    turns = [turn(name) for name in ("broken", "refused", "killed", "fine")]
    return measure([*turns, turn("idle", needs_data=True)], QUICK, "make bench QUICK=1")


def test_one_that_fails_is_told_and_the_others_go_on(
    results: Results, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = write(results, tmp_path).read_text()

    assert not results.is_whole
    assert [bool(one.failed) for one in results.results] == [True, True, True, False, False]
    assert "- The broken one: **failed**. RuntimeError: the server did not start \\| as it should" in page
    assert "- The killed one: **failed**. Its process ended with -9." in page
    assert "- The idle one: skipped. It needs a folder of labelled sets" in page
    assert "| jobs/s, ours ÷ theirs | ≥ 2.00 | ≥ 5.00 | 3.01 | 3.00 … 3.02 | must |" in page


def test_what_a_process_was_given_is_not_told(results: Results, tmp_path: Path) -> None:
    page = write(results, tmp_path).read_text()

    assert "- The refused one: **failed**. a process it started ended with 1" in page
    assert TOKEN not in page + (tmp_path / "results.json").read_text()


def test_the_report_says_where_it_was_measured_and_shows_peers_side_by_side(results: Results, tmp_path: Path) -> None:
    page = write(results, tmp_path).read_text()

    assert re.search(r"\| machine \| \d+ cores, \S.*, [\d.]+ GB, load [\d.]+ before it began \|", page)
    assert re.search(r"\| versions \| Python 3\.\d+\.\d+, PostgreSQL \d+\.\d+, mongod \S+, RabbitMQ \S+, Redis ", page)
    assert re.search(r"\| commit \| ([0-9a-f]{12}|unknown)", page)
    assert "| command | `make bench QUICK=1` |" in page
    assert "| ours: jobs/s | 301 | 300 … 302 |\n| theirs \\| in C: jobs/s | 100 | 100 … 100 |" in page
    assert "| of interest alone |  |  | 0.5 | one round |  |" in page


def test_what_was_measured_is_read_back_as_it_was(results: Results, tmp_path: Path) -> None:
    write(results, tmp_path)

    assert Results.read(tmp_path / "results.json") == results


def test_one_that_never_ends_is_stopped() -> None:
    results = measure([turn("endless")], QUICK, "make bench", patience_s=3)

    assert results.results[0].failed == "It was not done after 0 minutes, and was stopped."


def test_a_verdict_is_what_the_median_meets() -> None:
    more, less = at_least(2.0, 5.0), at_most(0.5, 0.2)

    assert [Ratio("more", (value,), more).verdict for value in (1.9, 2.0, 5.0)] == ["no", "must", "goal"]
    assert [Ratio("less", (value,), less).verdict for value in (0.6, 0.5, 0.2)] == ["no", "must", "goal"]
    assert Ratio("only a must", (3.0,), at_least(2.0)).verdict == "must"


def test_a_ratio_without_a_round_is_refused() -> None:
    with pytest.raises(ValueError, match="no round could be compared"):
        Ratio("nothing", ())


def test_every_benchmark_is_there() -> None:
    for one in TURNS:
        module, _, name = one.where.partition(":")
        assert module == "bench.turns"
        assert callable(getattr(sys.modules["bench.turns"], name))


def test_a_real_one_from_the_command_line(tmp_path: Path) -> None:
    """The one that needs no service. What it finds is not asserted: this machine may be busy."""
    words = ["--quick", "--only", "sessions", "--out", str(tmp_path)]

    done = subprocess.run(
        [sys.executable, "-m", "bench", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "== 1 of 1: Merging sessions" in done.stdout
    assert (
        "**A short run, to see that everything works. Its figures mean nothing.**"
        in (tmp_path / "REPORT.md").read_text()
    )
    told = json.loads((tmp_path / "results.json").read_text())
    names = [ratio["name"] for ratio in told["results"][0]["ratios"]]
    assert "merge, base stored ÷ plain" in names


def test_what_there_is_not_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--only", "job"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode != 0
    assert "There is no benchmark job. There are: rewrite," in done.stderr
