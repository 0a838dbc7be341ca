"""Seeds through the SDK, against the real server: with and without an event loop."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from leasehold.client import AsyncLeasehold, Leasehold, LeaseLost, SeedInUse, SeedUnknown
from tests.parts.house import House


@pytest.fixture
async def lh(home: House, address: str) -> AsyncIterator[AsyncLeasehold]:
    async with AsyncLeasehold(address, await home.token()) as client:
        await client.sites.create("board", domain="board.example")
        yield client


async def test_a_seed_from_first_to_last(lh: AsyncLeasehold) -> None:
    made = await lh.seeds.upsert([{"site": "board", "url": "https://board.example/new", "labels": {"region": "de"}}])
    (seed,) = made.items

    (lease,) = (await lh.seeds.acquire(owner="worker", site="board", labels={"region": "de"}, ttl=30)).leases
    with pytest.raises(SeedInUse):
        await lh.seeds.delete(seed.id)
    released = await lh.seeds.release(lease.id, found=3, cursor={"page": 2})
    after = await lh.seeds.get(seed.id)
    nothing = await lh.seeds.acquire(owner="worker")
    await lh.seeds.delete(seed.id)

    assert (made.created, made.updated, lease.seed.url) == (1, 0, "https://board.example/new")
    assert (released.already_released, after.last_found, after.cursor) == (False, 3, {"page": 2})
    assert nothing.waiting
    assert nothing.waiting.reason == "not_due"
    with pytest.raises(SeedUnknown):
        await lh.seeds.get(seed.id)


async def test_seeds_are_listed_changed_and_counted(lh: AsyncLeasehold) -> None:
    await lh.seeds.import_(csv="url,priority\nhttps://board.example/a,90\nhttps://board.example/b,10\nnonsense,1\n")
    opml = '<opml><body><outline xmlUrl="https://board.example/c"/></body></opml>'
    imported = await lh.seeds.import_(opml=opml, site="board")
    first, *_ = [seed async for seed in lh.seeds.all(site="board", due=True)]

    far = datetime(2199, 1, 1, tzinfo=UTC)
    changed = await lh.seeds.change(first.id, interval=600, enabled=True, cursor="x", next_due_at=far)
    forgotten = await lh.seeds.change(first.id, forget_cursor=True)

    assert imported.created == 1
    assert (changed.interval_seconds, changed.cursor, changed.next_due_at) == (600, "x", far)
    assert forgotten.cursor is None
    assert (await lh.seeds.histogram(site="board", hours=2)).overdue == 2
    assert len((await lh.seeds.page(due=False)).items) == 1
    await lh.seeds.change(first.id, next_due_at="now")
    assert (await lh.seeds.histogram()).overdue == 3


async def test_without_an_event_loop(home: House, address: str) -> None:
    token = await home.token()

    def work() -> None:
        with Leasehold(address, token) as lh:
            lh.sites.create("board", domain="board.example")
            lh.seeds.upsert([{"site": "board", "url": "https://board.example/"}])
            (lease,) = lh.seeds.acquire(owner="worker", wait=1).leases
            assert lh.leases.revoke(lease.id) == 1
            with pytest.raises(LeaseLost):
                lh.seeds.release(lease.id, outcome="failed")
            assert [seed.url for seed in lh.seeds.all()] == ["https://board.example/"]

    await asyncio.to_thread(work)


def test_an_import_takes_one_thing() -> None:
    with Leasehold("http://127.0.0.1:1", "lh_x") as lh, pytest.raises(TypeError):
        lh.seeds.import_(csv="a", opml="b")
