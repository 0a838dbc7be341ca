"""Accounts and leases through the SDK, against the real server: with and without an event loop."""

import asyncio
from collections.abc import AsyncIterator

import pytest

import leasehold.client as sdk
from leasehold.client import AsyncLeasehold, Leasehold, LeaseLost, NothingFree
from tests.parts.house import House

CANARY = "LHCANARY77aa"


@pytest.fixture
async def lh(home: House, address: str) -> AsyncIterator[AsyncLeasehold]:
    async with AsyncLeasehold(address, await home.token()) as client:
        await client.sites.create("board", domain="board.example", policy={"reclaim_delay_seconds": 0})
        yield client


async def accounts(lh: AsyncLeasehold, *names: str) -> list[sdk.Account]:
    return [await lh.accounts.create("board", name, secret={"password": f"{CANARY}-{name}"}) for name in names]


async def test_a_block_uses_an_account_and_it_is_free_again(lh: AsyncLeasehold) -> None:
    (ann,) = await accounts(lh, "ann")

    async with lh.account("board", ttl=5) as lease:
        during = await lh.accounts.get(ann.id)
        (held,) = (await lh.leases.page(owner=lease.owner)).items
        assert lease.secret == {"password": f"{CANARY}-ann"}
        assert held.id == lease.id
    after = await lh.accounts.get(ann.id)
    (past,) = (await lh.accounts.history(ann.id)).items

    assert (during.state, during.holder, after.state, after.last_outcome) == ("using", lease.owner, "active", "ok")
    assert (past.id, past.fence, past.how, past.outcome) == (lease.id, lease.fence, "released", "ok")
    assert lease.release_error is None


async def test_a_block_may_take_longer_than_its_lease(lh: AsyncLeasehold) -> None:
    await accounts(lh, "ann")

    async with lh.account("board", ttl=5) as lease:
        first = lease.expires_at
        await asyncio.sleep(5.5)
        lease.check()
        assert lease.expires_at > first


async def test_what_the_block_says_becomes_of_the_account(lh: AsyncLeasehold) -> None:
    ann, bob, cat = await accounts(lh, "ann", "bob", "cat")

    async with lh.account("board", account_id=ann.id) as lease:
        lease.blocked("captcha wall")
    with pytest.raises(KeyError):
        async with lh.account("board", account_id=bob.id) as lease:
            raise KeyError(lease.secret["password"])
    async with lh.account("board", account_id=cat.id) as lease:
        lease.rate_limited(cooldown_s=600)

    assert (await lh.accounts.get(ann.id)).blocked_reason == "captcha wall"
    assert (await lh.accounts.get(bob.id)).consecutive_failures == 1
    assert (await lh.accounts.history(bob.id)).items[0].reason == "KeyError"
    assert (await lh.accounts.get(cat.id)).state == "cooling"


async def test_a_revoked_lease_stops_the_work(lh: AsyncLeasehold) -> None:
    await accounts(lh, "ann")

    async def work() -> None:
        async with lh.account("board", ttl=5, owner="worker-1"):
            assert await lh.leases.revoke_owner("worker-1") == 1
            await asyncio.sleep(30)

    with pytest.raises(LeaseLost) as lost:
        await work()

    assert lost.value.reason == "revoked"


async def test_a_block_that_ends_before_it_hears_of_the_revocation_is_told_at_the_end(lh: AsyncLeasehold) -> None:
    await accounts(lh, "ann")

    with pytest.raises(LeaseLost):
        async with lh.account("board") as lease:
            await lh.leases.revoke(lease.id)


async def test_a_lease_of_the_greatest_age_is_given_up_before_the_server_ends_it(
    home: House, lh: AsyncLeasehold
) -> None:
    await accounts(lh, "ann")
    loop = asyncio.get_running_loop()

    async def work() -> None:
        async with lh.account("board", ttl=5):
            home.database.run("UPDATE lease SET acquired_at = acquired_at - interval '1 day'")
            await asyncio.sleep(30)

    began = loop.time()
    with pytest.raises(LeaseLost, match="not renewed any further"):
        await work()

    assert loop.time() - began < 5.5


async def test_who_waits_gets_it_when_it_is_given_back(lh: AsyncLeasehold) -> None:
    await accounts(lh, "ann")
    order: list[str] = []

    async def second() -> None:
        async with lh.account("board", wait=20):
            order.append("second")

    async with lh.account("board"):
        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.5)
        order.append("first")
    await waiting

    assert order == ["first", "second"]


async def test_who_does_not_wait_is_told_why(lh: AsyncLeasehold) -> None:
    await accounts(lh, "ann")

    async with lh.account("board"):
        with pytest.raises(NothingFree) as nothing:
            async with lh.account("board"):
                pass
    with pytest.raises(sdk.SiteUnknown):
        async with lh.account("bored", wait=None):
            pass

    assert nothing.value.waiting is not None
    assert nothing.value.waiting.reason == "all_leased"
    assert str(nothing.value) == nothing.value.waiting.detail


