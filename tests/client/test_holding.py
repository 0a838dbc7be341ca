"""A block that holds an account, without an event loop: what it may know of its lease, and what the server is told."""

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from leasehold.client import HeldAccount, Leasehold, LeaseLost, NothingFree, SiteUnknown
from leasehold.client.holding import Report, report_for
from tests.client.standin import SECRET, StandIn, nothing, problem
from tests.parts.process import until


@pytest.fixture
def lh(server: StandIn) -> Iterator[Leasehold]:
    with Leasehold(server.address, "lh_x") as client:
        yield client


def test_a_block_holds_an_account_and_gives_it_back(server: StandIn, lh: Leasehold) -> None:
    with lh.account("board") as lease:
        assert (lease.username, lease.fence, lease.secret) == ("ann", 7, {"password": SECRET})
        lease.check()

    assert server.outcomes == [("ok", None)]
    with pytest.raises(LeaseLost):
        _ = lease.secret


def test_it_is_renewed_by_itself(server: StandIn, lh: Leasehold) -> None:
    server.ttl_s = 5.0

    with lh.account("board") as lease:
        time.sleep(5.3)
        lease.check()

    assert len(server.heartbeats) >= 2


def test_slow_answers_make_nothing_longer(server: StandIn, lh: Leasehold) -> None:
    server.ttl_s, server.on_acquire, server.on_heartbeat = 6.0, [server.slowly(0.7)], [server.slowly(0.7)]

    with lh.account("board") as lease:
        at_first = lease.remaining_s
        while not server.heartbeats:
            time.sleep(0.01)
        before = lease.remaining_s
        while lease.remaining_s <= before:
            time.sleep(0.01)
        renewed = lease.remaining_s

    assert at_first <= 5.7 - 0.7
    assert before < renewed <= 5.7 - 0.7


def test_being_kept_waiting_on_purpose_is_no_timeout(server: StandIn) -> None:
    server.on_acquire = [server.slowly(1.5)]

    with Leasehold(server.address, "lh_x", timeout_s=0.5) as impatient:
        impatient.accounts.acquire("board", owner="me", wait=20)

    assert len(server.acquires) == 1


def step_by_step(lease: HeldAccount) -> None:
    """Works for far longer than it may, and asks before each step."""
    for _ in range(500):
        lease.check()
        time.sleep(0.02)
    raise AssertionError("nobody stopped it")


def test_the_work_finds_out_that_its_lease_is_lost(server: StandIn, lh: Leasehold) -> None:
    server.ttl_s, server.on_heartbeat = 4.5, [lambda: problem(410, "lease-lost", reason="superseded")] * 9

    with pytest.raises(LeaseLost) as lost, lh.account("board") as lease:
        step_by_step(lease)

    assert lost.value.reason == "superseded"
    assert lease.is_lost
    assert server.releases == []


def test_silence_is_a_loss_when_the_time_is_up(server: StandIn, lh: Leasehold) -> None:
    server.ttl_s, server.on_heartbeat = 1.0, [server.hole] * 50

    with pytest.raises(LeaseLost) as lost, lh.account("board") as lease:
        step_by_step(lease)

    assert lost.value.reason == "expired"


def test_nobody_gets_the_secret_of_a_lost_lease(server: StandIn, lh: Leasehold) -> None:
    server.ttl_s, server.on_heartbeat = 0.9, [server.hole] * 50

    with suppress(LeaseLost), lh.account("board") as lease:
        time.sleep(1.0)
        with pytest.raises(LeaseLost):
            _ = lease.secret


def test_leaving_the_block_of_a_lost_lease_is_told(server: StandIn, lh: Leasehold) -> None:
    server.ttl_s, server.on_heartbeat = 0.9, [lambda: problem(410, "lease-lost", reason="revoked")] * 9

    with pytest.raises(LeaseLost), lh.account("board") as lease:
        until(lambda: lease.is_lost)


def test_another_error_goes_before_the_loss(server: StandIn, lh: Leasehold) -> None:
    server.ttl_s, server.on_heartbeat = 1.5, [lambda: problem(410, "lease-lost", reason="revoked")] * 9

    def late_failure() -> None:
        time.sleep(1.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), lh.account("board"):
        late_failure()


