"""Every benchmark, one after the other, and one report of them all: `make bench`, or `python -m bench`."""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from bench.page import markdown
from bench.place import ROOT, here
from bench.results import Result, Results, result
from bench.turns import TURNS, Plan, Turn

COMMITTED = ROOT / "bench"
_PATIENCE_S = 45 * 60.0
_GRACE_S = 60.0


def measure(turns: Sequence[Turn], plan: Plan, command: str, patience_s: float = _PATIENCE_S) -> Results:
    """Each in its turn. One that fails is noted, and the others go on."""
    place = here(command)
    began, results = time.monotonic(), []
    for number, turn in enumerate(turns, start=1):
        about = "" if plan.is_quick else f", about {turn.minutes:g} minutes"
        print(f"\n== {number} of {len(turns)}: {turn.what}{about}; {_minutes(began)} so far", flush=True)
        if turn.needs_data and not plan.data:
            why = "It needs a folder of labelled sets: give it with DATA=folder."
            results.append(Result(turn.name, turn.what, skipped=why))
            print(why, flush=True)
            continue
        results.append(_measured(turn, plan, patience_s))
        if results[-1].failed:
            print(f"-- {turn.what} failed, the others go on: {results[-1].failed}", file=sys.stderr, flush=True)
    print(f"\nMeasured for {_minutes(began)}.", flush=True)
    return Results(place, plan.rounds, plan.is_quick, results)


def _minutes(began: float) -> str:
    return f"{(time.monotonic() - began) / 60:.1f} minutes"


def _measured(turn: Turn, plan: Plan, patience_s: float) -> Result:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="leasehold-bench-") as folder:
        out = Path(folder) / "found.json"
        words = ["--turn", json.dumps(asdict(turn)), "--plan", json.dumps(asdict(plan)), "--out", str(out)]
        code = _run([sys.executable, "-m", "bench.turns", *words], patience_s)
        told = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    seconds = round(time.monotonic() - began, 1)
    empty = Result(turn.name, turn.what, seconds)
    if code is None:
        return replace(empty, failed=f"It was not done after {patience_s / 60:.0f} minutes, and was stopped.")
    if "ratios" in told:
        return result({"name": turn.name, "what": turn.what, "seconds": seconds, **told})
    return replace(empty, failed=told.get("why") or f"Its process ended with {code}.")


def _run(command: list[str], patience_s: float) -> int | None:
    """Its exit code; None when it took too long. It is asked to end first, so that it stops what it had started."""
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)  # Ctrl-C is for us, who ask it to end, once
    try:
        return process.wait(patience_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_S)
            process.kill()
            process.wait()


def chosen(names: Sequence[str]) -> list[Turn]:
    known = [turn.name for turn in TURNS]
    if unknown := set(names) - set(known):
        raise SystemExit(f"There is no benchmark {', '.join(sorted(unknown))}. There are: {', '.join(known)}.")
    return [turn for turn in TURNS if not names or turn.name in names]


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each variant takes its turn, 3 or more")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything works")
    parser.add_argument("--data", type=Path, help="the folder of labelled sets, for linking")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="some of them alone")
    parser.add_argument("--out", type=Path, help="the folder for the report, if not the usual one")
    return parser


def folder(given: argparse.Namespace) -> Path:
    """A run that is not whole does not take the place of one that is."""
    usual = ROOT / "build" / "bench" if given.quick or given.only else COMMITTED
    return given.out or usual


def planned(given: argparse.Namespace) -> Plan:
    if given.rounds < 3 and not given.quick:
        raise SystemExit("Fewer than 3 rounds say nothing of the spread. Use --rounds 3 or more, or --quick.")
    if given.data and not given.data.is_dir():
        raise SystemExit(f"There is no folder {given.data}. Give the one of the labelled sets, or leave DATA out.")
    return Plan(given.rounds, given.quick, str(given.data.resolve()) if given.data else None)


def typed(given: argparse.Namespace) -> str:
    """What to type for the same; a folder is named differently on every machine."""
    words = [f"ROUNDS={given.rounds}", "QUICK=1" if given.quick else "", "DATA=…" if given.data else ""]
    only = f'ONLY="{" ".join(given.only)}"' if given.only else ""
    return " ".join(word for word in ["make bench", *words, only] if word)


def write(results: Results, to: Path) -> Path:
    results.write(to / "results.json")
    report = to / "REPORT.md"
    report.write_text(markdown(results), encoding="utf-8")
    return report


def main() -> int:
    given = arguments().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # not without stopping what was started
    results = measure(chosen(given.only), planned(given), typed(given))
    report = write(results, folder(given))
    print(f"The report is in {report}, the raw values are beside it.")
    for one in results.results:
        if one.failed:
            print(f"Failed: {one.what}. {one.failed}", file=sys.stderr)
    return 0 if results.is_whole else 1


if __name__ == "__main__":
    raise SystemExit(main())
