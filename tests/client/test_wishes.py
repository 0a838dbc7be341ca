"""How long, how often and under which keys an account is asked for: without a network, with a clock that is moved."""

import os
from contextlib import suppress
from datetime import timedelta
from typing import Any

import httpx
import pytest

from leasehold.client import calls, wishes
from leasehold.client.models import Waiting
from leasehold.client.problems import LeaseLost, NothingFree, ProblemError, SiteUnknown, Unavailable, problem_from
from leasehold.client.wishes import Asking, Owner


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def asking(clock: Clock, **options: Any) -> Asking:
    return Asking(wishes.account("board", **options), "me", clock)


def waiting(retry_after_seconds: float = 0) -> Waiting:
    facts: dict[str, Any] = {
        "reason": "all_leased",
        "detail": "All 3 accounts are in use.",
        "next_available_at": None,
        "counts": {},
    }
    return Waiting.model_validate(facts | {"retry_after_seconds": retry_after_seconds})


def refusal(status: int, slug: str) -> ProblemError:
    return problem_from(status, {"type": f"/problems/{slug}"})


def body(ask: Asking) -> dict[str, Any]:
    return dict(ask.call.body or {})


def test_an_ask_says_what_is_wished_for_and_nothing_else(clock: Clock) -> None:
    ask = asking(
        clock, ttl=timedelta(minutes=5), labels={"tier": "gold"}, priority=9, account_id="acct_1", job_id="j-1"
    )

    assert body(ask) == {
        "site": "board",
        "owner": "me",
        "ttl_seconds": 300,
        "wait_seconds": 0,
        "count": 1,
        "include_session": False,
        "labels": {"tier": "gold"},
        "priority": 9,
        "account_id": "acct_1",
        "job_id": "j-1",
    }


def test_without_waiting_one_ask_is_all(clock: Clock) -> None:
    ask = asking(clock)

    assert body(ask)["wait_seconds"] == 0
    with pytest.raises(NothingFree, match="All 3 accounts are in use") as nothing:
        ask.pause_after_nothing(waiting())

    assert nothing.value.waiting == waiting()


def test_a_long_wait_is_several_asks_under_keys_of_their_own(clock: Clock) -> None:
    ask = asking(clock, wait=75)
    asked: list[tuple[str | None, int]] = []

    with suppress(NothingFree):
        while len(asked) < 10:
            asked.append((ask.call.key, body(ask)["wait_seconds"]))
            clock.now_s += asked[-1][1]
            clock.now_s += ask.pause_after_nothing(waiting(retry_after_seconds=20))

    assert [seconds for _, seconds in asked] == [30, 30, 15]
    assert len({key for key, _ in asked}) == 3


def test_waiting_for_ever_is_asking_for_ever(clock: Clock) -> None:
    ask = asking(clock, wait=None)

    for _ in range(100):
        assert body(ask)["wait_seconds"] == 30
        clock.now_s += 30
        assert ask.pause_after_nothing(waiting()) == 0.0


def test_an_answer_that_came_early_says_how_long_to_stay_away(clock: Clock) -> None:
    ask = asking(clock, wait=60)

    assert body(ask)["wait_seconds"] == 30
    clock.now_s += 1
    assert ask.pause_after_nothing(waiting(retry_after_seconds=12)) == 12
    clock.now_s += 12
    assert body(ask)["wait_seconds"] == 30
    assert 0.5 <= ask.pause_after_nothing(waiting(retry_after_seconds=0)) <= 1.0, "never again at once"
    assert ask.pause_after_nothing(waiting(retry_after_seconds=900)) == 47, "the last ask comes when the time is up"


def test_a_lost_answer_is_asked_for_under_the_same_key_and_counts_from_the_first_sending(clock: Clock) -> None:
    ask = asking(clock, wait=60)
    first, sent_s = ask.call, ask.sent_s

    clock.now_s += 10
    pause_s = ask.pause_after(httpx.ReadError("cut"))
    clock.now_s += pause_s

    assert pause_s > 0
    assert ask.call is first
    assert ask.sent_s == sent_s == 1000.0


@pytest.mark.parametrize(
    ("status", "slug"), [(503, "unavailable"), (503, "pools-moving"), (429, "slow-down"), (502, "")]
)
def test_a_server_that_is_away_is_waited_for(clock: Clock, status: int, slug: str) -> None:
    ask = asking(clock, wait=600)

    pauses = [ask.pause_after(refusal(status, slug)) for _ in range(8)]

    assert 0.5 <= pauses[0] <= 1.0
    assert 2.5 <= pauses[-1] <= 5.0


def test_when_the_time_is_up_the_error_is_told(clock: Clock) -> None:
    ask = asking(clock, wait=5)
    clock.now_s += 5

    with pytest.raises(Unavailable):
        ask.pause_after(refusal(503, "unavailable"))


@pytest.mark.parametrize(("status", "slug"), [(404, "site-unknown"), (422, "invalid-request"), (503, "secrets-sealed")])
def test_a_refusal_that_waiting_does_not_change_is_told_at_once(clock: Clock, status: int, slug: str) -> None:
    ask = asking(clock, wait=None)

    with pytest.raises(ProblemError) as told:
        ask.pause_after(refusal(status, slug))

    assert told.value.status == status
    assert isinstance(refusal(404, "site-unknown"), SiteUnknown)


def test_a_grant_that_ended_before_we_heard_of_it_is_asked_for_anew(clock: Clock) -> None:
    ask = asking(clock)
    first = ask.call.key

    assert ask.pause_after(LeaseLost.here("lease_1", "expired", "")) == 0.0

    assert ask.call.key != first


def test_grants_that_keep_getting_lost_are_told_in_the_end(clock: Clock) -> None:
    ask = asking(clock)

    ask.pause_after(LeaseLost.here("lease_1", "expired", ""))
    ask.pause_after(LeaseLost.here("lease_2", "expired", ""))

    with pytest.raises(LeaseLost):
        ask.pause_after(LeaseLost.here("lease_3", "expired", ""))


def test_the_owner_is_stable_and_names_this_process() -> None:
    mine, other = Owner(), Owner()

    assert str(mine) == str(mine)
    assert str(mine) != str(other)
    assert f":{os.getpid()}:" in str(mine)
    assert len(str(mine)) <= 200


def test_an_import_takes_one_kind_of_thing() -> None:
    with pytest.raises(TypeError):
        calls.import_accounts()
    with pytest.raises(TypeError):
        calls.import_accounts([], csv="site,username\n")

    assert calls.import_accounts(csv="a").text == ("text/csv", "a")
    assert calls.import_accounts(ndjson="{}").text == ("application/x-ndjson", "{}")
    assert calls.import_accounts([{"site": "board"}]).body == {"items": [{"site": "board"}]}


def test_a_secret_is_not_in_the_repr_of_a_call() -> None:
    call = calls.create_account("board", "ann", secret={"password": "LHCANARY"})

    assert "LHCANARY" not in repr(call)
    assert "LHCANARY" not in repr(calls.import_accounts(csv="LHCANARY"))
