"""How well and how quickly labelled records are linked through the real writer: in many orders, and in a full graph."""

import asyncio
import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import aims
from bench.ground import scratch_postgres
from bench.leases import machine
from bench.linking import Labelled as Set
from bench.linking import made_up, name_pairs, sets
from bench.linking_rivals import is_there, splink_scores
from bench.measured import NOTHING, Report
from bench.strangers import strangers
from leasehold.db import Database
from leasehold.entities.evaluate import Labelled, Trial, figures, learned, shuffled
from leasehold.entities.intake import read
from leasehold.linking import Record

JSON = dict[str, Any]
_HISTORICAL = "historical_dev"
_MADE_UP = 2000  # records where no folder is given


def run(data: Path | None, json_file: Path | None, shuffles: int, held: int, only: str) -> Report:
    found: JSON = {"machine": machine(), "sets": []}
    if data is None:
        print(f"No folder of labelled sets was given (--data): {_MADE_UP:,} made-up records are linked instead.")
        print("That shows that linking works here and how quickly, not how good it is.", flush=True)
    else:
        found["names"] = name_pairs(data)
    with scratch_postgres() as (url, _):
        for one in sets(data) if data else [made_up(_MADE_UP)]:
            if only in one.name and "all columns" not in one.name:
                found["sets"].append(asyncio.run(_measured(url, one, shuffles)))
    if data and held and only in _HISTORICAL:
        with scratch_postgres() as (url, _):
            found["full"] = asyncio.run(_in_a_full_graph(url, next(_named(data, _HISTORICAL)), held))
    if json_file:
        json_file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return report(found)


def report(found: JSON) -> Report:
    """The same as ratios and figures; whoever learns from a set once and feeds it in one order has one round."""
    made = Report()
    for what, f1 in found.get("names", {}).items():
        made.note(f"names of {what}: F1", [f1], aims.NAMES if what == "persons" else NOTHING)
    for one in found["sets"]:
        name, rate = one["set"], one["records_per_second"]
        made.add(f"{name}: records/s", rate)
        made.note(f"{name}: F1", [one["f1"]], aims.F1.get(name, NOTHING))
        made.note(f"{name}: the same entities in every order", [one["order_agreement"]], aims.ORDER)
        if beside := one.get("splink"):
            best = max(score for key, score in beside.items() if key.startswith("f1"))
            made.add(f"{name}, Splink: records/s", beside["records_per_second"])
            made.note(f"{name}: F1 ÷ Splink at its best threshold", [one["f1"] / best])
            made.note(f"{name}: records/s ÷ Splink", [rate / beside["records_per_second"]])
        if name == _HISTORICAL:
            times_splink = 5 * beside["records_per_second"] if beside else aims.ENOUGH_A_SECOND
            enough = min(aims.ENOUGH_A_SECOND, times_splink)
            made.note(f"{name}: records/s ÷ {enough:,.0f}", [rate / enough], aims.TO_ENOUGH)
    if full := found.get("full"):
        held = f"records/s, a graph of {full['held']:,} ÷ an empty one"
        made.note(held, [full["ratio"]], aims.FULL_TO_EMPTY)
        for name, rate in full["records_per_second"].items():
            made.add(f"graph, {name}: records/s", rate)
    return made


async def _measured(url: str, one: Set, shuffles: int) -> JSON:
    records, curated = _labelled(one), sorted(one.policy.curated)
    taken, agreed, first, told = [], 0, None, {}
    async with Database(url, pool_size=2) as db:
        weights = await learned(records, curated, _quiet)
        for seed in range(shuffles):
            trial = Trial(db, weights)
            await trial.open()
            fed = await trial.feed(shuffled(records, seed), _quiet)
            await trial.close()
            if first is None:
                first, told = fed.groups, figures(records, fed)
            taken.append(fed.seconds)
            agreed += fed.groups == first
    told["records_per_second"] = round(len(records) / statistics.median(taken), 1)
    told |= {"set": one.name, "order_agreement": agreed / shuffles, "orders": shuffles}
    told["slowest"] = round(len(records) / max(taken), 1)
    _say(told)
    if is_there() and not curated:
        scores, seconds = splink_scores(one.records, one.truth)
        told["splink"] = {"records_per_second": round(len(records) / seconds, 1)}
        told["splink"] |= {f"f1 at {threshold}": result.f1 for threshold, result in scores.items()}
        print(f"  beside it, Splink: {told['splink']}", flush=True)
    return told


async def _in_a_full_graph(url: str, one: Set, held: int) -> JSON:
    """The same records into an empty graph, and into one that holds many of others."""
    records = _labelled(one)
    async with Database(url, pool_size=2) as db:
        weights = await learned(records, [], _quiet)
        empty, full = Trial(db, weights), Trial(db, weights)
        await empty.open()
        alone = await empty.feed(shuffled(records, 0), _quiet)
        await full.open()
        others = await full.feed(strangers(held), print)
        among = await full.feed(shuffled(records, 0), print)
    rates = {
        "empty": round(len(records) / alone.seconds, 1),
        "strangers": round(held / others.seconds, 1),
        "full": round(len(records) / among.seconds, 1),
    }
    ratio = alone.seconds / among.seconds
    print(f"records per second: {rates}; full ÷ empty {ratio:.2f}, must 0.5", flush=True)
    return {"records_per_second": rates, "held": held, "ratio": ratio}


def _labelled(one: Set) -> list[Labelled]:
    items = [(_item(record), one.truth[record.place]) for record in one.records]
    return [Labelled(item, read(item), truth) for item, truth in items]


def _item(record: Record) -> JSON:
    plain = {name: getattr(record, name) for name in ("source", "source_id", "kind")}
    return {**plain, "name": record.name.strip() or "unknown", "attributes": dict(record.attributes)}


def _named(data: Path, name: str) -> Iterator[Set]:
    return (one for one in sets(data) if one.name == name)


def _say(told: JSON) -> None:
    scores = " ".join(f"{name} {told[name]:.4f}" for name in ("precision", "recall", "f1", "b3_f1"))
    order = f"order agreement {told['order_agreement']:.3f} over {told['orders']}"
    rate = f"{told['records_per_second']:,.0f} records/s (slowest {told['slowest']:,.0f})"
    largest = f"largest false cluster {told['largest_false_cluster']}"
    print(f"{told['set']}: {scores}; {largest}; {rate}; {order}", flush=True)


def _quiet(_line: str) -> None:
    return


__all__: Sequence[str] = ("run",)
