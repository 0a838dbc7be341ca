"""Records in any order, in any batches, twice and changed on the way: they make the same entities."""

import random
from collections import Counter
from dataclasses import replace

from leasehold.linking import DEFAULT, Graph, Record, prior
from tests.linking.people import people
from tests.simulation.storm import storm

EPOCH = prior(DEFAULT)


def fed(records: list[Record], rng: random.Random) -> tuple[Graph, int]:
    """In batches as chance cuts them."""
    graph, batches = Graph(EPOCH), 0
    at = 0
    while at < len(records):
        size = rng.randint(1, 7)
        graph.add(records[at : at + size])
        at, batches = at + size, batches + 1
    return graph, batches


def play(seed: int) -> Counter[str]:
    rng = random.Random(seed)  # noqa: S311
    records, _ = people(rng.randint(2, 5), seed, copies=3)
    first, _ = fed(records, rng)
    # Some come twice, and some say first what another says.
    again = rng.sample(records, rng.randint(0, len(records)))
    drafts = [
        replace(rng.choice(records), source=one.source, source_id=one.source_id)
        for one in rng.sample(records, min(len(records), rng.randint(0, 3)))
    ]
    rest = [*records, *again]
    rng.shuffle(rest)
    # The drafts come among what does not replace them.
    late = rng.sample(rest, len(rest) // 2)
    second, batches = fed([*late, *drafts, *rest], rng)

    assert second.partition() == first.partition(), "another order made other entities"
    assert second.edges() == first.edges()
    together = [one for one in first.partition() if len(one) > 1]
    return Counter(linked=len(together), apart=len(first.partition()) > 1, batches=batches, twice=len(again))


def test_any_order_any_batches_and_repeats_make_the_same_entities() -> None:
    storm(play, {"linked", "apart", "batches", "twice"}, share=0.2)
