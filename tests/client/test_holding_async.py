"""A block that holds an account, with an event loop: renewals, losses, cancellations and what the server is told."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
import pytest

from leasehold.client import AsyncLeasehold, LeaseLost, Unauthenticated
from leasehold.client.tenure import clock
from tests.client.standin import SECRET, StandIn, problem

# How late a thread may come to its turn on a busy machine. Exact times are for test_tenure.py.
NOISE_S = 1.0


@pytest.fixture
async def lh(server: StandIn) -> AsyncIterator[AsyncLeasehold]:
    async with AsyncLeasehold(server.address, "lh_x") as client:
        yield client


async def test_a_block_holds_an_account_and_gives_it_back(server: StandIn, lh: AsyncLeasehold) -> None:
    async with lh.account("board", include_session=True) as lease:
        assert (lease.id, lease.fence, lease.username) == ("lease_0", 7, "ann")
        assert lease.secret == {"password": SECRET}
        assert lease.session is not None
        assert 0 < lease.remaining_s <= 59
        assert not lease.is_lost

    assert server.outcomes == [("ok", None)]
    assert server.acquires[0].body["owner"] == lease.owner
    assert not lease.is_lost
    assert lease.release_error is None


async def test_the_secret_is_gone_with_the_block(lh: AsyncLeasehold) -> None:
    async with lh.account("board") as lease:
        pass

    with pytest.raises(LeaseLost) as over:
        _ = lease.secret
    assert over.value.reason == "released"
    assert SECRET not in str(vars(lease))


async def test_secrets_are_in_no_repr(lh: AsyncLeasehold) -> None:
    granted = await lh.accounts.acquire("board", owner="me")
    async with lh.account("board") as lease:
        told = repr(lease) + str(lease) + repr(granted) + str(granted) + repr(lease.account) + repr(lease.session)

    assert SECRET not in told
    assert granted.leases[0].account.secret == {"password": SECRET}


async def test_an_answer_that_cannot_be_read_is_told_without_its_content(server: StandIn, lh: AsyncLeasehold) -> None:
    server.on_acquire = [lambda: (200, {"leases": [{"account": {"secret": SECRET}}], "waiting": None})]

    with pytest.raises(ValueError) as odd:
        await lh.accounts.acquire("board", owner="me")

    assert SECRET not in str(odd.value) + repr(odd.value)


async def test_it_is_renewed_by_itself(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s = 5.0

    async with lh.account("board") as lease:
        await asyncio.sleep(5.3)
        lease.check()

    assert len(server.heartbeats) >= 2
    assert server.outcomes == [("ok", None)]


async def test_work_that_never_awaits_is_renewed_all_the_same(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s = 3.0

    async with lh.account("board") as lease:
        until = time.monotonic() + 3.5
        while time.monotonic() < until:
            sum(range(1000))
        assert not lease.is_lost

    assert len(server.heartbeats) >= 2


async def work(lh: AsyncLeasehold, stopped: list[float], wait: float = 0) -> None:
    """Works for far longer than it may; notes when it was stopped."""
    async with lh.account("board", wait=wait):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.append(clock())
            raise


async def test_silence_stops_the_work_before_the_server_ends_the_lease(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_heartbeat = 2.0, [server.hole] * 50
    stopped: list[float] = []

    with pytest.raises(LeaseLost) as lost:
        await work(lh, stopped)

    assert lost.value.reason == "expired"
    assert isinstance(lost.value.__cause__, TimeoutError)
    assert len(server.heartbeats) >= 2, "it tried again"
    assert stopped[0] < server.live_until_s["lease_0"] + NOISE_S
    assert server.releases == []


async def test_a_verdict_stops_the_work_at_once(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_heartbeat = 12.0, [lambda: problem(410, "lease-lost", reason="revoked")] * 9
    stopped: list[float] = []

    with pytest.raises(LeaseLost) as lost:
        await work(lh, stopped)

    assert lost.value.reason == "revoked"
    assert stopped[0] < server.live_until_s["lease_0"] - 4
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


async def test_a_lease_the_server_does_not_know_is_lost(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_heartbeat = 4.5, [lambda: problem(404, "lease-unknown")] * 9

    with pytest.raises(LeaseLost) as lost:
        await work(lh, [])

    assert lost.value.reason == "unknown"


async def test_trouble_on_the_way_is_tried_again(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s = 6.0
    proxy = (404, {"no": "problem of ours"})
    server.on_heartbeat = [server.cut, lambda: problem(503, "unavailable"), lambda: problem(429, "slow"), lambda: proxy]

    async with lh.account("board") as lease:
        await asyncio.sleep(6.5)
        lease.check()

    assert len(server.heartbeats) >= 5


async def test_a_token_that_is_refused_is_told_as_the_cause(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_heartbeat = 1.5, [lambda: problem(401, "unauthenticated")] * 50

    with pytest.raises(LeaseLost) as lost:
        await work(lh, [])

    assert isinstance(lost.value.__cause__, Unauthenticated)


async def test_a_loss_while_the_loop_is_busy_is_told_when_the_block_ends(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_heartbeat = 1.0, [server.hole] * 50
    seen: list[bool] = []

    async def busy() -> None:
        async with lh.account("board") as lease:
            time.sleep(1.5)  # noqa: ASYNC251
            seen.append(lease.is_lost)

    with pytest.raises(LeaseLost):
        await busy()

    assert seen == [True]
    await asyncio.sleep(0)  # the cancellation that came too late for the block must not hit anybody else
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


async def test_a_cancellation_from_outside_stays_one_and_is_no_failure(server: StandIn, lh: AsyncLeasehold) -> None:
    task = asyncio.create_task(work(lh, []))
    while not server.acquires:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert server.outcomes == [("ok", "cancelled")]


async def test_a_cancellation_from_outside_wins_over_a_loss(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_heartbeat = 3.0, [lambda: problem(410, "lease-lost", reason="revoked")] * 9

    async def clinging() -> None:
        async with lh.account("board"):
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                task.cancel()  # somebody else wants it to stop as well
                raise

    task = asyncio.create_task(clinging())

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_timeout_around_the_block_is_a_timeout(server: StandIn, lh: AsyncLeasehold) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await work(lh, [])

    assert server.outcomes == [("ok", "cancelled")]


async def test_work_in_a_task_group_is_stopped_as_a_whole(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_heartbeat = 3.0, [lambda: problem(410, "lease-lost", reason="revoked")] * 9
    ends: list[str] = []

    async def part(name: str) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ends.append(name)

    async def whole() -> None:
        async with lh.account("board"), asyncio.TaskGroup() as group:
            group.create_task(part("a"))
            group.create_task(part("b"))

    with pytest.raises(LeaseLost):
        await whole()
    assert sorted(ends) == ["a", "b"]


async def test_an_error_of_the_work_goes_before_the_loss(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_heartbeat = 3.0, [lambda: problem(410, "lease-lost", reason="revoked")] * 9

    async def failing() -> None:
        async with lh.account("board"):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(30)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


async def test_of_an_error_only_its_class_is_told(server: StandIn, lh: AsyncLeasehold) -> None:
    with pytest.raises(KeyError):
        async with lh.account("board") as lease:
            raise KeyError(lease.secret["password"])

    assert server.outcomes == [("failed", "KeyError")]
    assert SECRET not in str(server.releases)


async def test_a_release_that_finds_the_lease_ended_is_a_loss(server: StandIn, lh: AsyncLeasehold) -> None:
    server.on_release = [lambda: problem(410, "lease-lost", reason="revoked")]

    with pytest.raises(LeaseLost) as lost:
        async with lh.account("board"):
            pass

    assert lost.value.reason == "revoked"


async def test_a_release_is_tried_again(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_release = 6.0, [server.cut, lambda: problem(503, "unavailable"), server.hole]

    async with lh.account("board") as lease:
        lease.blocked("captcha")

    assert server.outcomes == [("blocked", "captcha")] * 4
    assert lease.release_error is None


async def test_a_release_that_cannot_be_delivered_is_only_noted(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_release = 1.0, [server.cut] * 50

    async with lh.account("board") as lease:
        pass

    assert isinstance(lease.release_error, httpx.TransportError)
    assert not lease.is_lost


async def test_a_release_goes_its_way_also_when_nobody_waits_for_it(server: StandIn, lh: AsyncLeasehold) -> None:
    server.on_release = [server.slowly(0.5, problem(503, "unavailable"))]
    task = asyncio.create_task(work(lh, []))
    while not server.acquires:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)

    task.cancel()
    while not server.releases:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await lh.close()

    assert server.outcomes == [("ok", "cancelled")] * 2
