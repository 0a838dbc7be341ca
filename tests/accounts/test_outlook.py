"""What somebody is told who got nothing: the reason, the sentence, and when to ask again."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold.accounts import outlook
from leasehold.accounts.machine import Breaker, Rules, State
from leasehold.accounts.models import Ground, Outlook, Wish
from leasehold.leases import Waiting

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ACTIVE, USING, COOLING, INACTIVE, BLOCKED = State


def ground(cap: int | None = None, live: int = 0, pause_reason: str | None = None) -> Ground:
    rules, breaker = Rules(0, 15, 3, None), Breaker(60, 5, 600)
    return Ground("board", pause_reason is not None, pause_reason, cap, rules, breaker, live)


def wish(count: int = 1, account: UUID | None = None, **labels: str) -> Wish:
    return Wish("board", 4, count, labels, account)


def there(counts: dict[State, int], next_in_s: float | None = None) -> Outlook:
    next_at = None if next_in_s is None else NOON + timedelta(seconds=next_in_s)
    return Outlook(counts, next_at, NOON)


def told(counts: dict[State, int], wish_: Wish, ground_: Ground, next_in_s: float | None = 30) -> Waiting:
    return outlook.waiting(ground_, wish_, there(counts, next_in_s))


@pytest.mark.parametrize(
    ("counts", "asked", "site", "reason", "sentence"),
    [
        (
            {ACTIVE: 3},
            wish(),
            ground(pause_reason="a new login page"),
            "paused",
            "Nobody gets anything of board: it is paused (a new login page). Resume it to go on.",
        ),
        ({}, wish(), ground(), "none_match", "board has no account. Add one, or ask for another."),
        (
            {},
            wish(region="de"),
            ground(),
            "none_match",
            "board has no account like that. Add one, or ask for another.",
        ),
        (
            {},
            wish(account=UUID(int=1)),
            ground(),
            "none_match",
            "board has no account like that. Add one, or ask for another.",
        ),
        ({ACTIVE: 2}, wish(3), ground(), "none_match", "Not 3 accounts for board: 0 of 2 in use, 2 free."),
        (
            {USING: 2, ACTIVE: 3},
            wish(),
            ground(cap=2, live=2),
            "site_capped",
            "No account for board: 2 of 5 in use (cap 2), 3 free.",
        ),
        (
            {USING: 1, ACTIVE: 4},
            wish(2),
            ground(cap=2, live=1),
            "site_capped",
            "Not 2 accounts for board: 1 of 5 in use (cap 2), 4 free.",
        ),
        ({USING: 2}, wish(), ground(), "all_leased", "No account for board: 2 of 2 in use."),
        (
            {USING: 2},
            wish(region="de"),
            ground(cap=9, live=2),
            "all_leased",
            "No account like that for board: 2 of 2 in use (cap 9).",
        ),
        (
            {USING: 1, COOLING: 1, BLOCKED: 1, INACTIVE: 1},
            wish(),
            ground(),
            "all_leased",
            "No account for board: 1 of 4 in use, 1 cooling, 1 blocked, 1 inactive.",
        ),
        (
            {USING: 1, ACTIVE: 1},
            wish(2),
            ground(),
            "all_leased",
            "Not 2 accounts for board: 1 of 2 in use, 1 free.",
        ),
        (
            {COOLING: 1, BLOCKED: 2},
            wish(),
            ground(),
            "cooling",
            "No account for board: 0 of 3 in use, 1 cooling until 12:00:30 UTC, 2 blocked.",
        ),
        (
            {BLOCKED: 1, INACTIVE: 2},
            wish(),
            ground(),
            "blocked",
            "No account for board: 0 of 3 in use, 1 blocked, 2 inactive.",
        ),
        (
            {ACTIVE: 1, BLOCKED: 1},
            wish(2),
            ground(),
            "blocked",
            "Not 2 accounts for board: 0 of 2 in use, 1 blocked, 1 free.",
        ),
        ({ACTIVE: 1}, wish(), ground(), "all_leased", "board has one account free: 0 of 1 in use, 1 free."),
        (
            {ACTIVE: 3},
            wish(2, region="de"),
            ground(),
            "all_leased",
            "board has 3 accounts like that free: 0 of 3 in use, 3 free.",
        ),
    ],
)
def test_every_situation_has_its_reason_and_its_sentence(
    counts: dict[State, int], asked: Wish, site: Ground, reason: str, sentence: str
) -> None:
    waiting = told(counts, asked, site)

    assert (waiting.reason, waiting.detail) == (reason, sentence)


@pytest.mark.parametrize(
    ("counts", "site", "knows_when"),
    [
        ({USING: 1}, ground(), True),
        ({COOLING: 1}, ground(), True),
        ({USING: 1, ACTIVE: 1}, ground(cap=1, live=1), True),
        ({BLOCKED: 1}, ground(), False),
        ({COOLING: 1}, ground(pause_reason="x"), False),
        ({}, ground(), False),
    ],
)
def test_when_is_said_only_where_time_alone_will_help(counts: dict[State, int], site: Ground, knows_when: bool) -> None:
    waiting = told(counts, wish(), site, next_in_s=7)

    assert waiting.next_available_at == (NOON + timedelta(seconds=7) if knows_when else None)
    assert waiting.retry_after_seconds == (7 if knows_when else 30)


@pytest.mark.parametrize(
    ("state", "next_in_s", "retry_after_s"),
    [
        (COOLING, -5, 1),
        (COOLING, 0, 1),
        (COOLING, 0.2, 1),
        (COOLING, 1.2, 2),
        (COOLING, 299.5, 300),
        (COOLING, 86_400, 300),
        (COOLING, None, 30),
        (USING, -5, 1),
        (USING, 3, 3),
        (USING, 10.1, 10),  # it may be given back long before it runs out
        (USING, 3600, 10),
        (USING, None, 30),
    ],
)
def test_asking_again_is_neither_too_soon_nor_too_late(
    state: State, next_in_s: float | None, retry_after_s: int
) -> None:
    assert told({state: 1}, wish(), ground(), next_in_s).retry_after_seconds == retry_after_s


def test_every_state_is_counted() -> None:
    waiting = told({USING: 2, BLOCKED: 1}, wish(), ground())

    assert waiting.counts == {"active": 0, "using": 2, "cooling": 0, "inactive": 0, "blocked": 1}


@settings(deadline=None)  # a busy machine is no failure
@given(
    counts=st.dictionaries(st.sampled_from(State), st.integers(0, 5)),
    count=st.integers(1, 100),
    cap=st.none() | st.integers(0, 9),
    live=st.integers(0, 9),
    pause_reason=st.none() | st.just("by hand"),
    next_in_s=st.none() | st.floats(-1e6, 1e6),
)
def test_whatever_the_situation_it_is_told_within_bounds(
    counts: dict[State, int],
    count: int,
    cap: int | None,
    live: int,
    pause_reason: str | None,
    next_in_s: float | None,
) -> None:
    waiting = told(counts, wish(count), ground(cap, live, pause_reason), next_in_s)

    assert waiting.reason in {"all_leased", "cooling", "blocked", "site_capped", "paused", "none_match"}
    assert 1 <= waiting.retry_after_seconds <= 300
    assert waiting.detail.endswith(".")
    assert "  " not in waiting.detail


@pytest.mark.parametrize(
    ("counts", "site", "sentence"),
    [
        ({}, ground(), "board has no account. Add one, or ask for another."),
        ({ACTIVE: 2, USING: 1}, ground(), "board has 2 accounts free: 1 of 3 in use, 2 free."),
        ({ACTIVE: 2, USING: 1}, ground(cap=1, live=1), "No account for board: 1 of 3 in use (cap 1), 2 free."),
        ({ACTIVE: 2, USING: 3}, ground(cap=1, live=3), "No account for board: 3 of 5 in use (cap 1), 2 free."),
    ],
)
def test_a_site_is_explained_to_who_asks_for_nothing_in_particular(
    counts: dict[State, int], site: Ground, sentence: str
) -> None:
    assert outlook.sentence(site, there(counts)) == sentence
