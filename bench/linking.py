"""How well linking finds what belongs together, on labelled sets of records: the labels are for scoring alone."""

import argparse
import csv
import gzip
import io
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.linking_rivals import is_there, splink_scores
from bench.strangers import known_strangers
from leasehold.linking import DEFAULT, SAME_NAME, Graph, Policy, Record, learn, same_name, score

Place = tuple[str, str, str]


@dataclass(frozen=True)
class Labelled:
    """A set of records, and what each is in truth."""

    name: str
    records: list[Record]
    truth: dict[Place, str]
    policy: Policy


def rows(path: Path) -> list[dict[str, str]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(io.StringIO(text.decode())))


def made(row: dict[str, str], kind: str, name: str, drop: Sequence[str], source: str = "file") -> Record:
    ident = next(iter(row[key] for key in ("unique_id", "rec_id", "id") if key in row))
    attributes = {key: value for key, value in row.items() if key not in drop and value}
    return Record(source, ident, kind, name, attributes=attributes)


def historical(folder: Path, *, whole: bool) -> Labelled:
    drop = ["unique_id", "cluster", "full_name"] + ([] if whole else ["first_and_surname", "first_name", "surname"])
    found = [(row, made(row, "person", row["full_name"], drop)) for row in rows(folder / "historical_dev.csv.gz")]
    title = "historical_dev, all columns" if whole else "historical_dev"
    return Labelled(title, [r for _, r in found], {r.place: row["cluster"] for row, r in found}, DEFAULT)


def febrl(folder: Path, *, whole: bool) -> Labelled:
    drop = ["rec_id", "cluster"] + ([] if whole else ["given_name", "surname"])
    found = [
        (row, made(row, "person", f"{row['given_name']} {row['surname']}".strip(), drop))
        for row in rows(folder / "febrl3.csv.gz")
    ]
    title = "febrl3, all columns" if whole else "febrl3"
    return Labelled(title, [r for _, r in found], {r.place: row["cluster"] for row, r in found}, DEFAULT)


def two_sources(folder: Path, stem: str, kind: str, title: str) -> Labelled:
    path = next(folder.glob(f"{stem}_records.csv*"))
    found = [made(row, kind, row[title], ["source", "id", title], row["source"]) for row in rows(path)]
    truth = {record.place: f"{record.source} {record.source_id}" for record in found}
    for match in rows(folder / f"{stem}_matches.csv"):
        (one, left), (other, right) = ((key.removesuffix("_id"), value) for key, value in match.items())
        truth[(kind, other, right)] = truth[(kind, one, left)]
    return Labelled(stem, found, truth, DEFAULT.curating({record.source for record in found}))


def made_up(count: int) -> Labelled:
    """People who do not exist, for those who have no labelled set at hand: it says that linking works, not how well."""
    found = [
        (Record(item["source"], item["source_id"], item["kind"], item["name"], attributes=item["attributes"]), who)
        for item, who in known_strangers(count)
    ]
    return Labelled("made_up", [r for r, _ in found], {r.place: who for r, who in found}, DEFAULT)


def sets(folder: Path) -> Iterator[Labelled]:
    yield febrl(folder, whole=False)
    yield febrl(folder, whole=True)
    yield two_sources(folder, "dblp_acm", "paper", "title")
    yield two_sources(folder, "fodors_zagats", "restaurant", "name")
    yield historical(folder, whole=False)
    yield historical(folder, whole=True)


def feed(labelled: Labelled, records: Sequence[Record], graph: Graph) -> float:
    began = time.perf_counter()
    for at in range(0, len(records), 500):
        graph.add(records[at : at + 500])
    return time.perf_counter() - began


def measure(labelled: Labelled, shuffles: int) -> None:
    began = time.perf_counter()
    epoch = learn(labelled.records, labelled.policy)
    learned = time.perf_counter() - began
    graph = Graph(epoch)
    taken = [feed(labelled, labelled.records, graph)]
    partition = graph.partition()
    agreed = 0
    for seed in range(shuffles):
        shuffled = labelled.records[:]
        random.Random(seed).shuffle(shuffled)
        other = Graph(epoch)
        taken.append(feed(labelled, shuffled, other))
        agreed += other.partition() == partition
    result = score(labelled.truth, partition)
    rate = len(labelled.records) / statistics.median(taken)
    order = f"{agreed / shuffles:.3f}" if shuffles else "-"
    figures = [result.precision, result.recall, result.f1, result.b3_f1]
    cells = [labelled.name, len(labelled.records), len(partition), *(f"{figure:.4f}" for figure in figures)]
    cells += [result.largest_false_cluster, f"{learned:.1f}", f"{rate:.0f}", order]
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def beside(labelled: Labelled) -> None:
    """Splink on the same records, at each of its usual thresholds."""
    scores, seconds = splink_scores(labelled.records, labelled.truth)
    rate = len(labelled.records) / seconds
    for threshold, result in scores.items():
        figures = [result.precision, result.recall, result.f1, result.b3_f1]
        cells = [f"{labelled.name}, Splink at {threshold}", len(labelled.records), "-"]
        cells += [*(f"{figure:.4f}" for figure in figures), result.largest_false_cluster, "-", f"{rate:.0f}", "-"]
        print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def name_pairs(folder: Path) -> dict[str, float]:
    """F1 of telling whether two names are one, by what they are names of."""
    scores = {}
    found: dict[str, list[tuple[bool, bool]]] = {}
    for row in rows(folder / "name_pairs_dev.csv"):
        kind = "persons" if row["schema"] == "Person" else "organisations and vessels"
        said = same_name(row["name1"], row["name2"]) >= SAME_NAME
        found.setdefault(kind, []).append((row["is_match"] == "true", said))
    for kind, answers in sorted(found.items()):
        right = sum(truth and said for truth, said in answers)
        precision = right / max(1, sum(said for _, said in answers))
        recall = right / max(1, sum(truth for truth, _ in answers))
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        print(f"same_name, {kind}: {len(answers)} pairs, P {precision:.3f} R {recall:.3f} F1 {f1:.3f}")
        scores[kind] = f1
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--shuffles", type=int, default=20)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    name_pairs(options.data)
    print("\n| set | records | entities | P | R | F1 | B3 | largest false | learning s | records/s | order |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for labelled in sets(options.data):
        if options.only in labelled.name:
            measure(labelled, options.shuffles)
            if is_there() and not labelled.policy.curated and "all columns" not in labelled.name:
                beside(labelled)


if __name__ == "__main__":
    main()
