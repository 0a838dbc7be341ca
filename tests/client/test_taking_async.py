"""How a block gets its accounts, with an event loop: waiting, lost answers, several at once, the client's own end."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from leasehold.client import AsyncLeasehold, HeldAccount, LeaseLost, NothingFree
from tests.client.standin import StandIn, nothing, problem


@pytest.fixture
async def lh(server: StandIn) -> AsyncIterator[AsyncLeasehold]:
    async with AsyncLeasehold(server.address, "lh_x") as client:
        yield client


async def test_nothing_free_is_told_with_the_servers_sentence(server: StandIn, lh: AsyncLeasehold) -> None:
    server.on_acquire = [nothing]

    with pytest.raises(NothingFree, match="All accounts are in use") as told:
        async with lh.account("board"):
            pass

    assert told.value.waiting is not None
    assert told.value.waiting.counts == {"using": 1}


async def test_a_wait_asks_again(server: StandIn, lh: AsyncLeasehold) -> None:
    server.on_acquire = [nothing, nothing]

    async with lh.account("board", wait=20):
        pass

    assert server.acquires[0].body["wait_seconds"] == 20
    assert len({heard.key for heard in server.acquires}) == 3


async def test_a_lost_grant_is_found_again_under_its_key(server: StandIn, lh: AsyncLeasehold) -> None:
    server.on_acquire = [server.lose]

    async with lh.account("board"):
        pass

    assert len(server.acquires) == 2
    assert len({heard.key for heard in server.acquires}) == 1
    assert list(server.live_until_s) == ["lease_0"]


async def test_a_grant_that_was_long_on_its_way_is_renewed_before_it_is_used(
    server: StandIn, lh: AsyncLeasehold
) -> None:
    server.ttl_s, server.on_acquire = 3.0, [server.slowly(1.5)]

    async with lh.account("board", wait=30) as lease:
        assert len(server.heartbeats) == 1
        assert lease.remaining_s > 1.5, "counted from the renewal: from the acquire it would be less"

    assert len(server.acquires) == 1


async def test_a_grant_that_ended_on_its_way_is_asked_for_anew(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_acquire = 3.0, [server.slowly(1.2)]
    server.on_heartbeat = [lambda: problem(410, "lease-lost", reason="expired")]

    async with lh.account("board", wait=30) as lease:
        assert lease.id == "lease_1"


async def test_several_are_held_together(server: StandIn, lh: AsyncLeasehold) -> None:
    async with lh.accounts_held("board", count=3) as leases:
        leases[1].failed("odd page")

    assert [lease.id for lease in leases] == ["lease_0", "lease_1", "lease_2"]
    assert sorted(server.outcomes, key=str) == [("failed", "odd page"), ("ok", None), ("ok", None)]
    assert server.acquires[0].body["count"] == 3


async def test_losing_one_is_losing_all_and_the_others_are_given_back(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_heartbeat = 4.0, [lambda: problem(410, "lease-lost", reason="revoked")]

    async def whole() -> None:
        async with lh.accounts_held("board", count=3):
            await asyncio.sleep(30)

    with pytest.raises(LeaseLost):
        await whole()

    assert server.outcomes == [("ok", "cancelled")] * 2


async def test_a_client_that_is_closed_too_early_stops_what_it_held(server: StandIn) -> None:
    client = AsyncLeasehold(server.address, "lh_x")

    async def whole() -> None:
        async with client.account("board"):
            await client.close()
            await asyncio.sleep(30)

    with pytest.raises(LeaseLost) as lost:
        await whole()

    assert lost.value.reason == "closed"


async def test_cancelling_who_is_being_given_something_gives_it_back(server: StandIn, lh: AsyncLeasehold) -> None:
    server.ttl_s, server.on_acquire = 3.0, [server.slowly(1.2)]
    server.on_heartbeat = [server.slowly(0.4)]  # it is renewed before it is used, and that takes its time

    async def hold() -> None:
        async with lh.account("board", wait=30):
            await asyncio.sleep(30)

    task = asyncio.create_task(hold())
    while not server.heartbeats:
        await asyncio.sleep(0.02)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while not server.releases:
        await asyncio.sleep(0.02)

    assert server.outcomes == [("ok", "cancelled")]


async def test_a_transport_of_its_own_is_refused_before_anything_is_taken(server: StandIn) -> None:
    async with AsyncLeasehold(server.address, "lh_x", transport=httpx.AsyncHTTPTransport()) as client:
        with pytest.raises(TypeError, match="renewal_transport"):
            async with client.account("board"):
                pass
    made = {"transport": httpx.AsyncHTTPTransport(), "renewal_transport": httpx.AsyncHTTPTransport}
    async with AsyncLeasehold(server.address, "lh_x", **made) as client, client.account("board"):  # type: ignore[arg-type]
        pass

    assert len(server.acquires) == len(server.releases) == 1


async def test_two_blocks_of_one_client_share_an_owner_and_a_thread(server: StandIn, lh: AsyncLeasehold) -> None:
    async def one() -> HeldAccount:
        async with lh.account("board") as lease:
            await asyncio.sleep(0.1)
            return lease

    leases = await asyncio.gather(*(one() for _ in range(20)))

    assert len({lease.owner for lease in leases}) == 1
    assert len(server.releases) == 20
