"""The counter and the leases it grants, with the plainest stock there can be: ids, and leases kept in PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection

from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.leases import (
    Claim,
    Counter,
    Deal,
    Ear,
    Ended,
    Grant,
    How,
    KeptLeases,
    Kind,
    LeaseFilter,
    LeaseLost,
    LeaseUnknown,
    NewLease,
    Offer,
    PostgresFace,
    Report,
    Timekeeper,
    Waiting,
    Wanted,
    deal_out,
    find,
    history,
    new_id,
)
from leasehold.metrics import Metrics
from leasehold.problems import IdempotencyMismatch
from tests.parts.postgres import TestDatabase

OURS = UUID(int=1)
ANN = Caller(OURS, UUID(int=7), "ann", frozenset())
PATIENCE_S = 20


class Things:
    """A feature as small as can be: what it has, and what its leases left behind."""

    kind, prefix, permission = Kind.CAPTURE, "cap", Permission.CAPTURES_CONSUME

    def __init__(self) -> None:
        self.sites: dict[UUID, str] = {}
        self.settled: list[tuple[UUID, How, Report | None]] = []
        self.next: float | None = None
        self.kept: KeptLeases

    def read(self, report: Mapping[str, Any]) -> Report:
        return Report(**report)

    async def hold(self, conn: Conn, organisation: UUID, resources: Sequence[UUID]) -> None:
        assert list(resources) == sorted(resources)

    async def settle(self, conn: Conn, caller: Caller, ended: Sequence[Ended], report: Report | None) -> None:
        self.settled += [(one.resource, one.how, report) for one in ended]

    async def shown(self, conn: Conn, organisation: UUID, resource: UUID) -> Mapping[str, Any]:
        return {"id": str(resource)}

    async def deal(self, conn: Conn, organisation: UUID, claims: Sequence[Claim]) -> Deal[UUID]:
        deal: Deal[UUID] = Deal()
        cur = await conn.execute("SELECT resource, id FROM lease FOR UPDATE")
        held: dict[UUID, UUID] = dict(await cur.fetchall())
        deal.expired = await self.kept.expire(conn, organisation, list(held.values()))
        gone = {one.resource for one in deal.expired}
        free = [thing for thing in self.sites if thing not in held or thing in gone]
        for claim, found in deal_out(claims, free, lambda claim, thing: claim.fits(self.sites[thing], {})):
            if claim.ask is None:
                deal.left_at |= {self.sites[thing] for thing in found}
            elif found:
                deal.given[claim.ask] = await self._grant(conn, organisation, claim, found)
        return deal

    async def _grant(self, conn: Conn, organisation: UUID, claim: Claim, found: Sequence[UUID]) -> list[Grant[UUID]]:
        assert claim.ask
        wanted, new = claim.ask.wanted, []
        for thing in found:
            fence = len(await history(conn, organisation, thing, None, 500)) + 1
            owner, token = wanted.owner, claim.ask.caller.token
            new.append(
                NewLease(
                    new_id(self.kind), thing, self.sites[thing], fence, owner, token, wanted.job_id, wanted.ttl_seconds
                )
            )
        granted = await self.kept.grant(conn, organisation, new)
        return [Grant(granted[thing], thing) for thing in found]

    async def granted(self, conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> dict[UUID, Grant[UUID]]:
        found = await find(conn, organisation, leases)
        cur = await conn.execute("SELECT id FROM lease WHERE expires_at > clock_timestamp()")
        return {
            lease: Grant(found[lease], found[lease].resource) for (lease,) in await cur.fetchall() if lease in found
        }

    async def waiting(self, conn: Conn, organisation: UUID, wanted: Wanted) -> Waiting:
        return Waiting("all_leased", "Nothing is free.", None, 1, {})

    async def next_in_s(self, conn: Conn, organisation: UUID, site: str | None) -> float | None:
        return self.next


class Shop:
    """One process: its counter, its leases, and an ear for what others say."""

    def __init__(self, db: Database, things: Things) -> None:
        self.things = things
        self.metrics = Metrics()
        clock = Timekeeper(db, PostgresFace(), self.metrics)
        self.kept = things.kept = KeptLeases(db, clock, things, self.metrics, 3600)
        self.counter: Counter[UUID] = Counter(db, self.kept, things, self.metrics)
        self.ear = Ear(db, [self.counter.room])

    async def ask(self, owner: str = "ann", once: Once | None = None, **wanted: Any) -> Offer[UUID]:
        async with asyncio.timeout(PATIENCE_S):
            return await self.counter.acquire(ANN, Wanted(owner, **wanted), once)

    async def take(self, owner: str = "ann", **wanted: Any) -> Grant[UUID]:
        (grant,) = (await self.ask(owner, **wanted)).grants
        return grant

    async def waiter(self, owner: str = "ann", waiters: int = 1, **wanted: Any) -> asyncio.Task[Offer[UUID]]:
        task = asyncio.create_task(self.ask(owner, **{"wait_seconds": 25, **wanted}))
        await until(lambda: len(self.counter.room) == waiters)
        return task

    async def close(self) -> None:
        self.counter.room.close()
        await self.counter.drain()
        await self.ear.close()
        await self.counter.room.leave_all()


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():
            await asyncio.sleep(0.005)


@pytest.fixture
async def db(database: TestDatabase) -> AsyncIterator[Database]:
    database.run("INSERT INTO organisation (id, slug) VALUES (%s, 'ours')", OURS)
    database.run(
        "INSERT INTO token (id, organisation, name, permissions, hash) VALUES (%s, %s, 'ann', '{}', 'd')",
        ANN.token,
        OURS,
    )
    async with Database(database.url, pool_size=6) as opened:
        yield opened


@pytest.fixture
async def shop(db: Database) -> AsyncIterator[Shop]:
    made = Shop(db, Things())
    yield made
    await made.close()


@pytest.fixture
async def branch(db: Database, shop: Shop) -> AsyncIterator[Shop]:
    """Another process with the same things, that hears what the first says."""
    things = Things()
    things.sites = shop.things.sites
    made = Shop(db, things)
    listening = asyncio.create_task(_listen(made.ear))
    yield made
    listening.cancel()
    await asyncio.wait({listening})
    await made.close()


async def _listen(ear: Ear) -> None:
    while True:
        await ear.listen()


def stock(shop: Shop, *sites: str) -> list[UUID]:
    made = {uuid4(): site for site in sites}
    shop.things.sites |= made
    return list(made)


def age(database: TestDatabase, seconds: int) -> None:
    past = timedelta(seconds=seconds)
    database.run("UPDATE lease SET acquired_at = acquired_at - %s, expires_at = expires_at - %s", past, past)


async def test_it_gives_what_there_is_up_to_the_limit(shop: Shop) -> None:
    stock(shop, "board", "board", "shop")

    offer = await shop.ask(site="board", limit=5)

    assert [grant.lease.site for grant in offer.grants] == ["board", "board"]
    assert (await shop.ask(site="board")).waiting
    assert (await shop.take()).lease.site == "shop"


async def test_fences_grow_with_every_grant(shop: Shop) -> None:
    stock(shop, "board")
    fences = []
    for _ in range(3):
        grant = await shop.take()
        fences.append(grant.lease.fence)
        await shop.kept.release(ANN, grant.lease.id, {"outcome": "ok"})

    assert fences == [1, 2, 3]


async def test_a_second_release_changes_nothing(shop: Shop) -> None:
    (thing,) = stock(shop, "board")
    grant = await shop.take()

    first = await shop.kept.release(ANN, grant.lease.id, {"outcome": "ok", "reason": "r"})
    again = await shop.kept.release(ANN, grant.lease.id, {"outcome": "failed"})

    assert (first.already_released, again.already_released) == (False, True)
    assert shop.things.settled == [(thing, How.RELEASED, Report("ok", "r"))]
    assert first.resource == again.resource == {"id": str(thing)}


async def test_two_releases_at_once_settle_once(shop: Shop) -> None:
    stock(shop, "board")
    grant = await shop.take()

    done = await asyncio.gather(*(shop.kept.release(ANN, grant.lease.id, {"outcome": "ok"}) for _ in range(4)))

    assert sorted(one.already_released for one in done) == [False, True, True, True]
    assert len(shop.things.settled) == 1


async def test_a_lease_that_ran_out_is_dead_though_nobody_took_the_thing(shop: Shop, database: TestDatabase) -> None:
    (thing,) = stock(shop, "board")
    lease = (await shop.take()).lease.id
    age(database, 121)

    for call in (shop.kept.renew(ANN, lease, None), shop.kept.release(ANN, lease, {"outcome": "ok"})):
        with pytest.raises(LeaseLost) as lost:
            await call
        assert lost.value.members["reason"] == "expired"
    assert await shop.kept.revoke(ANN, lease) == 0
    # Who is told has been booked, once; by time itself, and without what the late holder said.
    assert shop.things.settled == [(thing, How.EXPIRED, None)]
    assert await shop.kept.live(ANN, LeaseFilter(), None, 10) == []


async def test_what_ran_out_is_granted_again_without_a_reaper(shop: Shop, database: TestDatabase) -> None:
    (thing,) = stock(shop, "board")
    first = (await shop.take()).lease
    age(database, 121)

    second = (await shop.take("bob")).lease

    assert (second.resource, second.fence) == (thing, first.fence + 1)
    assert shop.things.settled == [(thing, How.EXPIRED, None)]
    with pytest.raises(LeaseLost):
        await shop.kept.release(ANN, first.id, {"outcome": "ok"})
    assert (await shop.kept.renew(ANN, second.id, None)).id == second.id


async def test_a_heartbeat_never_shortens_and_never_passes_the_greatest_age(shop: Shop, database: TestDatabase) -> None:
    stock(shop, "board")
    lease = (await shop.take(ttl_seconds=600)).lease

    assert (await shop.kept.renew(ANN, lease.id, 5)).expires_at == lease.expires_at
    later = await shop.kept.renew(ANN, lease.id, 3600)
    age(database, 1800)
    capped = await shop.kept.renew(ANN, lease.id, 3600)

    assert (later.expires_at - lease.acquired_at).total_seconds() == 3600
    assert (capped.expires_at - capped.acquired_at).total_seconds() == 3600


async def test_a_lease_that_never_was_is_unknown(shop: Shop) -> None:
    with pytest.raises(LeaseUnknown):
        await shop.kept.renew(ANN, new_id(Kind.CAPTURE), None)
    with pytest.raises(LeaseUnknown):
        await shop.kept.release(ANN, new_id(Kind.CAPTURE), {"outcome": "ok"})
    with pytest.raises(LeaseUnknown):
        await shop.kept.revoke(ANN, new_id(Kind.CAPTURE))


async def test_an_operator_revokes_one_or_all_of_an_owner(shop: Shop, database: TestDatabase) -> None:
    stock(shop, "board", "board", "shop")
    one, two, other = (await shop.take()).lease, (await shop.take()).lease, (await shop.take("bob")).lease

    assert (await shop.kept.revoke(ANN, one.id), await shop.kept.revoke(ANN, one.id)) == (1, 0)
    assert await shop.kept.revoke_owner(ANN, "ann") == 1

    with pytest.raises(LeaseLost) as lost:
        await shop.kept.release(ANN, two.id, {"outcome": "ok"})
    assert lost.value.members["reason"] == "revoked"
    assert [lease.id for lease in await shop.kept.live(ANN, LeaseFilter(), None, 10)] == [other.id]
    noted = database.rows("SELECT actor_name, action FROM audit_event")
    assert noted == [("ann", "lease.revoked")] * 2


async def test_an_owner_renews_all_it_holds_and_hears_what_it_lost(shop: Shop) -> None:
    stock(shop, "board", "board")
    kept, gone = (await shop.take()).lease, (await shop.take()).lease
    await shop.kept.revoke(ANN, gone.id)

    beaten = await shop.kept.renew_owner(ANN, "ann", 60)

    assert (beaten.renewed, beaten.lost) == ([kept.id], [gone.id])


async def test_a_release_wakes_who_waits_there_and_who_waits_anywhere(shop: Shop) -> None:
    stock(shop, "board", "shop")
    here, there = await shop.take(site="board"), await shop.take(site="shop")
    anywhere = await shop.waiter("anywhere")
    at_board = await shop.waiter("at board", 2, site="board")

    await shop.kept.release(ANN, there.lease.id, {"outcome": "ok"})
    assert (await anywhere).grants[0].lease.site == "shop"
    await shop.kept.release(ANN, here.lease.id, {"outcome": "ok"})

    assert (await at_board).grants[0].lease.owner == "at board"


async def test_turns_are_kept_across_processes(shop: Shop, branch: Shop) -> None:
    stock(shop, "board")
    held = await shop.take()
    elsewhere = await branch.waiter("first")
    here = await shop.waiter("second", site="board")

    await shop.kept.release(ANN, held.lease.id, {"outcome": "ok"})

    first = (await elsewhere).grants[0]
    assert not here.done()
    shop.counter.room.call(OURS, "board")
    await branch.kept.release(ANN, first.lease.id, {"outcome": "ok"})
    shop.counter.room.call(OURS, "board")  # this one has no ear
    assert (await here).grants[0].lease.owner == "second"


async def test_who_does_not_wait_does_not_jump_the_queue(shop: Shop, branch: Shop) -> None:
    stock(shop, "board")
    held = await shop.take()
    waiter = await branch.waiter("first")
    branch.counter.room.call = lambda *_: None  # type: ignore[method-assign]

    await shop.kept.release(ANN, held.lease.id, {"outcome": "ok"})

    assert not (await shop.ask("jumper")).grants
    assert (await shop.ask("urgent", priority=9)).grants
    waiter.cancel()


async def test_the_clock_wakes_who_waits(shop: Shop, database: TestDatabase) -> None:
    stock(shop, "board")
    await shop.take()
    shop.things.next = 0.2
    waiter = await shop.waiter("patient")
    age(database, 121)

    assert (await waiter).grants


async def test_whose_time_is_up_is_told_why(shop: Shop, database: TestDatabase) -> None:
    stock(shop, "board")
    await shop.take()

    offer = await shop.ask("patient", wait_seconds=1)

    assert offer.waiting
    assert offer.waiting.reason == "all_leased"
    assert database.rows("SELECT FROM waiter") == []


async def test_who_left_consumes_nothing(shop: Shop, database: TestDatabase) -> None:
    stock(shop, "board")
    held = await shop.take()
    gone = await shop.waiter("gone")
    gone.cancel()
    await until(lambda: len(shop.counter.room) == 0)

    await shop.kept.release(ANN, held.lease.id, {"outcome": "ok"})

    assert (await shop.take("here")).lease.owner == "here"
    await shop.counter.drain()
    assert database.rows("SELECT FROM waiter") == []


async def test_who_leaves_at_any_moment_leaks_nothing(shop: Shop, database: TestDatabase) -> None:
    stock(shop, *["board"] * 3)

    async def impatient(n: int) -> None:
        try:
            async with asyncio.timeout(0.001 * (n % 30)):
                offer = await shop.ask(f"o{n}", wait_seconds=5)
        except TimeoutError:
            return
        for grant in offer.grants:
            await shop.kept.release(ANN, grant.lease.id, {"outcome": "ok"})

    await asyncio.gather(*(impatient(n) for n in range(150)))
    await until(lambda: not database.rows("SELECT FROM lease"))
    await until(lambda: not database.rows("SELECT FROM waiter"))


def once(key: str = "k", body: bytes = b"b") -> Once:
    return Once(OURS, UUID(int=7), "POST /v2/things/acquire", key, body)


async def test_however_many_repeats_find_their_leases_run_out_each_is_told_so(
    shop: Shop, database: TestDatabase
) -> None:
    keys = [once(str(n)) for n in range(8)]
    stock(shop, *["board"] * len(keys))
    for key in keys:
        await shop.ask(once=key)
    age(database, 121)

    told = await asyncio.gather(*(shop.ask(once=key) for key in keys), return_exceptions=True)

    assert [type(one) for one in told] == [LeaseLost] * len(keys)
    assert {how for _, how, _ in shop.things.settled} == {How.EXPIRED}


async def test_a_repeat_is_told_of_the_same_lease(shop: Shop) -> None:
    stock(shop, "board", "board")

    first, again = await shop.ask(once=once()), await shop.ask(once=once())

    assert [grant.lease for grant in first.grants] == [grant.lease for grant in again.grants]
    with pytest.raises(IdempotencyMismatch):
        await shop.ask(once=replace(once(), body_digest=b"other"))
    await shop.kept.release(ANN, first.grants[0].lease.id, {"outcome": "ok"})
    with pytest.raises(LeaseLost):
        await shop.ask(once=once())


async def test_an_acquire_that_found_nothing_is_not_remembered(shop: Shop) -> None:
    assert not (await shop.ask(once=once())).grants
    stock(shop, "board")

    assert (await shop.ask(once=once())).grants


async def test_what_was_taken_back_is_free_and_its_key_forgotten(shop: Shop) -> None:
    (thing,) = stock(shop, "board")
    offer = await shop.ask(once=once())

    shop.counter.take_back(ANN, offer)
    await shop.counter.drain()

    assert shop.things.settled == [(thing, How.RELEASED, None)]
    assert (await shop.ask(once=once())).grants[0].lease.id != offer.grants[0].lease.id


async def test_what_a_repeat_was_told_of_is_taken_back_when_it_hangs_up_too(shop: Shop) -> None:
    stock(shop, "board")
    offer = await shop.ask(once=once())
    repeat = await shop.ask(once=once())

    shop.counter.take_back(ANN, offer)
    await shop.counter.drain()
    before = list(shop.things.settled)
    shop.counter.take_back(ANN, repeat)
    await shop.counter.drain()

    assert before == []
    assert len(shop.things.settled) == 1
    assert len((await shop.ask(once=once())).grants) == 1


async def test_those_who_come_together_are_served_together(shop: Shop) -> None:
    stock(shop, *["board"] * 20)

    offers = await asyncio.gather(*(shop.ask(f"o{n}") for n in range(20)))

    assert len({offer.grants[0].resource for offer in offers}) == 20
    batches = shop.metrics.registry.get_sample_value("leasehold_batch_size_count")
    assert batches
    assert batches < 20


def somebody_waits(database: TestDatabase) -> bool:
    """Whether somebody waits for a lock of somebody else."""
    waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return bool(database.rows(waiting))


async def test_leases_are_ended_in_the_order_of_ids(shop: Shop, database: TestDatabase) -> None:
    """So that two who end the same ones never wait for each other in a circle."""
    stock(shop, "board", "board")
    first, second = sorted(grant.lease.id for grant in (await shop.ask(limit=2)).grants)
    await shop.kept.renew(ANN, first, 600)  # now it lies behind the other in the table

    async def end(conn: Conn) -> list[Ended]:
        await conn.execute("SET LOCAL enable_indexscan = off")  # whichever plan is chosen
        await conn.execute("SET LOCAL enable_bitmapscan = off")
        return await shop.kept.take_back(conn, OURS, [second, first])

    with database.connect() as other, other.transaction():
        other.execute("SELECT FROM lease WHERE id = %s FOR UPDATE", [first])
        ending = asyncio.create_task(shop.kept.steadily(OURS, end))
        await until(lambda: somebody_waits(database))

        other.execute("SELECT FROM lease WHERE id = %s FOR UPDATE NOWAIT", [second])
    assert len(await ending) == 2


async def test_who_waits_in_a_circle_goes_again(shop: Shop, database: TestDatabase) -> None:
    stock(shop, "board", "board")
    ours, theirs = (grant.lease.id for grant in (await shop.ask(limit=2)).grants)
    lock = "SELECT FROM lease WHERE id = %s FOR UPDATE"
    attempts = 0

    async with await AsyncConnection.connect(database.url, autocommit=True) as other:
        await other.execute("SET deadlock_timeout = '1min'")  # it is us who are found to be in the way
        await other.execute("BEGIN")
        await other.execute(lock, [theirs])

        async def work(conn: Conn) -> str:
            nonlocal attempts
            attempts += 1
            await conn.execute(lock, [ours])
            if attempts == 1:
                crossing = asyncio.create_task(other.execute(lock, [ours]))
                crossing.add_done_callback(lambda _: asyncio.ensure_future(other.execute("COMMIT")))
                await until(lambda: somebody_waits(database))
            await conn.execute(lock, [theirs])
            return "done"

        assert await shop.kept.steadily(OURS, work) == "done"

    assert attempts == 2
