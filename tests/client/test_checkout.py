"""A checkout through the SDK, against the real server: an account, its session and what to visit, in one block."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from leasehold.client import AsyncLeasehold, Leasehold, LeaseLost, NothingFree
from tests.parts.house import House


@pytest.fixture
async def lh(home: House, address: str) -> AsyncIterator[AsyncLeasehold]:
    async with AsyncLeasehold(address, await home.token()) as client:
        await client.sites.create("board", domain="board.example")
        await client.accounts.create("board", "ann", secret={"password": "LHCANARY2"})
        yield client


async def plant(lh: AsyncLeasehold, *names: str) -> None:
    await lh.seeds.upsert([{"site": "board", "url": f"https://board.example/{name}"} for name in names])


async def outcomes(lh: AsyncLeasehold) -> dict[str, tuple[str | None, int | None]]:
    return {seed.original_url[-1]: (seed.last_outcome, seed.last_found) async for seed in lh.seeds.all(site="board")}


async def test_all_it_takes_to_collect_is_held_and_given_back(lh: AsyncLeasehold) -> None:
    await plant(lh, "a", "b", "c")

    async with lh.checkout("board", seeds=10) as work:
        held = [lease async for lease in lh.leases.all(site="board")]
        by_name = {seed.url[-1]: seed for seed in work.seeds}
        assert (work.account.username, work.account.secret) == ("ann", {"password": "LHCANARY2"})
        by_name["a"].check()
        by_name["a"].ok(found=3, cursor={"page": 2})
        by_name["b"].gone("404")

    assert len(held) == 4
    assert [lease async for lease in lh.leases.all(site="board")] == []
    # What nothing was said of was no visit.
    assert await outcomes(lh) == {"a": ("ok", 3), "b": ("gone", None), "c": ("failed", None)}
    (a,) = [seed async for seed in lh.seeds.all(site="board") if seed.cursor]
    assert a.cursor == {"page": 2}
    assert (await lh.accounts.get(work.account.account.id)).last_outcome == "ok"


async def test_the_session_comes_along(lh: AsyncLeasehold) -> None:
    await plant(lh, "a", "b")
    async with lh.checkout("board") as work:
        assert work.account.session is None
        async with lh.session(work.account) as session:
            await session.save({"cookies": [], "origins": []})
    async with lh.checkout("board", wait=20) as work:
        assert work.account.session
        assert work.account.session.version == 1


async def test_an_error_is_told_of_the_account_and_of_what_was_not_visited(lh: AsyncLeasehold) -> None:
    await plant(lh, "a", "b")

    async def collect() -> None:
        async with lh.checkout("board", seeds=2) as work:
            work.seeds[0].ok(found=1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await collect()

    (account,) = [account async for account in lh.accounts.all(site="board")]
    assert {outcome for outcome, _ in (await outcomes(lh)).values()} == {"failed", "ok"}
    assert account.last_outcome == "failed"


async def test_without_anything_to_visit_nothing_is_held(lh: AsyncLeasehold) -> None:
    with pytest.raises(NothingFree):
        async with lh.checkout("board"):
            raise AssertionError("there is nothing to visit")

    assert [lease async for lease in lh.leases.all(site="board")] == []


async def test_losing_one_is_losing_all(lh: AsyncLeasehold) -> None:
    await plant(lh, "a")

    async def collect() -> None:
        async with lh.checkout("board", ttl=5) as work:
            await lh.leases.revoke(work.seeds[0].id)
            await asyncio.sleep(60)

    with pytest.raises(LeaseLost) as lost:
        await collect()

    assert lost.value.reason == "revoked"


async def test_without_an_event_loop(lh: AsyncLeasehold, home: House, address: str) -> None:
    await plant(lh, "a")
    token = await home.token()

    def collect() -> str:
        with Leasehold(address, token) as blocking, blocking.checkout("board") as work:
            (seed,) = work.seeds
            seed.ok(found=2)
            return seed.url

    assert await asyncio.to_thread(collect) == "https://board.example/a"
    assert await outcomes(lh) == {"a": ("ok", 2)}
