"""How every end of a lease leaves an account: the whole table, and that forgiving a streak undoes it exactly."""

from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold.accounts import machine
from leasehold.accounts.machine import LADDER_S, Breaker, Health, Outcome, Rules, Standing, Tally, Verdict
from leasehold.leases import Report

ACTIVE, INACTIVE, BLOCKED = Standing.ACTIVE, Standing.INACTIVE, Standing.BLOCKED
RULES = Rules(cooldown_seconds=10, reclaim_delay_seconds=15, quarantine_after_unclean=3, probation_after_seconds=3600)
BY_HAND = Health(BLOCKED, "by hand")
BAD = sorted(set(Outcome) - {Outcome.OK})

patient = settings(deadline=None)  # a busy machine is no failure
standings = st.sampled_from(Standing)
rules = st.builds(
    Rules,
    cooldown_seconds=st.integers(0, 100_000),
    reclaim_delay_seconds=st.integers(0, 1000),
    quarantine_after_unclean=st.integers(1, 5),
    probation_after_seconds=st.none() | st.integers(1, 100_000),
)
reasons = st.none() | st.sampled_from(["captcha", "suspended"])
bad_reports = st.builds(
    Report, st.sampled_from(BAD), reason=reasons, cooldown_seconds=st.none() | st.integers(0, 2_592_000)
)


@st.composite
def healths(draw: st.DrawFn) -> Health:
    """However an account may stand before a bad streak."""
    standing = draw(standings)
    return Health(
        standing,
        "blocked for a reason" if standing is BLOCKED else None,
        consecutive_failures=draw(st.integers(0, len(LADDER_S) - 1)),
        unclean_ends=draw(st.integers(0, 5)),
        on_probation=draw(st.booleans()),
        needs_login=draw(st.booleans()),
    )


End = Callable[[Health, Rules], Verdict]
bad_ends = bad_reports.map(lambda report: lambda health, rules: machine.released(health, rules, report))
all_ends: st.SearchStrategy[End] = st.one_of(
    bad_ends,
    st.just(lambda health, rules: machine.released(health, rules, Report(Outcome.OK))),
    st.sampled_from([machine.expired, machine.revoked]),
    st.just(lambda health, _rules: machine.undelivered(health)),
)


def stored(health: Health) -> Health:
    """As it comes back out of a store, which keeps the penalty as JSON."""
    return replace(health, before_penalty=orjson.loads(orjson.dumps(health.before_penalty)))


def released(health: Health, outcome: str, **more: object) -> Verdict:
    return machine.released(health, RULES, Report(outcome, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcome", "after", "rest_s"),
    [
        ("ok", Health(), 10),
        ("failed", Health(consecutive_failures=1), 60),
        ("rate_limited", Health(consecutive_failures=1), 60),
        ("blocked", Health(BLOCKED, "its holder reported it blocked"), 3600),
        ("logged_out", Health(needs_login=True), 10),
        ("invalid_credentials", Health(INACTIVE), 0),
    ],
)
def test_every_outcome_of_an_account_in_good_standing(outcome: str, after: Health, rest_s: int) -> None:
    verdict = released(Health(), outcome)

    assert (replace(verdict.health, before_penalty=None), verdict.rest_s) == (after, rest_s)
    assert (verdict.health.before_penalty is None) == (outcome == "ok")


@pytest.mark.parametrize(
    ("outcome", "of_inactive", "of_blocked"),
    [
        ("ok", INACTIVE, BLOCKED),
        ("failed", INACTIVE, BLOCKED),
        ("rate_limited", INACTIVE, BLOCKED),
        ("blocked", BLOCKED, BLOCKED),
        ("logged_out", INACTIVE, BLOCKED),
        ("invalid_credentials", INACTIVE, INACTIVE),
    ],
)
@pytest.mark.parametrize("on_probation", [False, True])
def test_every_outcome_of_an_account_that_was_set_aside_meanwhile(
    outcome: str, of_inactive: Standing, of_blocked: Standing, on_probation: bool
) -> None:
    inactive = released(Health(INACTIVE, on_probation=on_probation), outcome)
    blocked = released(replace(BY_HAND, on_probation=on_probation), outcome)

    assert (inactive.health.standing, inactive.rest_s) == (of_inactive, 0)
    assert (blocked.health.standing, blocked.rest_s) == (of_blocked, 0)
    if outcome not in ("blocked", "invalid_credentials"):
        assert blocked.health.blocked_reason == "by hand"


def test_an_outcome_there_is_not_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="gone"):
        released(Health(), "gone")