async def test_several_are_all_or_none(lh: AsyncLeasehold) -> None:
    await accounts(lh, "ann", "bob")

    async with lh.accounts_held("board", count=2) as leases:
        assert {lease.username for lease in leases} == {"ann", "bob"}
        assert (await lh.accounts.stats(site="board")).using == 2
    with pytest.raises(NothingFree):
        async with lh.accounts_held("board", count=3):
            pass

    stats = await lh.accounts.stats()
    assert (stats.active, stats.total, stats.sites["board"].active) == (2, 2, 2)


async def test_leases_by_hand(lh: AsyncLeasehold) -> None:
    await accounts(lh, "ann", "bob")

    grants = await lh.accounts.acquire("board", owner="me", ttl=60, count=2)
    one, two = grants.leases
    renewed = await lh.leases.heartbeat(one.id, ttl=300)
    beaten = await lh.leases.heartbeat_all("me", ttl=600)
    released = await lh.leases.release(one.id, outcome="logged_out", reason="no cookie")
    again = await lh.leases.release(one.id)

    assert grants.waiting is None
    assert renewed.expires_at > one.expires_at
    assert sorted(beaten.renewed) == sorted([one.id, two.id])
    assert (released.already_released, released.resource["needs_login"], again.already_released) == (False, True, True)
    assert await lh.leases.revoke_owner("me") == 1
    assert [lease async for lease in lh.leases.all(kind="account")] == []
    with pytest.raises(LeaseLost) as lost:
        await lh.leases.heartbeat(two.id)
    assert lost.value.reason == "revoked"
    with pytest.raises(sdk.LeaseUnknown):
        await lh.leases.heartbeat("lease_nobody")


async def test_accounts_are_kept(lh: AsyncLeasehold) -> None:
    made = await lh.accounts.create("board", "ann", secret={"password": CANARY}, labels={"tier": "gold"}, priority=3)

    with pytest.raises(sdk.AccountExists):
        await lh.accounts.create("board", "ann", secret={})
    changed = await lh.accounts.change(made.id, state="blocked", reason="by hand", labels={"tier": "lead"})
    (found,) = [account async for account in lh.accounts.all(site="board", state="blocked", labels={"tier": "lead"})]

    assert (changed.blocked_reason, found.id, found.priority) == ("by hand", made.id, 3)
    assert await lh.accounts.reveal(made.id) == {"password": CANARY}
    assert await lh.accounts.reclaim(site="board") == 0
    await lh.accounts.delete(made.id)
    with pytest.raises(sdk.AccountUnknown):
        await lh.accounts.get(made.id)


async def test_an_account_in_use_stays(lh: AsyncLeasehold) -> None:
    (ann,) = await accounts(lh, "ann")

    async with lh.account("board"):
        with pytest.raises(sdk.AccountInUse):
            await lh.accounts.delete(ann.id)


async def test_many_accounts_come_from_mappings_csv_and_lines(lh: AsyncLeasehold) -> None:
    items = await lh.accounts.import_([{"site": "board", "username": "ann", "secret": {"password": "LHCANARYx"}}])
    csv = await lh.accounts.import_(csv="site,username,password\nboard,ann,y\nboard,bob,z\nnope,cat,z\n")
    lines = await lh.accounts.import_(ndjson='{"site": "board", "username": "dan", "secret": {"k": "v"}}\n{\n')

    assert (items.created, items.updated, items.rejected) == (1, 0, [])
    assert (csv.created, csv.updated, [bad.line for bad in csv.rejected]) == (1, 1, [4])
    assert (lines.created, [bad.line for bad in lines.rejected]) == (1, [2])
    assert [account.username async for account in lh.accounts.all(q="a")] == ["ann", "dan"]


async def test_the_same_without_an_event_loop(home: House, address: str) -> None:
    token = await home.token()

    def collect() -> None:
        with Leasehold(address, token) as lh:
            lh.sites.create("board", domain="board.example")
            lh.accounts.import_([{"site": "board", "username": name, "secret": {"password": name}} for name in "ab"])
            with lh.account("board", ttl=5) as lease:
                assert lease.secret == {"password": lease.username}
                assert [held.id for held in lh.leases.all(site="board")] == [lease.id]
                lease.invalid_credentials("refused")
            assert lh.accounts.get(lease.account.id).state == "inactive"
            with pytest.raises(NothingFree), lh.accounts_held("board", count=2):
                pass
            with pytest.raises(LeaseLost) as lost, lh.account("board", wait=5) as other:
                lh.leases.revoke(other.id)
            assert lost.value.reason == "revoked"
            assert sorted(account.username for account in lh.accounts.all()) == ["a", "b"]

    await asyncio.to_thread(collect)


async def test_a_waiting_collector_outlives_nothing_it_should_not(home: House, lh: AsyncLeasehold) -> None:
    """Who is cancelled while it waits holds nothing afterwards, also when the account comes free at that moment."""
    await accounts(lh, "ann")

    async def impatient() -> None:
        async with lh.account("board", wait=30):
            await asyncio.sleep(30)

    async with lh.account("board"):
        waiting = asyncio.create_task(impatient())
        await asyncio.sleep(0.3)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    async with lh.account("board", wait=10) as lease:
        assert lease.username == "ann"
