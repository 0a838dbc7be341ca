"""The graph in memory: any order, any batches, one answer."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leasehold.linking import DEFAULT, PERFORMER, Epoch, Graph, Policy, Record, learn, prior, score, solve
from tests.linking.conftest import Town
from tests.linking.people import people


def fed(records: list[Record], epoch: Epoch, size: int = 50) -> Graph:
    graph = Graph(epoch)
    for at in range(0, len(records), size):
        graph.add(records[at : at + size])
    return graph


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), size=st.integers(1, 120))
def test_any_order_and_any_batches_make_the_same_entities(seed: int, size: int, town: Town, epoch: Epoch) -> None:
    records, _ = town
    shuffled = random.Random(seed).sample(records, len(records))  # noqa: S311

    graph, reference = fed(shuffled, epoch, size), fed(records, epoch, len(records))

    assert graph.partition() == reference.partition()
    assert graph.edges() == reference.edges()


def test_what_comes_bit_by_bit_equals_a_rebuild_at_every_step(town: Town, epoch: Epoch) -> None:
    records, _ = town
    graph = Graph(epoch)

    for at in range(0, 200, 20):
        graph.add(records[at : at + 20])

        assert graph.partition() == fed(records[: at + 20], epoch, 1000).partition()


def test_solving_what_is_touched_equals_solving_everything_at_once(town: Town, epoch: Epoch) -> None:
    records, _ = town
    graph = fed(records, epoch)
    places = [record.place for record in records]

    whole = solve(places, graph.edges(), [], [], {place: place[1] for place in places}, epoch)

    assert graph.partition() == whole


def test_a_record_that_comes_again_replaces_itself(town: Town, epoch: Epoch) -> None:
    records, _ = town
    graph = fed(records, epoch)
    before = graph.partition()

    changed = [Record(r.source, r.source_id, r.kind, "Somebody Else Entirely", attributes={}) for r in records[:30]]
    graph.add(changed)
    elsewhere = fed(changed + records[30:], epoch).partition()
    assert graph.partition() == elsewhere != before
    graph.add(records[:30])

    assert graph.partition() == before


def test_merging_and_splitting_again_leaves_what_was_before(town: Town, epoch: Epoch) -> None:
    records, _ = town
    before = fed(records, epoch).partition()
    one, other = before[0][0], before[1][0]

    merged, split = Graph(epoch, together=[(one, other)]), Graph(epoch, apart=[(one, other)])
    for graph in (merged, split):
        graph.add(records)

    assert any({one, other} <= set(members) for members in merged.partition())
    assert split.partition() == before


def test_an_edge_that_barely_reaches_join_makes_one_entity() -> None:
    shown = {"gender": "female", "country": "gb"}
    graph = Graph(prior(DEFAULT))

    graph.add([Record(source, "1", "person", "Ada Lovelace", attributes=shown) for source in ("a", "b")])

    assert 0 <= graph.edges()[0][2] < 3
    assert len(graph.partition()) == 1


@pytest.mark.parametrize("policy", [PERFORMER, DEFAULT])
def test_the_page_of_a_studio_does_not_make_one_of_its_people(policy: Policy) -> None:
    page = {"twitter": ("https://twitter.com/northlight_studio",)}
    names = ["Ada Lovelace", "Bela Brandt", "Cleo Castillo", "Dora Dvorak", "佐藤花子", "鈴木美咲", "高橋結衣"]
    graph = Graph(prior(policy))

    graph.add([Record(source, name, "performer", name, urls=page) for name in names for source in ("a", "b")])

    together = [sorted({source_id for _, _, source_id in entity}) for entity in graph.partition()]
    # Who is written in another alphabet may be anybody of them, but nobody is two of them.
    assert all(len([name for name in several if name.isascii()]) <= 1 for several in together)
    assert all(len([name for name in several if not name.isascii()]) <= 1 for several in together)
    assert sum(len(several) for several in together) == len(names)


def test_records_of_different_kinds_are_never_one_thing(epoch: Epoch) -> None:
    graph = Graph(epoch)
    graph.add([Record("a", "1", kind, "Ada Lovelace", external_ids={"x": ("1",)}) for kind in ("person", "ship")])

    assert len(graph.partition()) == 2


def test_people_are_found_again_without_a_label_being_seen() -> None:
    records, truth = people(150, seed=7)

    result = score(truth, fed(records, learn(records, DEFAULT)).partition())

    assert result.precision > 0.97
    assert result.recall > 0.93
    assert result.b3_f1 > 0.95


def test_a_score_counts_pairs_records_and_the_worst_mistake() -> None:
    truth = {1: "a", 2: "a", 3: "a", 4: "b", 5: "c"}

    result = score(truth, [[1, 2, 4], [3], [5]])

    assert (result.precision, result.recall) == (1 / 3, 1 / 3)
    assert result.largest_false_cluster == 3
    assert round(result.b3_f1, 3) == 0.733