@pytest.mark.parametrize(
    ("rung", "following", "rest_s"),
    [
        (0, 1, 60),
        (1, 2, 300),
        (2, 3, 900),
        (3, 4, 1800),
        (4, 5, 3600),
        (5, 6, 10_800),
        (6, 7, 21_600),
        (7, 8, 43_200),
        (8, 9, 86_400),
        (9, 9, 86_400),
    ],
)
@pytest.mark.parametrize("outcome", ["failed", "rate_limited"])
def test_failures_climb_the_ladder_to_its_top(outcome: str, rung: int, following: int, rest_s: int) -> None:
    verdict = released(Health(consecutive_failures=rung), outcome)

    assert (verdict.health.consecutive_failures, verdict.rest_s) == (following, rest_s)


@pytest.mark.parametrize(("rung", "after"), [(0, 0), (1, 0), (2, 1), (9, 8)])
def test_a_success_steps_down_one_rung(rung: int, after: int) -> None:
    verdict = released(Health(consecutive_failures=rung, needs_login=True, on_probation=True), "ok")

    assert verdict == Verdict(Health(consecutive_failures=after), 10)


def test_the_sites_own_rest_stands_over_a_shorter_one() -> None:
    slow = replace(RULES, cooldown_seconds=1000)

    rests = [
        machine.released(Health(consecutive_failures=rung), slow, Report("failed")).rest_s
        for rung in range(len(LADDER_S))
    ]

    assert rests == [1000, 1000, 1000, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 86_400]
    assert machine.released(Health(), slow, Report("rate_limited", cooldown_seconds=999)).rest_s == 1000


@pytest.mark.parametrize(("told_s", "rest_s"), [(0, 10), (9, 10), (11, 11), (2_592_000, 2_592_000)])
def test_a_rate_limit_that_says_how_long_is_believed_and_climbs_nothing(told_s: int, rest_s: int) -> None:
    verdict = released(Health(consecutive_failures=2), "rate_limited", cooldown_seconds=told_s)

    assert (verdict.health.consecutive_failures, verdict.rest_s) == (2, rest_s)


@pytest.mark.parametrize(
    ("outcome", "standing", "still"),
    [
        ("ok", ACTIVE, False),
        ("failed", BLOCKED, False),
        ("blocked", BLOCKED, False),
        ("rate_limited", ACTIVE, True),
        ("logged_out", ACTIVE, True),
        ("invalid_credentials", INACTIVE, False),
    ],
)
def test_probation_ends_with_a_success_and_does_not_survive_a_failure(
    outcome: str, standing: Standing, still: bool
) -> None:
    verdict = released(Health(on_probation=True), outcome)

    assert (verdict.health.standing, verdict.health.on_probation) == (standing, still)


@pytest.mark.parametrize("outcome", Outcome)
def test_whatever_a_holder_says_forgets_unclean_ends(outcome: str) -> None:
    assert released(Health(unclean_ends=2), outcome).health.unclean_ends == 0


def test_unclean_ends_in_a_row_set_an_account_aside() -> None:
    first = machine.expired(Health(), RULES)
    second = machine.expired(first.health, RULES)
    third = machine.expired(second.health, RULES)

    assert first == Verdict(Health(unclean_ends=1), 15)
    assert second == Verdict(Health(unclean_ends=2), 15)
    assert third == Verdict(Health(BLOCKED, "quarantined after 3 unclean ends in a row", unclean_ends=3), 3600)


def test_on_probation_one_unclean_end_is_enough() -> None:
    verdict = machine.expired(Health(on_probation=True), RULES)

    assert verdict == Verdict(Health(BLOCKED, "quarantined after 1 unclean end", unclean_ends=1), 3600)


def test_without_a_way_back_the_blocked_do_not_rest_but_stay() -> None:
    for_good = replace(RULES, probation_after_seconds=None)

    assert machine.released(Health(), for_good, Report("blocked")).rest_s == 0
    assert machine.expired(Health(unclean_ends=2), for_good).rest_s == 0


@patient
@given(healths(), rules)
def test_a_revocation_holds_nothing_against_an_account(health: Health, rules: Rules) -> None:
    rest_s = rules.reclaim_delay_seconds if health.standing is ACTIVE else 0

    assert machine.revoked(health, rules) == Verdict(health, rest_s)


@patient
@given(healths())
def test_a_lease_nobody_heard_of_leaves_no_trace(health: Health) -> None:
    assert machine.undelivered(health) == Verdict(health, 0)


@patient
@given(healths().filter(lambda health: health.standing is not ACTIVE), rules, st.lists(all_ends, min_size=1))
def test_who_was_set_aside_stays_so_however_its_lease_ends(health: Health, rules: Rules, ends: list[End]) -> None:
    for end in ends:
        verdict = end(health, rules)

        assert verdict.health.standing is not ACTIVE
        assert verdict.rest_s == 0, "the end of a rest would bring it back"
        health = verdict.health