def test_who_wants_to_be_told_of_a_loss_is_told_once_in_a_thread_of_its_own(server: StandIn, lh: Leasehold) -> None:
    server.ttl_s, server.on_heartbeat = 4.5, [lambda: problem(410, "lease-lost", reason="revoked")] * 9
    told: list[tuple[str, str]] = []

    def stop(lost: LeaseLost) -> None:
        told.append((lost.reason, threading.current_thread().name))

    def work() -> None:
        until(lambda: told)
        time.sleep(0.5)  # nobody is told again

    with pytest.raises(LeaseLost), lh.accounts_held("board", count=2, on_lost=stop):
        work()

    assert told == [("revoked", "leasehold-lost")]


@pytest.mark.parametrize(
    ("say", "told"),
    [
        (lambda lease: lease.ok("all pages"), {"outcome": "ok", "reason": "all pages"}),
        (lambda lease: lease.failed(), {"outcome": "failed"}),
        (lambda lease: lease.blocked("captcha\x00 wall\n"), {"outcome": "blocked", "reason": "captcha  wall"}),
        (lambda lease: lease.logged_out(), {"outcome": "logged_out"}),
        (lambda lease: lease.invalid_credentials("401"), {"outcome": "invalid_credentials", "reason": "401"}),
        (lambda lease: lease.rate_limited(cooldown_s=89.5), {"outcome": "rate_limited", "cooldown_seconds": 90}),
        (lambda lease: (lease.blocked("x"), lease.failed("y" * 900)), {"outcome": "failed", "reason": "y" * 500}),
    ],
)
def test_the_release_says_how_it_went(
    server: StandIn, lh: Leasehold, say: Callable[[HeldAccount], None], told: dict[str, object]
) -> None:
    with lh.account("board") as lease:
        say(lease)

    assert [heard.body for heard in server.releases] == [told]


@pytest.mark.parametrize(
    ("chosen", "error", "told"),
    [
        (None, None, Report("ok")),
        (None, KeyError(SECRET), Report("failed", "KeyError")),
        (None, ExceptionGroup(SECRET, [ValueError(SECRET)]), Report("failed", "ExceptionGroup")),
        (None, KeyboardInterrupt(), Report("ok", "cancelled")),
        (None, SystemExit(1), Report("ok", "cancelled")),
        (None, asyncio.CancelledError(), Report("ok", "cancelled")),
        (None, LeaseLost.here("lease_1", "expired", ""), Report("ok", "cancelled")),
        (Report("blocked"), KeyError(), Report("blocked")),
        (Report("ok"), KeyError(), Report("ok")),
        (Report("failed", "x"), KeyboardInterrupt(), Report("failed", "x")),
    ],
)
def test_what_ends_a_block_decides_what_is_told_unless_the_block_said_it(
    chosen: Report | None, error: BaseException | None, told: Report
) -> None:
    assert report_for(chosen, error) == told


def test_ctrl_c_gives_the_account_back_and_is_no_failure(server: StandIn, lh: Leasehold) -> None:
    with pytest.raises(KeyboardInterrupt), lh.account("board"):
        signal.raise_signal(signal.SIGINT)

    assert server.outcomes == [("ok", "cancelled")]


def test_several_are_held_together(server: StandIn, lh: Leasehold) -> None:
    with lh.accounts_held("board", count=3) as leases:
        leases[0].blocked()

    assert sorted(server.outcomes, key=str) == [("blocked", None), ("ok", None), ("ok", None)]


def test_nothing_free_and_no_such_site_are_two_things(server: StandIn, lh: Leasehold) -> None:
    server.on_acquire = [nothing, lambda: problem(404, "site-unknown")]

    with pytest.raises(NothingFree), lh.account("board"):
        pass
    with pytest.raises(SiteUnknown), lh.account("bored", wait=None):
        pass


def test_a_wait_outlives_a_server_that_is_away_for_a_while(server: StandIn, lh: Leasehold) -> None:
    server.on_acquire = [nothing, *[server.cut] * 5]

    with lh.account("board", wait=60):
        pass

    assert len({heard.key for heard in server.acquires}) == 2
    assert len(server.acquires) == 7


def test_a_block_is_entered_once(lh: Leasehold) -> None:
    block = lh.account("board")
    with block:
        pass

    with pytest.raises(RuntimeError), block:
        pass


def test_many_threads_hold_at_once_with_one_client(server: StandIn, lh: Leasehold) -> None:
    def hold() -> str:
        with lh.account("board") as lease:
            time.sleep(0.1)
            return lease.id

    with ThreadPoolExecutor(16) as threads:
        held = [future.result() for future in [threads.submit(hold) for _ in range(16)]]

    assert len(set(held)) == len(server.releases) == 16
    assert sum(thread.name == "leasehold-keeper" for thread in threading.enumerate()) == 1
