"""How long a lease is ours by our own clock: the arithmetic, with a clock that only moves when it is told to."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from leasehold.client.models import Lease
from leasehold.client.problems import LeaseLost
from leasehold.client.tenure import Tenure, margin_s

START = datetime(1999, 12, 31, tzinfo=UTC)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def lease(expires_s: float = 60, *, age_s: float = 0) -> Lease:
    ends = START + timedelta(seconds=expires_s)
    facts = {
        "id": "lease_1",
        "kind": "account",
        "resource_id": "acct_1",
        "site": "board",
        "owner": "me",
        "job_id": None,
    }
    return Lease.model_validate(
        facts | {"fence": 1, "acquired_at": START - timedelta(seconds=age_s), "expires_at": ends}
    )


def lost(reason: str) -> LeaseLost:
    return LeaseLost.here("lease_1", reason, "It is over.")


@pytest.mark.parametrize(("ttl_s", "expected"), [(5, 0.25), (10, 0.5), (20, 1.0), (120, 1.0), (3600, 1.0)])
def test_the_margin_is_a_twentieth_and_a_second_at_the_most(ttl_s: float, expected: float) -> None:
    assert margin_s(ttl_s) == expected


def test_a_lease_counts_from_the_sending_however_slow_the_answer_was(clock: Clock) -> None:
    sent_s, clock.now_s = clock.now_s, clock.now_s + 25

    tenure = Tenure(lease(), 60, sent_s, clock)

    assert tenure.ends_s == sent_s + 59
    assert tenure.remaining_s == 34
    assert tenure.renew_s == sent_s + 20


def test_a_renewal_counts_from_its_sending_too(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)
    clock.now_s += 20
    sent_s, clock.now_s = clock.now_s, clock.now_s + 30

    assert tenure.renewed(lease(80), sent_s)

    assert tenure.remaining_s == 29
    assert tenure.renew_s == sent_s + 20
    assert tenure.expires_at == START + timedelta(seconds=80)


def test_an_older_renewal_that_is_answered_later_takes_nothing_away(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)

    tenure.renewed(lease(90), clock() + 30)
    tenure.renewed(lease(80), clock() + 20)

    assert tenure.remaining_s == 89
    assert tenure.expires_at == START + timedelta(seconds=90)


def test_a_renewal_that_an_old_lease_is_not_given_in_full_counts_as_far_as_it_went(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)

    tenure.renewed(lease(80, age_s=90_000), clock() + 20)
    assert tenure.remaining_s == 79, "in full"
    tenure.renewed(lease(90, age_s=90_000), clock() + 40)
    assert tenure.remaining_s == 89, "ten seconds of twenty"
    tenure.renewed(lease(90, age_s=90_000), clock() + 60)

    assert tenure.remaining_s == 89, "nothing more"
    assert tenure.renew_s == clock() + 80


def test_somebody_elses_longer_renewal_does_no_harm(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)

    tenure.renewed(lease(3620), clock() + 20)
    assert tenure.remaining_s == 79
    tenure.renewed(lease(3620), clock() + 40)

    assert tenure.remaining_s == 99


def test_a_clock_of_the_server_that_jumps_forward_gives_nothing_more(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)

    tenure.renewed(lease(86_400, age_s=90_000), clock() + 20)

    assert tenure.remaining_s == 79


def test_a_clock_of_the_server_that_jumps_back_takes_nothing_from_a_young_lease(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)

    tenure.renewed(lease(60), clock() + 20)

    assert tenure.remaining_s == 79


def test_at_the_local_end_it_is_lost_with_nobody_watching(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)

    clock.now_s += 58.9
    assert tenure.lost is None
    clock.now_s += 0.1

    assert tenure.lost is not None
    assert tenure.lost.reason == "expired"
    assert tenure.remaining_s == 0.0
    with pytest.raises(LeaseLost):
        tenure.check()


def test_an_answer_after_the_local_end_revives_nothing(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)
    sent_s, clock.now_s = clock.now_s + 50, clock.now_s + 59.5

    assert not tenure.renewed(lease(110), sent_s)

    assert tenure.is_over
    assert tenure.lost is not None


def test_the_first_reason_stands(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)

    tenure.lose(lost("revoked"))
    tenure.lose(lost("superseded"))
    clock.now_s += 100

    assert tenure.lost is not None
    assert tenure.lost.reason == "revoked"


def test_what_kept_it_from_being_renewed_is_the_cause(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)
    tenure.failed(ConnectionError("refused"))
    tenure.failed(TimeoutError())

    clock.now_s += 60

    assert tenure.lost is not None
    assert isinstance(tenure.lost.__cause__, ConnectionError)


def test_a_renewal_that_works_makes_good_for_those_that_failed(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)
    tenure.failed(ConnectionError("refused"))
    tenure.renewed(lease(80), clock() + 20)

    clock.now_s += 100

    assert tenure.lost is not None
    assert tenure.lost.__cause__ is None


def heard() -> tuple[list[str], Callable[[LeaseLost], None]]:
    reasons: list[str] = []
    return reasons, lambda error: reasons.append(error.reason)


def test_listeners_are_told_once_also_those_who_come_late(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)
    early, hear_early = heard()
    late, hear_late = heard()

    tenure.tell(hear_early)
    tenure.lose(lost("revoked"))
    tenure.lose(lost("revoked"))
    tenure.tell(hear_late)

    assert early == late == ["revoked"]


def test_after_the_block_the_clock_takes_nothing_away_and_nobody_is_told(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)
    reasons, hear = heard()
    tenure.tell(hear)

    assert tenure.leave() is None
    clock.now_s += 1000

    assert tenure.lost is None
    assert reasons == []
    assert tenure.is_over
    assert tenure.remaining_s == 0.0
    with pytest.raises(LeaseLost) as over:
        tenure.check()
    assert over.value.reason == "released"


def test_a_block_that_ends_too_late_has_lost_its_lease(clock: Clock) -> None:
    tenure = Tenure(lease(), 60, clock(), clock)

    clock.now_s += 60

    assert tenure.leave() is not None