@patient
@given(healths().filter(lambda health: health.standing is ACTIVE), rules, bad_reports)
def test_who_stays_in_good_standing_rests_at_least_as_the_site_says(
    health: Health, rules: Rules, report: Report
) -> None:
    verdict = machine.released(health, rules, report)

    assert verdict.health.standing is not ACTIVE or verdict.rest_s >= rules.cooldown_seconds


@settings(deadline=None, max_examples=300)
@given(healths(), rules, bad_ends, st.lists(all_ends))
def test_forgiving_undoes_a_streak_exactly(health: Health, rules: Rules, first: End, more: list[End]) -> None:
    after = stored(first(health, rules).health)
    for end in more:
        worse = end(after, rules).health
        if worse.before_penalty is None:  # a success: the streak is over
            break
        after = stored(worse)

    forgiven = machine.forgiven(after)

    assert replace(forgiven, unclean_ends=health.unclean_ends) == health
    assert machine.forgiven(forgiven) == forgiven


@patient
@given(healths(), rules, bad_ends)
def test_after_a_success_there_is_nothing_to_forgive(health: Health, rules: Rules, bad: End) -> None:
    well = machine.released(bad(health, rules).health, rules, Report(Outcome.OK)).health

    assert machine.forgiven(well) == well


@patient
@given(healths(), rules, st.lists(all_ends, max_size=3), standings)
def test_forgiving_does_not_undo_what_an_operator_said(
    health: Health, rules: Rules, ends: list[End], wanted: Standing
) -> None:
    for end in ends:
        health = end(health, rules).health
    said = machine.set_by_operator(health, wanted, None)

    assert said.standing is wanted
    assert machine.forgiven(said).standing is wanted


def test_who_was_made_active_again_is_not_set_aside_by_forgiving() -> None:
    failed_meanwhile = released(Health(INACTIVE), "failed").health

    said = machine.set_by_operator(failed_meanwhile, ACTIVE, None)

    assert machine.forgiven(said) == said == Health(consecutive_failures=1)


@pytest.mark.parametrize(
    ("health", "wanted", "reason", "after"),
    [
        (Health(unclean_ends=2), ACTIVE, None, Health()),
        (Health(INACTIVE, unclean_ends=2), ACTIVE, None, Health()),
        (Health(INACTIVE, on_probation=True), ACTIVE, None, Health(on_probation=True)),
        (replace(BY_HAND, unclean_ends=2), ACTIVE, None, Health(on_probation=True)),
        (Health(), INACTIVE, "unused", Health(INACTIVE)),
        (BY_HAND, INACTIVE, None, Health(INACTIVE)),
        (Health(), BLOCKED, None, Health(BLOCKED, "blocked by an operator")),
        (BY_HAND, BLOCKED, "still", Health(BLOCKED, "still")),
    ],
)
def test_what_an_operator_says_stands(health: Health, wanted: Standing, reason: str | None, after: Health) -> None:
    assert machine.set_by_operator(health, wanted, reason) == after


@pytest.mark.parametrize(
    ("failing", "used", "accounts", "trips"),
    [
        (3, 3, 5, True),  # just 60 percent
        (2, 2, 5, False),
        (4, 4, 7, False),  # 57 percent
        (5, 5, 7, True),
        (4, 4, 4, False),  # too few accounts to judge by
        (0, 5, 5, False),
        (12, 20, 1000, True),  # of those in use, just 60 percent
        (11, 20, 1000, False),
        (19, 19, 1000, False),  # too few in use to judge by
        (600, 600, 1000, True),
    ],
)
def test_the_breaker_trips_when_most_fail(failing: int, used: int, accounts: int, trips: bool) -> None:
    assert Breaker(60, 5, 600).trips(Tally(failing, used, accounts)) is trips


@pytest.mark.parametrize(
    ("percent", "min_accounts", "tally", "trips"),
    [
        (100, 5, Tally(5, 5, 5), True),
        (100, 5, Tally(4, 5, 5), False),
        (60, 50, Tally(49, 49, 1000), False),  # what is too few of all is too few of those in use
        (60, 50, Tally(30, 50, 1000), True),
        (60, 50, Tally(29, 50, 1000), False),
        (1, 1, Tally(1, 1, 1), True),
        (1, 1, Tally(0, 30, 30), False),
    ],
)
def test_the_breaker_does_as_the_site_says(percent: int, min_accounts: int, tally: Tally, trips: bool) -> None:
    assert Breaker(percent, min_accounts, 600).trips(tally) is trips


@pytest.mark.parametrize(
    ("tally", "told"),
    [(Tally(3, 3, 5), "3 of 5 accounts"), (Tally(12, 20, 1000), "12 of 20 accounts in use")],
)
def test_the_breaker_says_what_it_judged_by(tally: Tally, told: str) -> None:
    reason = Breaker(60, 5, 600).reason(tally)

    assert reason == f"breaker: {told} failed within 600 s; their penalties were taken back"
