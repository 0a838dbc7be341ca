"""Who hangs up before the answer: what it was granted goes back, unless somebody else was told of it under its key."""

from dataclasses import dataclass
from typing import Any

import pytest

from leasehold.accounts.models import Offer
from leasehold.accounts.service import Accounts, Wanted
from leasehold.caller import Caller
from leasehold.idempotency import Once
from leasehold.ids import parse
from leasehold.leases import LeaseLost
from tests.contracts.stage import Refused, Stage

# The service itself is asked: the way to it makes no difference.
pytestmark = pytest.mark.parametrize("stage", ["postgres-http", "mongo-http"], indirect=True)


@dataclass
class Asker:
    """Somebody who asks the service itself under one key: nobody has the answers until they are delivered."""

    accounts: Accounts
    caller: Caller

    async def ask(self, count: int = 1) -> Offer:
        wanted = Wanted("board", "ann", 120, 0, 4, count, {}, None, None)
        assert self.caller.token is not None
        once = Once(self.caller.organisation, self.caller.token, "acquire", "k1", b"digest")
        return await self.accounts.acquire(self.caller, wanted, once)

    async def hang_up(self, offer: Offer) -> None:
        self.accounts.counter.take_back(self.caller, offer)
        await self.accounts.counter.drain()


@pytest.fixture
async def asker(stage: Stage) -> Asker:
    await stage.site(reclaim_delay_seconds=0)
    await stage.accounts("one", "two")
    token = parse("tok", (await stage.way.send("GET", "/v2/tokens/self"))["id"])
    ((organisation,),) = stage.home.database.rows("SELECT organisation FROM token WHERE id = %s", token)
    return Asker(stage.home.app.state.accounts, Caller(organisation, token, "ann", frozenset()))


def leases_of(offer: Offer) -> set[Any]:
    return {grant.lease.id for grant, _ in offer.grants}


async def test_what_nobody_was_told_of_goes_back_and_its_key_is_forgotten(stage: Stage, asker: Asker) -> None:
    first = await asker.ask(count=2)

    await asker.hang_up(first)
    again = await asker.ask(count=2)

    assert leases_of(first).isdisjoint(leases_of(again))
    assert len(await stage.leases()) == 2


async def test_what_ran_out_meanwhile_keeps_its_key(stage: Stage, asker: Asker) -> None:
    first = await asker.ask()
    await stage.passes(121)

    await asker.hang_up(first)

    with pytest.raises(LeaseLost) as refused:
        await asker.ask()
    assert refused.value.members["reason"] == "expired"


async def test_what_an_operator_took_meanwhile_keeps_its_key(stage: Stage, asker: Asker) -> None:
    first = await asker.ask()
    (lease,) = await stage.leases()
    await stage.revoke(lease)

    await asker.hang_up(first)

    with pytest.raises(LeaseLost) as refused:
        await asker.ask()
    assert refused.value.members["reason"] == "revoked"


async def test_a_grant_stays_while_one_who_was_told_of_it_is_there(stage: Stage, asker: Asker) -> None:
    first, second, third = [await asker.ask() for _ in range(3)]

    await asker.hang_up(first)
    await asker.hang_up(third)
    held = await stage.leases()
    await asker.hang_up(second)

    assert {parse("lease", lease["id"]) for lease in held} == leases_of(second)
    assert await stage.leases() == []


async def test_who_came_with_another_body_was_told_of_nothing(stage: Stage, asker: Asker) -> None:
    await stage.ask(key="k2")
    with pytest.raises(Refused):
        await stage.ask(key="k2", owner="bob")

    assert stage.home.database.rows("SELECT recalled FROM idempotency_key WHERE key = 'k2'") == [(0,)]
