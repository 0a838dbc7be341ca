"""The checker on hand-made histories: one where every promise was kept, and for each promise one where it was not."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tests.faults import history, sometimes
from tests.faults.books import Account, Books, Grant, Policy
from tests.faults.checker import Case, check
from tests.faults.history import HEALED, Call, Clock, Fault, History, Recorder, Result

ACCOUNT = "acct_1"
FIRST = Grant("lease_1", ACCOUNT, "board", "ann", 1, 10.0, 15.0, 12.0, "released", "ok")
SECOND = Grant("lease_2", ACCOUNT, "board", "bob", 2, 14.0, 21.0, 21.0, "expired")
POLICY = Policy(cap=1, cooldown_s=1, reclaim_delay_s=2)


def call(op: str, began: float, ended: float, result: Result = "ok", status: int = 200, **more: Any) -> Call:
    seen = {"status": status, **more.pop("seen", {})}
    return Call("c1", op, began, ended, result, more, seen)


def acquire(grant: Grant, began: float, ended: float, **more: Any) -> Call:
    asked: dict[str, Any] = {"site": grant.site, "owner": grant.owner, "key": None, "labels": {}}
    asked |= {"count": 1, "wait": 0, "ttl": 5}
    lease = {"id": grant.lease, "resource": grant.account, "fence": grant.fence, "acquired_at": grant.acquired_at}
    seen = {"leases": [{**lease, "expires_at": grant.acquired_at + 5}], "waiting": None}
    return call("acquire", began, ended, seen=seen, **asked | more)


def heartbeat(lease: str, began: float, ended: float, expires_at: float, ttl: int = 5) -> Call:
    return call("heartbeat", began, ended, lease=lease, ttl=ttl, seen={"expires_at": expires_at})


def release(lease: str, began: float, ended: float, already: bool = False, outcome: str = "ok") -> Call:
    return call("release", began, ended, lease=lease, outcome=outcome, cooldown=None, seen={"already": already})


def refused(op: str, lease: str, began: float, ended: float, reason: str) -> Call:
    return call(op, began, ended, "fail", 410, lease=lease, ttl=5, outcome="ok", cooldown=None, seen={"reason": reason})


def too_slow(took: float) -> Call:
    """Who was told, when all was well, that what it was granted has been taken back."""
    asked = acquire(SECOND, 20.5, inf)
    said = "The server was too slow to tell in time what it granted, and has given it back. Try again."
    return replace(asked, result="unknown", seen={"status": 503, "detail": said, "took": took})


@dataclass
class Story:
    """Ann holds an account and gives it back; after its rest Bob gets it, renews it once and lets it run out."""

    grants: list[Grant] = field(default_factory=lambda: [FIRST, SECOND])
    calls: list[Call] = field(
        default_factory=lambda: [
            acquire(FIRST, 9.9, 10.1),
            release("lease_1", 11.9, 12.1),
            release("lease_1", 12.2, 12.3, already=True),
            refused("heartbeat", "lease_1", 12.5, 12.6, "released"),
            acquire(SECOND, 13.0, 14.1),
            heartbeat("lease_2", 15.9, 16.1, 21.0),
            refused("heartbeat", "lease_2", 21.5, 21.6, "expired"),
            refused("release", "lease_2", 21.7, 21.8, "expired"),
        ]
    )
    accounts: dict[str, Account] = field(default_factory=lambda: {ACCOUNT: Account("board", 2)})
    policy: Policy = POLICY

    def faults(self) -> list[str]:
        books = Books(self.grants, self.accounts, {"board": self.policy}, now=30.0)
        return check(History(self.calls, [Fault(HEALED, "all", 20.0, 20.0)]), books)


def test_a_history_in_which_every_promise_was_kept_has_no_fault() -> None:
    assert Story().faults() == []


def overlapping(story: Story) -> None:
    story.policy = Policy()
    story.grants[0] = replace(FIRST, ended_at=14.5)
    story.calls[1] = release("lease_1", 14.4, 14.6)


def unended(story: Story) -> None:
    story.grants[0] = replace(FIRST, ended_at=None, how=None, outcome=None)


def over_the_cap(story: Story) -> None:
    story.accounts["acct_2"] = Account("board", 1)
    story.grants.append(Grant("lease_3", "acct_2", "board", "ann", 1, 11.0, 16.0, 16.0, "expired"))


def fence_again(story: Story) -> None:
    story.grants[1] = replace(SECOND, fence=1)


def fence_left_out(story: Story) -> None:
    story.grants[1] = replace(SECOND, fence=3)
    story.accounts[ACCOUNT] = Account("board", 3)


def fence_told_wrong(story: Story) -> None:
    story.calls[4] = acquire(replace(SECOND, fence=3), 13.0, 14.1)


def told_of_nothing_booked(story: Story) -> None:
    story.calls[4] = acquire(replace(SECOND, lease="lease_9"), 13.0, 14.1)


def half_of_what_was_asked(story: Story) -> None:
    story.calls[4] = acquire(SECOND, 13.0, 14.1, count=2)


def other_label(story: Story) -> None:
    story.calls[4] = acquire(SECOND, 13.0, 14.1, labels={"tier": "gold"})


def nobody_asked(story: Story) -> None:
    story.calls[4] = acquire(SECOND, 14.05, 14.1)


def nobody_released(story: Story) -> None:
    del story.calls[1:3]


def released_after_it_ran_out(story: Story) -> None:
    story.grants[0] = replace(FIRST, expires_at=11.0)


def released_just_after_it_ran_out(story: Story) -> None:
    story.grants[0] = replace(FIRST, expires_at=11.85)


def released_long_after_it_was_asked_for(story: Story) -> None:
    story.grants[0] = replace(FIRST, expires_at=10.9)
    story.calls[1] = release("lease_1", 10.8, 12.1)


def expired_too_soon(story: Story) -> None:
    story.grants[1] = replace(SECOND, ended_at=20.0)


def taken_back_from_its_holder(story: Story) -> None:
    story.grants[0] = replace(FIRST, outcome=None)


def renewed_after_its_end(story: Story) -> None:
    story.calls.append(heartbeat("lease_1", 12.5, 12.6, 15.0))


def owner_renewed_after_its_end(story: Story) -> None:
    seen = {"renewed": ["lease_1"], "lost": []}
    story.calls.append(call("heartbeat_owner", 12.5, 12.6, owner="ann", ttl=5, seen=seen))


def released_after_its_end(story: Story) -> None:
    story.calls.append(release("lease_1", 12.5, 12.6))


def release_not_booked(story: Story) -> None:
    story.calls.append(release("lease_2", 22.0, 22.1))


def revocation_not_booked(story: Story) -> None:
    story.calls.append(call("revoke", 16.5, 16.6, lease="lease_2", seen={"revoked": 1}))


def not_revoked_though_it_lived(story: Story) -> None:
    story.calls.append(call("revoke", 16.5, 16.6, lease="lease_2", seen={"revoked": 0}))


def refused_while_it_lived(story: Story) -> None:
    story.calls.append(refused("heartbeat", "lease_2", 16.5, 16.6, "expired"))


def refused_for_another_reason(story: Story) -> None:
    story.calls[3] = refused("heartbeat", "lease_1", 12.5, 12.6, "revoked")


def second_release_refused(story: Story) -> None:
    story.calls[2] = refused("release", "lease_1", 12.2, 12.3, "released")


def told_lost_while_it_lived(story: Story) -> None:
    seen = {"renewed": [], "lost": ["lease_2"]}
    story.calls.append(call("heartbeat_owner", 16.5, 16.6, owner="bob", ttl=5, seen=seen))


def left_out_of_its_owners_heartbeat(story: Story) -> None:
    seen: dict[str, Any] = {"renewed": [], "lost": []}
    story.calls.append(call("heartbeat_owner", 14.5, 14.6, owner="bob", ttl=5, seen=seen))


def revived(story: Story) -> None:
    story.calls[5] = heartbeat("lease_2", 19.5, 19.6, 24.5)
    story.grants[1] = replace(SECOND, expires_at=24.5, ended_at=24.5)
    del story.calls[6:]


def shortened(story: Story) -> None:
    story.calls.insert(6, heartbeat("lease_2", 16.2, 16.3, 20.9, ttl=1))


def shortened_in_the_books(story: Story) -> None:
    story.calls[5] = heartbeat("lease_2", 15.9, 16.1, 21.5)


def not_renewed_from_now(story: Story) -> None:
    story.calls[5] = heartbeat("lease_2", 15.9, 16.1, 20.0)


def two_first_releases(story: Story) -> None:
    story.calls[2] = release("lease_1", 11.9, 12.3)


def another_outcome_booked(story: Story) -> None:
    story.calls[1] = release("lease_1", 11.9, 12.1, outcome="logged_out")
    story.calls[2] = release("lease_1", 11.9, 12.3, already=True)


def two_grants_under_a_key(story: Story) -> None:
    story.grants[1] = replace(SECOND, owner="ann")
    story.calls[0] = acquire(FIRST, 9.9, inf, key="k1")
    story.calls[4] = acquire(replace(SECOND, owner="ann"), 13.0, 14.1, key="k1")


def a_key_that_forgot(story: Story) -> None:
    story.calls[0] = acquire(FIRST, 9.9, 10.1, key="k1")
    empty = acquire(FIRST, 10.2, 10.3, key="k1")
    story.calls.append(replace(empty, seen={"status": 200, "leases": [], "waiting": "all_leased"}))


def a_key_refused_too_soon(story: Story) -> None:
    story.calls[0] = acquire(FIRST, 9.9, 10.1, key="k1")
    story.calls.append(replace(acquire(FIRST, 10.2, 10.3, key="k1"), result="fail", seen={"status": 410}))


def granted_in_its_rest(story: Story) -> None:
    story.policy = Policy(cap=1, cooldown_s=3)


def granted_though_blocked(story: Story) -> None:
    story.grants[0] = replace(FIRST, outcome="blocked")
    story.calls[1] = release("lease_1", 11.9, 12.1, outcome="blocked")


def a_crash(story: Story) -> None:
    story.calls.append(call("heartbeat", 16.5, inf, "unknown", 500, lease="lease_2", ttl=5))


def down_when_all_is_well(story: Story) -> None:
    story.calls.append(call("heartbeat", 20.5, inf, "unknown", 503, lease="lease_2", ttl=5))


def stale_too_soon(story: Story) -> None:
    story.calls.append(too_slow(3.0))


def lease_unknown(story: Story) -> None:
    story.calls.append(call("release", 21.9, 22.0, "fail", 404, lease="lease_2", outcome="ok", cooldown=None))


def booked_twice(story: Story) -> None:
    story.grants.append(SECOND)


def never_booked(story: Story) -> None:
    story.grants[1] = replace(SECOND, ended_at=None, how=None)


BROKEN: dict[Callable[[Story], None], str] = {
    overlapping: "one_holder",
    unended: "one_holder",
    over_the_cap: "within_the_cap",
    fence_again: "fences",
    fence_left_out: "fences",
    fence_told_wrong: "as_told",
    told_of_nothing_booked: "as_told",
    half_of_what_was_asked: "as_told",
    other_label: "as_told",
    nobody_asked: "every_grant_was_asked_for",
    nobody_released: "every_end_has_its_cause",
    released_after_it_ran_out: "every_end_has_its_cause",
    released_just_after_it_ran_out: "every_end_has_its_cause",
    released_long_after_it_was_asked_for: "every_end_has_its_cause",
    expired_too_soon: "every_end_has_its_cause",
    taken_back_from_its_holder: "every_end_has_its_cause",
    renewed_after_its_end: "only_live_leases_act",
    owner_renewed_after_its_end: "only_live_leases_act",
    released_after_its_end: "only_live_leases_act",
    release_not_booked: "only_live_leases_act",
    revocation_not_booked: "revoked_is_gone",
    not_revoked_though_it_lived: "revoked_is_gone",
    refused_while_it_lived: "refusals_are_true",
    refused_for_another_reason: "refusals_are_true",
    second_release_refused: "refusals_are_true",
    told_lost_while_it_lived: "refusals_are_true",
    left_out_of_its_owners_heartbeat: "refusals_are_true",
    revived: "heartbeats_lengthen",
    shortened: "heartbeats_lengthen",
    shortened_in_the_books: "heartbeats_lengthen",
    not_renewed_from_now: "heartbeats_lengthen",
    two_first_releases: "one_release",
    another_outcome_booked: "one_release",
    two_grants_under_a_key: "one_grant_per_key",
    a_key_that_forgot: "one_grant_per_key",
    a_key_refused_too_soon: "one_grant_per_key",
    granted_in_its_rest: "rests_are_kept",
    granted_though_blocked: "rests_are_kept",
    a_crash: "answers_are_known",
    down_when_all_is_well: "answers_are_known",
    stale_too_soon: "answers_are_known",
    lease_unknown: "answers_are_known",
    booked_twice: "books_add_up",
    never_booked: "books_add_up",
}


@pytest.mark.parametrize("spoil", BROKEN, ids=lambda spoil: spoil.__name__)
def test_a_broken_promise_is_found(spoil: Callable[[Story], None]) -> None:
    story = Story()
    spoil(story)

    rules = {fault.partition(":")[0] for fault in story.faults()}

    assert BROKEN[spoil] in rules


def test_a_rest_that_an_operator_ended_is_no_fault() -> None:
    story = Story(policy=Policy(cap=1, cooldown_s=3))
    story.calls.append(call("revive", 12.5, 12.6, account=ACCOUNT))

    assert story.faults() == []


def test_a_heartbeat_of_unknown_outcome_may_have_kept_it_alive() -> None:
    story = Story()
    revived(story)
    story.calls.append(call("heartbeat", 18.0, inf, "unknown", 0, lease="lease_2", ttl=5))

    assert story.faults() == []


def test_heartbeats_before_a_grant_nobody_was_told_of_say_nothing_about_its_end() -> None:
    story = Story()
    story.calls[4] = replace(acquire(SECOND, 13.0, inf), result="unknown", seen={})
    for at, renewed in ((2.0, []), (15.9, ["lease_2"])):
        seen = {"renewed": renewed, "lost": []}
        story.calls.append(call("heartbeat_owner", at, at + 0.2, owner="bob", ttl=5, seen=seen))

    assert story.faults() == []


def test_down_while_something_is_broken_is_no_fault() -> None:
    story = Story()
    story.calls.append(call("heartbeat", 16.5, inf, "unknown", 503, lease="lease_2", ttl=5))

    assert story.faults() == []


def test_a_server_too_slow_to_tell_in_time_is_no_fault() -> None:
    story = Story()
    story.calls.append(too_slow(3.5))

    assert story.faults() == []


def test_a_key_sent_again_finds_its_lease_or_that_it_ended() -> None:
    story = Story()
    story.calls[0] = replace(acquire(FIRST, 9.9, inf, key="k1"), result="unknown", seen={})
    story.calls.append(acquire(FIRST, 10.2, 10.3, key="k1"))
    story.calls.append(replace(acquire(FIRST, 12.5, 12.6, key="k1"), result="fail", seen={"status": 410}))

    assert story.faults() == []


def test_what_the_server_gave_back_before_anybody_was_told_counts_for_nothing() -> None:
    story = Story()
    story.grants[0] = replace(FIRST, owner="bob", outcome=None, ended_at=10.1)
    story.calls = [acquire(SECOND, 9.9, 14.1, key="k1"), *story.calls[5:]]

    assert story.faults() == []


def test_what_never_happened_is_told() -> None:
    story = Story()
    books = Books(story.grants, story.accounts, {"board": story.policy}, now=30.0)

    counters = sometimes.counted(Case(History(story.calls, []), books))

    assert (counters["grants"], counters["releases"], counters["expiries"]) == (2, 1, 1)
    assert counters["stale calls refused: expired"] == 2
    assert "never happened: server kills" in sometimes.missing(counters, ["server kills"])
    assert "never happened: grants" not in sometimes.missing(counters)


def test_a_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    ann, nemesis = Recorder(tmp_path, "ann"), Recorder(tmp_path, history.NEMESIS)
    ann.answered(ann.invoke("acquire", {"site": "board"}), "ok", {"status": 200})
    ann.answered(ann.invoke("release", {"lease": "lease_1"}), "unknown", {"error": "cut"})
    ann.invoke("heartbeat", {"lease": "lease_1"})
    nemesis.fault("server kill", "s1", 1.0)
    for recorder in (ann, nemesis):
        recorder.close()
    with (tmp_path / "ann.jsonl").open("a") as file:
        file.write('{"at": 1, "cal')  # killed in the middle of a line

    what_was = history.read(tmp_path, Clock(1000.0, 1001.0), slack=0.5)

    assert [(one.op, one.result) for one in what_was.calls] == [
        ("acquire", "ok"),
        ("release", "unknown"),
        ("heartbeat", "unknown"),
    ]
    assert [one.ended < inf for one in what_was.calls] == [True, False, False]
    assert what_was.calls[0].ended - what_was.calls[0].began >= 2.0
    assert [(fault.what, fault.began) for fault in what_was.faults] == [("server kill", 1001.0)]
