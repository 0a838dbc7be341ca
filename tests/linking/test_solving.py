"""Entities as a function of the edges: whatever the order, within what people and sources say."""

import random
from dataclasses import replace
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold.linking import DEFAULT, Epoch, prior, solve

PLAIN = prior(DEFAULT)
CURATED = prior(DEFAULT.curating(["box"]))

nodes = st.integers(0, 11)
edges = st.dictionaries(
    st.tuples(nodes, nodes).filter(lambda pair: pair[0] < pair[1]),
    st.integers(-400, 1600).map(lambda cents: cents / 100),
)
pairs = st.lists(st.tuples(nodes, nodes).filter(lambda pair: pair[0] != pair[1]), max_size=4)


def solved(
    found: dict[tuple[int, int], float],
    *,
    apart: list[tuple[int, int]] | None = None,
    together: list[tuple[int, int]] | None = None,
    sources: dict[int, str] | None = None,
    epoch: Epoch = PLAIN,
) -> list[list[int]]:
    known = sorted({node for pair in found for node in pair} | {n for pair in (together or []) for n in pair})
    return solve(known, [(a, b, w) for (a, b), w in found.items()], apart or [], together or [], sources or {}, epoch)


@settings(max_examples=150, deadline=None)
@given(found=edges, apart=pairs, together=pairs, seed=st.integers(0, 99))
def test_no_order_of_the_edges_changes_the_entities(
    found: dict[tuple[int, int], float], apart: list[tuple[int, int]], together: list[tuple[int, int]], seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311
    every = [(a, b, bits) for (a, b), bits in found.items()]
    shuffled = [
        (b, a, bits) if chance.random() < 0.5 else (a, b, bits) for a, b, bits in chance.sample(every, len(every))
    ]
    known = list(range(12))
    sources = {node: "box" if node % 3 == 0 else "web" for node in known}

    one = solve(known, every, apart, together, sources, CURATED)
    other = solve(
        chance.sample(known, 12), shuffled, apart[::-1], [(b, a) for a, b in together[::-1]], sources, CURATED
    )

    assert one == other


@settings(max_examples=150, deadline=None)
@given(found=edges, apart=pairs)
def test_those_apart_are_never_in_one_entity(found: dict[tuple[int, int], float], apart: list[tuple[int, int]]) -> None:
    entities = solve(range(12), [(a, b, w) for (a, b), w in found.items()], apart, [], {}, PLAIN)

    home = {node: at for at, members in enumerate(entities) for node in members}
    assert all(home[a] != home[b] for a, b in apart)
    assert sorted(home) == list(range(12))


@settings(max_examples=100, deadline=None)
@given(found=edges, pair=st.tuples(nodes, nodes).filter(lambda pair: pair[0] != pair[1]))
def test_taking_a_word_back_leaves_what_was_before(found: dict[tuple[int, int], float], pair: tuple[int, int]) -> None:
    every = [(a, b, bits) for (a, b), bits in found.items()]
    before = solve(range(12), every, [], [], {}, PLAIN)

    merged = solve(range(12), every, [], [pair], {}, PLAIN)
    after = solve(range(12), every, [], [], {}, PLAIN)

    assert any(set(pair) <= set(members) for members in merged)
    assert after == before


def test_two_components_do_not_meet() -> None:
    one, other = {(1, 2): 5.0, (2, 3): 5.0}, {(7, 8): 5.0, (8, 9): 0.0}

    assert solved(one | other) == sorted(solved(one) + solved(other))


def test_a_chain_is_cut_where_its_ends_are_strangers() -> None:
    chain = {(n, n + 1): 3.0 for n in range(6)}

    assert max(len(members) for members in solved(chain)) == 2


def test_one_sure_pair_does_not_drag_two_crowds_together() -> None:
    crowds = {pair: 20.0 for crowd in ([1, 2, 3, 4], [5, 6, 7, 8]) for pair in combinations(crowd, 2)}

    assert solved(crowds | {(4, 5): 30.0}) == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_a_merge_needs_the_average_it_was_told() -> None:
    strict = replace(PLAIN, policy=replace(DEFAULT, join=5.0)).sealed()

    assert solved({(1, 2): 5.0}, epoch=strict) == [[1, 2]]
    assert solved({(1, 2): 4.99}, epoch=strict) == [[1], [2]]


def test_a_curated_source_has_each_thing_once_and_the_best_wins() -> None:
    sources = {1: "box", 2: "box", 3: "web"}

    assert solved({(1, 3): 9.0, (2, 3): 8.0, (1, 2): 9.0}, sources=sources, epoch=CURATED) == [[1, 3], [2]]


def test_people_may_say_that_a_curated_source_has_a_thing_twice() -> None:
    sources = {1: "box", 2: "box"}

    assert solved({(1, 2): -3.0}, together=[(1, 2)], sources=sources, epoch=CURATED) == [[1, 2]]


def test_a_split_outlives_a_merge() -> None:
    assert solved({(1, 2): 9.0}, apart=[(1, 2)], together=[(1, 2)]) == [[1], [2]]


def test_a_crowd_of_thousands_is_solved_in_a_blink() -> None:
    ring = {(n, (n + step) % 3000): 4.0 for n in range(3000) for step in range(1, 6) if n + step < 3000}

    assert sum(len(members) for members in solved(ring)) == 3000
