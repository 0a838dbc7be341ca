"""Accounts: handed out on leases, given back with a verdict, kept and changed by operators."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from leasehold import logs
from leasehold.accounts import outlook
from leasehold.accounts.counter import AccountCounter
from leasehold.accounts.machine import State
from leasehold.accounts.models import (
    Account,
    AccountChange,
    AccountFilter,
    Ask,
    End,
    GivenBack,
    NewAccount,
    Offer,
    Renewal,
    Wish,
)
from leasehold.accounts.pool import Imported
from leasehold.accounts.problems import PoolsMoving
from leasehold.accounts.records import unknown_account
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.idempotency import Once
from leasehold.leases import Beaten, BoundLeases, Ended, How, Lease, LeaseFilter, LeaseLost, Report, lost
from leasehold.metrics import Metrics
from leasehold.problems import Unavailable
from leasehold.sites import Saying

log = logs.get(__name__)

_ATTEMPTS = 5
# What must be left of its time when somebody is told of a new lease: a third, before which the SDK first renews.
MIN_LEFT = 1 / 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller asks for."""

    site: str
    owner: str
    ttl_seconds: int
    wait_seconds: float
    priority: int
    count: int
    labels: Mapping[str, str]
    account: UUID | None
    job_id: str | None


class Accounts:
    """The use cases of accounts, over whichever store their pool is in."""

    def __init__(self, counter: AccountCounter, metrics: Metrics, bound: BoundLeases) -> None:
        self.counter = counter
        self._bound = bound
        self._pool = counter.pool
        self._metrics = metrics

    async def acquire(self, caller: Caller, wanted: Wanted, once: Once | None = None) -> Offer:
        """Accounts on leases, all that were asked for or none; waits as long as the caller said it would."""
        acquire = partial(self._acquire, caller, wanted, once)
        return await self._bound.taken(caller, wanted.job_id, once, acquire, self.counter.take_back)

    async def _acquire(self, caller: Caller, wanted: Wanted, once: Once | None) -> Offer:
        loop = asyncio.get_running_loop()
        ask = Ask(
            caller=caller,
            site=wanted.site,
            owner=wanted.owner,
            ttl_seconds=wanted.ttl_seconds,
            priority=wanted.priority,
            count=wanted.count,
            labels=wanted.labels,
            account=wanted.account,
            job_id=wanted.job_id,
            wait_seconds=wanted.wait_seconds,
            once=once,
            future=loop.create_future(),
            deadline=loop.time() + wanted.wait_seconds,
        )
        began = loop.time()
        self.counter.desk.put(caller.organisation, ask)
        try:
            offer: Offer = await ask.future
        except asyncio.CancelledError:
            self.counter.abandon(ask)
            raise
        finally:
            self.counter.leave(caller.organisation, ask)
        self._refuse_stale(ask, offer)
        self._metrics.part(self._metrics.waited, "granted" if offer.grants else "empty").observe(loop.time() - began)
        return offer

    def _refuse_stale(self, ask: Ask, offer: Offer) -> None:
        """Give back what was granted so long ago that little is left of it: its holder could not rely on it."""
        took = asyncio.get_running_loop().time() - ask.taken_up
        if offer.grants and not offer.is_repeat and took > ask.ttl_seconds * (1 - MIN_LEFT):
            self.counter.take_back(ask.caller, offer)
            raise Unavailable(
                "The server was too slow to tell in time what it granted, and has given it back. Try again.",
                headers={"Retry-After": "1"},
            )

    async def renew(self, caller: Caller, lease: UUID, ttl_seconds: int | None) -> Lease:
        renewal = Renewal(lease, ttl_seconds, asyncio.get_running_loop().create_future())
        self.counter.beats.put(caller.organisation, renewal)
        renewed: Lease = await renewal.future
        return renewed

    async def release(self, caller: Caller, lease: UUID, report: Report) -> GivenBack:
        end = End(lease, How.RELEASED, report, caller, asyncio.get_running_loop().create_future())
        self.counter.desk.put(caller.organisation, end)
        given_back: GivenBack = await end.future
        return given_back

    async def revoke(self, caller: Caller, lease: UUID) -> int:
        """Take a lease from its holder; 0 when it had ended already."""
        end = End(lease, How.REVOKED, None, caller, asyncio.get_running_loop().create_future())
        self.counter.desk.put(caller.organisation, end)
        try:
            await end.future
        except LeaseLost:
            return 0
        return 1

    async def revoke_owner(self, caller: Caller, owner: str) -> int:
        await self._pool.insist(caller.organisation)
        held = await self._pool.held_by(caller.organisation, owner)
        return sum(await asyncio.gather(*(self.revoke(caller, lease) for lease in held)))

    async def revoke_jobs(self, caller: Caller, jobs: Sequence[str]) -> int:
        held = await self._pool.held_for(caller.organisation, jobs)
        revoked = sum(await asyncio.gather(*(self.revoke(caller, lease) for lease in held)))
        await self._pool.insist(caller.organisation)  # on the way to another store there may be more of them
        return revoked

    async def renew_owner(self, caller: Caller, owner: str, ttl_seconds: int | None) -> Beaten:
        await self._pool.insist(caller.organisation)
        for _ in range(_ATTEMPTS):
            beaten = await self._pool.renew_owner(caller, owner, ttl_seconds)
            if not beaten.overdue:
                return beaten
            await self.counter.book(caller.organisation, beaten.overdue)
        raise Unavailable("Leases end faster than they are booked. Try again.", headers={"Retry-After": "1"})

    async def insist(self, caller: Caller) -> None:
        """Refuse when the accounts are in another store, or on their way there."""
        await self._pool.insist(caller.organisation)

    async def find_lease(self, caller: Caller, lease: UUID) -> Lease:
        """A live lease on an account; refuses any other with the reason."""
        found = await self._pool.find_lease(caller.organisation, lease)
        if found is None:
            await self._pool.book(caller.organisation, [lease])
            found = await self._pool.find_lease(caller.organisation, lease)
        if found is None:
            raise lost(lease, How.EXPIRED)
        return found

    async def live(self, caller: Caller, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]:
        await self._pool.insist(caller.organisation)
        return await self._pool.live(caller.organisation, which, after, limit)

    async def is_live(self, caller: Caller, lease: UUID) -> bool:
        """Whether a lease on an account is live, in whichever store it is; refuses one that never was."""
        found = await self.live(caller, LeaseFilter(), UUID(int=lease.int - 1), 1)
        if found and found[0].id == lease:
            return True
        try:
            await self.renew(caller, lease, None)  # cannot revive it; tells one that ended from one that never was
        except LeaseLost:
            return False
        return True

    async def create(self, caller: Caller, new: NewAccount, once: Once | None = None) -> Account:
        account = await self._pool.create(caller, new, once)
        self.counter.room.freed(caller.organisation, [account.site])
        return account

    async def import_(self, caller: Caller, new: Sequence[NewAccount]) -> Imported:
        """Upsert by site and username, a site at a time; of a name that stands twice the last line counts."""
        by_site: dict[str, dict[str, NewAccount]] = {}
        for one in new:
            by_site.setdefault(one.site, {})[one.username] = one
        created = updated = 0
        for site, named in by_site.items():
            counts = await self._pool.import_(caller, site, list(named.values()))
            created, updated = created + counts.created, updated + counts.updated
            self.counter.room.freed(caller.organisation, [site])
        return Imported(created, updated)

    async def known_sites(self, caller: Caller, slugs: Collection[str]) -> set[str]:
        """Those of the slugs that are sites."""
        return await self._pool.known_sites(caller.organisation, slugs)

    async def get(self, caller: Caller, account: UUID) -> Account:
        found = await self._pool.get(caller.organisation, account)
        if found is not None and found.state is State.ACTIVE:
            # It may look free only because nobody booked yet that its lease ran out.
            await self._settle(caller.organisation, found.site)
            found = await self._pool.get(caller.organisation, account)
        if found is None:
            await self._pool.insist(caller.organisation)
            raise unknown_account()
        return found

    async def page(
        self, caller: Caller, which: AccountFilter, after: tuple[str, str] | None, limit: int
    ) -> list[Account]:
        await self._settle(caller.organisation, which.site)
        return await self._pool.page(caller.organisation, which, after, limit)

    async def history(self, caller: Caller, account: UUID, before: int | None, limit: int) -> list[Ended]:
        found = await self.get(caller, account)
        return await self._pool.history(caller.organisation, found.id, before, limit)

    async def change(self, caller: Caller, account: UUID, change: AccountChange) -> Account:
        await self._pool.insist(caller.organisation)
        changed = await self._pool.change(caller, account, change)
        self.counter.room.freed(caller.organisation, [changed.site])
        return changed

    async def delete(self, caller: Caller, account: UUID) -> None:
        found = await self.get(caller, account)
        await self._settle(caller.organisation, found.site)
        await self._pool.delete(caller, account)

    async def reveal(self, caller: Caller, account: UUID) -> Mapping[str, Any]:
        """The secret outside a lease; that is in the audit before it leaves."""
        await self._pool.insist(caller.organisation)
        sealed = await self._pool.secret(caller, account)
        return self.counter.open_secret(caller.organisation, account, sealed)

    async def reclaim(self, caller: Caller, site: str | None) -> int:
        """Book now what ran out; returns how many leases that were."""
        if site is not None:
            await self._pool.look(caller.organisation, _anything(site))  # refuses a site that is not there
        return await self._settle(caller.organisation, site)

    async def stats(self, caller: Caller, site: str | None) -> Mapping[str, Mapping[str, int]]:
        if site is not None:
            await self._pool.look(caller.organisation, _anything(site))
        await self._settle(caller.organisation, site)
        return await self._pool.stats(caller.organisation, site)

    async def explain(self, organisation: UUID, site: str) -> Saying:
        """What there is at a site, in a sentence."""
        await self._settle(organisation, site)
        ground, found = await self._pool.look(organisation, _anything(site))
        counts = {str(state): found.counts.get(state, 0) for state in State}
        return Saying(outlook.sentence(ground, found), counts, found.holders, found.next_at)

    async def count(self, conn: Conn, organisation: UUID, site: str) -> int:
        return await self._pool.count(conn, organisation, site)

    async def reap(self, organisations: Sequence[UUID]) -> None:
        """Book what ran out everywhere. Grants do not depend on it; counts, audit and metrics come sooner."""
        for organisation in organisations:
            try:
                await self._settle(organisation, None)
            except PoolsMoving as problem:
                # On the way there is still something to grant; once all are gone this server is of no use any more.
                if not problem.members["is_under_way"]:
                    raise
                return

    async def _settle(self, organisation: UUID, site: str | None) -> int:
        """Book what ran out; refuses when the accounts are in another store."""
        await self._pool.insist(organisation)
        settled = await self._pool.settle(organisation, site)
        self._metrics.part(self._metrics.leases_ended, "account", How.EXPIRED).inc(settled)
        return settled


def _anything(site: str) -> Wish:
    return Wish(site, 0, 1, {}, None)
