"""Whether a clock jumped: the arithmetic, with clocks that show what they are told to."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold.leases.watch import JUMP_S, ClockWatch, Jump, Look

START = datetime(1999, 12, 31, tzinfo=UTC)


def look(shown_s: float, at_s: float, *, slow_s: float = 0.0) -> Look:
    """The clock shows so much after the start; asked then by our own clock, answered so much later."""
    return Look(START + timedelta(seconds=shown_s), at_s, at_s + slow_s)


def watch(*looks: Look) -> ClockWatch:
    made = ClockWatch()
    for one in looks:
        assert made.seen(one) is None
    return made


def test_a_clock_that_is_looked_at_for_the_first_time_is_believed() -> None:
    assert ClockWatch().seen(look(1_000_000, 5)) is None


def test_a_clock_that_goes_as_time_passes_has_not_jumped() -> None:
    assert watch(look(0, 100)).seen(look(86_400, 86_500)) is None


def test_a_clock_that_is_a_minute_ahead_is_believed_and_one_that_is_more_is_not() -> None:
    assert watch(look(0, 0)).seen(look(70, 10)) is None

    jump = watch(look(0, 0)).seen(look(70.1, 10))

    assert jump is not None
    assert jump.seconds == pytest.approx(60.1)


def test_drift_is_followed() -> None:
    steps = [look(step * 40, step) for step in range(10)]  # ahead by 39 seconds each second

    assert watch(*steps).seen(look(10 * 40, 10)) is None


def test_a_clock_that_is_put_back_is_followed_and_its_next_jump_is_seen() -> None:
    followed = watch(look(0, 0), look(-3600, 1))

    jump = followed.seen(look(2, 2))

    assert jump is not None
    assert jump.seconds == pytest.approx(3601)


def test_a_jump_is_told_until_somebody_has_seen_to_it() -> None:
    watched = watch(look(0, 0))
    first, second = watched.seen(look(3600, 1)), watched.seen(look(3601, 2))
    assert first is not None
    assert second is not None

    watched.believe(second.after)

    assert watched.seen(look(3602, 3)) is None


def test_a_process_that_was_suspended_sees_a_jump() -> None:
    assert watch(look(0, 0)).seen(look(600, 1)) is not None


def test_a_process_that_was_stopped_sees_none() -> None:
    assert watch(look(0, 0)).seen(look(600, 600)) is None


def test_a_process_that_was_stopped_while_it_looked_sees_none() -> None:
    assert watch(look(0, 0), look(1, 1, slow_s=600)).seen(look(602, 602)) is None


def test_a_jump_says_what_the_time_would_be_and_since_when_it_may_have_been() -> None:
    jump = Jump(look(0, 100), look(3605, 105))

    assert jump.unjumped == START + timedelta(seconds=5)
    assert jump.since == START + timedelta(seconds=3600)


latency = st.floats(0, 20)


@given(st.floats(0, 10_000), st.floats(-7200, 7200), st.floats(0, 1), st.floats(0, 1), latency, latency)
def test_however_slow_answers_are_no_jump_is_missed(
    passed_s: float, jumped_s: float, early: float, late: float, first_s: float, second_s: float
) -> None:
    """The clock is read at some moment between asking and hearing, which one nobody knows."""
    begun = Look(START + timedelta(seconds=early * first_s), 0, first_s)
    asked = first_s + passed_s
    shown = asked + late * second_s + jumped_s
    after = Look(START + timedelta(seconds=shown), asked, asked + second_s)

    jump = watch(begun).seen(after)

    if jumped_s > JUMP_S + 1e-3:
        assert jump is not None
    if jumped_s + first_s + second_s < JUMP_S - 1e-3:
        assert jump is None
    if jump is not None:
        assert jump.seconds >= jumped_s - 1e-3
        assert jump.unjumped <= START + timedelta(seconds=shown - jumped_s + 1e-3)
        assert jump.since <= START + timedelta(seconds=early * first_s + jumped_s + 1e-3)
