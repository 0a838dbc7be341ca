"""Whether something has become slower: a fresh run against the one that is committed, `make bench-gate`.

Only ratios that are steady enough are compared; `bench/aims.py` says which, how steady, and why. One that is under what
it must be, or worse than before by more than its tolerance, makes the gate red.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.__main__ import COMMITTED, chosen, measure, write
from bench.measured import Ratio
from bench.place import ROOT
from bench.results import Results
from bench.turns import Plan, Turn
from leasehold.life import CannotStart

FRESH = ROOT / "build" / "bench-gate"
# Above this load even CPU time is not what it was: others take the caches.
_QUIET = 0.5


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of one ratio; red, or for the record."""

    name: str
    said: str
    is_red: bool = False


def judge(before: Results, fresh: Results) -> list[Verdict]:
    """One verdict for each steady ratio of either run."""
    if (before.is_quick, before.rounds) != (fresh.is_quick, fresh.rounds):
        raise CannotStart(
            f"The two runs cannot be compared: one had {before.rounds} rounds{' (quick)' * before.is_quick}, "
            f"the other {fresh.rounds}{' (quick)' * fresh.is_quick}. Measure both the same way."
        )
    then, now = _steady(before), _steady(fresh)
    verdicts = [Verdict(one.what, f"failed: {one.failed}", is_red=True) for one in fresh.results if one.failed]
    verdicts += [_compared(now[name], then.get(name)) for name in now]
    measured_now = {one.name for one in fresh.results if one.ratios}
    for result in before.results:
        for ratio in result.ratios:
            if ratio.name in then and ratio.name not in now:
                verdicts.append(_gone(ratio, was_measured=result.name in measured_now))
    return verdicts


def _steady(results: Results) -> dict[str, Ratio]:
    return {name: ratio for name, ratio in results.ratios().items() if ratio.aim.tolerance is not None}


def _compared(now: Ratio, then: Ratio | None) -> Verdict:
    """Held to what is asked today, not to what was asked when the other was measured."""
    aim = now.aim
    if aim.must is not None and not aim.is_met(now.median, aim.must):
        return Verdict(now.name, f"{now.median:.3g}, and it must be {_bound(now, aim.must)}", is_red=True)
    if then is None:
        return Verdict(now.name, f"{now.median:.3g}; new, there is nothing to compare it with")
    worst = aim.floor(then.median)
    said = f"{now.median:.3g}, was {then.median:.3g}, and may be {_bound(now, worst)}"
    return Verdict(now.name, said, is_red=not aim.is_met(now.median, worst))


def _gone(then: Ratio, *, was_measured: bool) -> Verdict:
    if was_measured:
        why = "its benchmark no longer brings it. Where that is meant, run `make bench` and commit what it writes"
        return Verdict(then.name, f"was {then.median:.3g}; {why}", is_red=True)
    return Verdict(then.name, f"was {then.median:.3g}; not measured this time")


def _bound(ratio: Ratio, value: float) -> str:
    return f"{'at most' if ratio.aim.is_ceiling else 'at least'} {value:.3g}"


def worth_it(before: Results, turns: Sequence[Turn]) -> list[Turn]:
    """Those that have brought something steady, and those nobody has measured yet."""
    brought = {one.name: any(ratio.aim.tolerance is not None for ratio in one.ratios) for one in before.results}
    return [turn for turn in turns if brought.get(turn.name, True)]


def fresh_run(before: Results, given: argparse.Namespace) -> Results:
    """Measured as the others were, and left in build/."""
    plan = Plan(before.rounds, before.is_quick, str(given.data.resolve()) if given.data else None)
    fresh = measure(worth_it(before, chosen(given.only)), plan, "make bench-gate")
    print(f"What was measured is in {write(fresh, FRESH)}.\n")
    return fresh


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, default=COMMITTED / "results.json", help="the results to compare with")
    parser.add_argument("--fresh", type=Path, help="results that are there already, instead of measuring now")
    parser.add_argument("--data", type=Path, help="the folder of labelled sets, for linking")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="some benchmarks alone")
    given = parser.parse_args()
    try:
        before = Results.read(given.against)
        fresh = Results.read(given.fresh) if given.fresh else fresh_run(before, given)
        verdicts = judge(before, fresh)
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 2
    if fresh.place.cores != before.place.cores:
        print(f"Careful: {fresh.place.cores} cores here, {before.place.cores} where the others were measured.")
    if fresh.place.load > _QUIET:
        print(
            f"Careful: the machine was busy before it began (load {fresh.place.load:g}). If it is red, measure again."
        )
    for verdict in verdicts:
        print(f"{'RED' if verdict.is_red else 'ok ':<4} {verdict.name}: {verdict.said}")
    red = sum(verdict.is_red for verdict in verdicts)
    print(f"\n{len(verdicts)} looked at, {red} of them red.")
    return 1 if red else 0


if __name__ == "__main__":
    raise SystemExit(main())
