"""When a seed is visited next: rules that hold whatever is found and however often it fails."""

from hypothesis import given
from hypothesis import strategies as st

from leasehold.seeds.schedule import Rhythm, RhythmWish, VisitOutcome, adjusted, after

YEAR_S = 31_536_000
SPANS = st.integers(1, YEAR_S)
CHANCES = st.floats(0, 1)


@st.composite
def rhythms(draw: st.DrawFn) -> Rhythm:
    least, every, most = sorted(draw(st.tuples(SPANS, SPANS, SPANS)))
    return Rhythm(every, least, most, draw(st.integers(0, 10_000)))


@given(rhythms(), st.sampled_from(VisitOutcome), st.integers(0, 1000), CHANCES)
def test_nothing_leaves_the_bounds(rhythm: Rhythm, outcome: VisitOutcome, found: int, chance: float) -> None:
    then = after(rhythm, outcome, found, chance)

    assert rhythm.least_s <= then.rhythm.interval_s <= rhythm.most_s
    assert rhythm.least_s <= then.delay_s <= rhythm.most_s
    assert (then.rhythm.least_s, then.rhythm.most_s) == (rhythm.least_s, rhythm.most_s)


@given(rhythms(), st.integers(1, 1000), CHANCES)
def test_what_finds_something_is_visited_sooner(rhythm: Rhythm, found: int, chance: float) -> None:
    then = after(rhythm, VisitOutcome.OK, found, chance).rhythm

    assert then.interval_s < rhythm.interval_s or then.interval_s == rhythm.least_s


@given(rhythms(), CHANCES)
def test_what_finds_nothing_is_visited_later(rhythm: Rhythm, chance: float) -> None:
    then = after(rhythm, VisitOutcome.OK, 0, chance).rhythm

    assert then.interval_s > rhythm.interval_s or then.interval_s == rhythm.most_s


@given(rhythms(), CHANCES)
def test_it_settles_at_its_bounds(rhythm: Rhythm, chance: float) -> None:
    busy = quiet = rhythm
    for _ in range(60):
        busy = after(busy, VisitOutcome.OK, 1, chance).rhythm
        quiet = after(quiet, VisitOutcome.OK, 0, chance).rhythm

    assert (busy.interval_s, quiet.interval_s) == (rhythm.least_s, rhythm.most_s)


@given(rhythms(), st.integers(0, 5), CHANCES)
def test_a_visit_that_went_well_forgets_the_failures(rhythm: Rhythm, found: int, chance: float) -> None:
    assert after(rhythm, VisitOutcome.OK, found, chance).rhythm.failures == 0


@given(rhythms(), CHANCES)
def test_a_failure_is_tried_again_later_each_time_and_leaves_the_interval(rhythm: Rhythm, chance: float) -> None:
    first = after(rhythm, VisitOutcome.FAILED, 0, chance)
    second = after(first.rhythm, VisitOutcome.FAILED, 0, chance)

    assert (first.rhythm.failures, second.rhythm.failures) == (rhythm.failures + 1, rhythm.failures + 2)
    assert second.delay_s >= first.delay_s
    assert second.rhythm.interval_s == rhythm.interval_s


def test_the_known_numbers() -> None:
    rhythm = Rhythm()

    assert after(rhythm, VisitOutcome.OK, 3, 0.5).delay_s == 1830
    assert after(rhythm, VisitOutcome.OK, 0, 0.5).delay_s == 5400
    assert [after(Rhythm(failures=n), VisitOutcome.FAILED, 0, 0.5).delay_s for n in (0, 1, 2, 30)] == [
        60,
        120,
        240,
        86_400,
    ]


def test_jitter_spreads_by_a_tenth() -> None:
    soonest, latest = (after(Rhythm(), VisitOutcome.OK, 0, chance).delay_s for chance in (0, 1))

    assert (round(soonest), round(latest)) == (4860, 5940)


def test_what_is_gone_is_said_to_be() -> None:
    then = after(Rhythm(), VisitOutcome.GONE, 0, 0.5)

    assert then.is_gone
    assert not after(Rhythm(), VisitOutcome.FAILED, 0, 0.5).is_gone


MAYBE = st.none() | SPANS


@given(rhythms(), st.builds(RhythmWish, MAYBE, MAYBE, MAYBE))
def test_what_was_said_stands_and_the_rest_makes_room(rhythm: Rhythm, wish: RhythmWish) -> None:
    if wish.contradiction:
        return

    made = adjusted(rhythm, wish)

    assert made.least_s <= made.interval_s <= made.most_s
    assert wish.interval_s in (None, made.interval_s)
    assert wish.least_s in (None, made.least_s)
    assert wish.most_s in (None, made.most_s)
    if wish == RhythmWish():
        assert made == rhythm


def test_contradictions_are_told() -> None:
    assert RhythmWish(10, 20, None).contradiction
    assert RhythmWish(30, None, 20).contradiction
    assert RhythmWish(None, 30, 20).contradiction
    assert RhythmWish(20, 20, 20).contradiction is None
