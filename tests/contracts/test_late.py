"""A grant that is told too late is none: who gets a lease can rely on it for a while."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from leasehold.accounts.models import Offer
from leasehold.accounts.pool import Batch, Done
from leasehold.accounts.service import Accounts, Wanted
from leasehold.caller import Caller
from leasehold.idempotency import Once
from leasehold.ids import parse
from leasehold.problems import Unavailable
from tests.contracts.stage import Stage

TTL_S = 300


@dataclass
class Slow:
    """Somebody who asks the service itself, whose answers are as late as the test says."""

    accounts: Accounts
    caller: Caller
    # Taken as passed, and really passed, between the grant and the answer.
    late_s: float = 0.0
    sleep_s: float = 0.0

    async def ask(self, key: str, ttl_s: int = TTL_S, wait_s: int = 0) -> Offer:
        assert self.caller.token is not None
        once = Once(self.caller.organisation, self.caller.token, "acquire", key, b"digest")
        return await self.accounts.acquire(
            self.caller, Wanted("board", "ann", ttl_s, wait_s, 4, 1, {}, None, None), once
        )

    async def refused(self, key: str, ttl_s: int = TTL_S) -> None:
        with pytest.raises(Unavailable) as refused:
            await self.ask(key, ttl_s)
        assert refused.value.headers["Retry-After"] == "1"
        await self.accounts.counter.drain()


@pytest.fixture
async def slow(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Slow:
    await stage.site(reclaim_delay_seconds=0)
    await stage.accounts("one")
    token = parse("tok", (await stage.way.send("GET", "/v2/tokens/self"))["id"])
    ((organisation,),) = stage.home.database.rows("SELECT organisation FROM token WHERE id = %s", token)
    accounts: Accounts = stage.home.app.state.accounts
    asker = Slow(accounts, Caller(organisation, token, "ann", frozenset()))
    pool: Any = accounts.counter.pool
    work = pool.work

    async def late(organisation: UUID, batch: Batch) -> Done:
        done: Done = await work(organisation, batch)
        for ask in batch.asks:
            ask.taken_up -= asker.late_s
        await asyncio.sleep(asker.sleep_s)
        return done

    monkeypatch.setattr(pool, "work", late)
    return asker


async def test_a_grant_of_which_less_than_a_third_is_left_is_given_back(stage: Stage, slow: Slow) -> None:
    slow.late_s = TTL_S * 0.7
    await slow.refused("k")

    assert await stage.leases() == []
    (account,) = (await stage.way.send("GET", "/v2/accounts"))["items"]
    assert (account["state"], account["unclean_ends"]) == ("active", 0)


async def test_who_asks_again_under_the_same_key_is_a_first(slow: Slow) -> None:
    slow.late_s = TTL_S * 0.7
    await slow.refused("k")
    slow.late_s = 0.0

    offer = await slow.ask("k")

    assert [grant.lease.fence for grant, _ in offer.grants] == [2]
    assert not offer.is_repeat


async def test_a_grant_of_which_enough_is_left_is_told(slow: Slow) -> None:
    slow.late_s = TTL_S * 0.6

    assert (await slow.ask("k")).grants


async def test_a_repeat_is_told_what_is_left_however_little(slow: Slow) -> None:
    (first, _), *_ = (await slow.ask("k")).grants
    slow.late_s = TTL_S * 0.9

    (again, _), *_ = (await slow.ask("k")).grants

    assert again.lease.id == first.lease.id


async def test_time_spent_waiting_takes_nothing_from_the_lease(stage: Stage, slow: Slow) -> None:
    (held,) = [await stage.acquire()]
    waiter = asyncio.create_task(slow.ask("k", ttl_s=9, wait_s=25))
    await stage.parked()
    await asyncio.sleep(6.5)  # less than a third of it would be left

    await stage.release(held)

    assert (await waiter).grants


async def test_a_server_that_really_is_slow_gives_back(slow: Slow) -> None:
    slow.sleep_s = 0.8

    await slow.refused("k", ttl_s=1)
