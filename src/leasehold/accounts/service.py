"""Accounts: handed out on leases, given back with a verdict, kept and changed by operators."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from leasehold import logs
from leasehold.accounts import outlook
from leasehold.accounts.machine import State
from leasehold.accounts.models import (
    Account,
    AccountChange,
    AccountFilter,
    AnySlip,
    Ask,
    End,
    GivenBack,
    Grant,
    Leave,
    NewAccount,
    Offer,
    Renewal,
    SealedSecret,
    Wish,
)
from leasehold.accounts.pool import Batch, Done, Imported, Pool
from leasehold.accounts.problems import PoolsMoving
from leasehold.accounts.records import FIELD, unknown_account
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.leases import Beaten, Desk, Ended, How, Lease, LeaseFilter, LeaseLost, Report, WaitingRoom
from leasehold.metrics import Metrics
from leasehold.problems import Problem
from leasehold.sites import Saying
from leasehold.vault import Place, Sealed, SecretsSealed, Vault

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller asks for."""

    site: str
    owner: str
    ttl_seconds: int
    wait_seconds: int
    priority: int
    count: int
    labels: Mapping[str, str]
    account: UUID | None
    job_id: str | None


class Accounts:
    """The use cases of accounts, over whichever store their pool is in."""

    def __init__(
        self,
        db: Database,
        vault: Vault,
        metrics: Metrics,
        make_pool: Callable[[UUID], Pool],
        desk: Callable[..., Desk[AnySlip]] = Desk,
    ) -> None:
        self._vault = vault
        self._metrics = metrics
        self.desk = desk(self._work)
        self.room: WaitingRoom[Ask] = WaitingRoom(db, self.desk.put)
        self.pool = make_pool(self.room.process)

    async def acquire(self, caller: Caller, wanted: Wanted, once: Once | None = None) -> Offer:
        """Accounts on leases, all that were asked for or none; waits as long as the caller said it would."""
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
        self.desk.put(caller.organisation, ask)
        try:
            offer: Offer = await ask.future
        except asyncio.CancelledError:
            self._abandon(ask)
            raise
        finally:
            self._leave(caller.organisation, ask)
        self._metrics.waited.labels("granted" if offer.grants else "empty").observe(loop.time() - began)
        return offer

    def take_back(self, caller: Caller, offer: Offer) -> None:
        """The one who asked is gone: what it was granted is given back in the next batch.

        Unless it asked again under the same key: that request is told of the same leases, and they are its own.
        """
        if not offer.is_repeat:
            self._give_back(caller, [grant for grant, _ in offer.grants], offer.once)

    async def renew(self, caller: Caller, lease: UUID, ttl_seconds: int | None) -> Lease:
        renewal = Renewal(lease, ttl_seconds, asyncio.get_running_loop().create_future())
        self.desk.put(caller.organisation, renewal)
        renewed: Lease = await renewal.future
        return renewed

    async def release(self, caller: Caller, lease: UUID, report: Report) -> GivenBack:
        end = End(lease, How.RELEASED, report, caller, asyncio.get_running_loop().create_future())
        self.desk.put(caller.organisation, end)
        given_back: GivenBack = await end.future
        return given_back

    async def revoke(self, caller: Caller, lease: UUID) -> int:
        """Take a lease from its holder; 0 when it had ended already."""
        end = End(lease, How.REVOKED, None, caller, asyncio.get_running_loop().create_future())
        self.desk.put(caller.organisation, end)
        try:
            await end.future
        except LeaseLost:
            return 0
        return 1

    async def revoke_owner(self, caller: Caller, owner: str) -> int:
        await self.pool.insist(caller.organisation)
        held = await self.pool.held_by(caller.organisation, owner)
        return sum(await asyncio.gather(*(self.revoke(caller, lease) for lease in held)))

    async def renew_owner(self, caller: Caller, owner: str, ttl_seconds: int | None) -> Beaten:
        await self.pool.insist(caller.organisation)
        return await self.pool.renew_owner(caller, owner, ttl_seconds)

    async def live(self, caller: Caller, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]:
        await self.pool.insist(caller.organisation)
        return await self.pool.live(caller.organisation, which, after, limit)

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
        account = await self.pool.create(caller, new, once)
        self.room.freed(caller.organisation, [account.site])
        return account

    async def import_(self, caller: Caller, new: Sequence[NewAccount]) -> Imported:
        """Upsert by site and username, a site at a time; of a name that stands twice the last line counts."""
        by_site: dict[str, dict[str, NewAccount]] = {}
        for one in new:
            by_site.setdefault(one.site, {})[one.username] = one
        created = updated = 0
        for site, named in by_site.items():
            counts = await self.pool.import_(caller, site, list(named.values()))
            created, updated = created + counts.created, updated + counts.updated
            self.room.freed(caller.organisation, [site])
        return Imported(created, updated)

    async def known_sites(self, caller: Caller, slugs: Collection[str]) -> set[str]:
        """Those of the slugs that are sites."""
        return await self.pool.known_sites(caller.organisation, slugs)

    async def get(self, caller: Caller, account: UUID) -> Account:
        found = await self.pool.get(caller.organisation, account)
        if found is not None and found.state is State.ACTIVE:
            # It may look free only because nobody booked yet that its lease ran out.
            await self._settle(caller.organisation, found.site)
            found = await self.pool.get(caller.organisation, account)
        if found is None:
            await self.pool.insist(caller.organisation)
            raise unknown_account()
        return found

    async def page(
        self, caller: Caller, which: AccountFilter, after: tuple[str, str] | None, limit: int
    ) -> list[Account]:
        await self._settle(caller.organisation, which.site)
        return await self.pool.page(caller.organisation, which, after, limit)

    async def history(self, caller: Caller, account: UUID, before: int | None, limit: int) -> list[Ended]:
        found = await self.get(caller, account)
        return await self.pool.history(caller.organisation, found.id, before, limit)

    async def change(self, caller: Caller, account: UUID, change: AccountChange) -> Account:
        await self.pool.insist(caller.organisation)
        changed = await self.pool.change(caller, account, change)
        self.room.freed(caller.organisation, [changed.site])
        return changed

    async def delete(self, caller: Caller, account: UUID) -> None:
        found = await self.get(caller, account)
        await self._settle(caller.organisation, found.site)
        await self.pool.delete(caller, account)

    async def reveal(self, caller: Caller, account: UUID) -> Mapping[str, Any]:
        """The secret outside a lease; that is in the audit before it leaves."""
        await self.pool.insist(caller.organisation)
        sealed = await self.pool.secret(caller, account)
        return self._open(caller.organisation, account, sealed)

    async def reclaim(self, caller: Caller, site: str | None) -> int:
        """Book now what ran out; returns how many leases that were."""
        if site is not None:
            await self.pool.look(caller.organisation, _anything(site))  # refuses a site that is not there
        return await self._settle(caller.organisation, site)

    async def stats(self, caller: Caller, site: str | None) -> Mapping[str, Mapping[str, int]]:
        if site is not None:
            await self.pool.look(caller.organisation, _anything(site))
        await self._settle(caller.organisation, site)
        return await self.pool.stats(caller.organisation, site)

    async def explain(self, organisation: UUID, site: str) -> Saying:
        """What there is at a site, in a sentence."""
        await self._settle(organisation, site)
        ground, found = await self.pool.look(organisation, _anything(site))
        counts = {str(state): found.counts.get(state, 0) for state in State}
        return Saying(outlook.sentence(ground, found), counts, found.holders, found.next_at)

    async def count(self, conn: Conn, organisation: UUID, site: str) -> int:
        return await self.pool.count(conn, organisation, site)

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
        await self.pool.insist(organisation)
        settled = await self.pool.settle(organisation, site)
        self._metrics.leases_ended.labels("account", How.EXPIRED).inc(settled)
        return settled

    async def _work(self, organisation: UUID, slips: list[AnySlip]) -> None:
        batch = self._sorted(organisation, slips)
        done = await self.pool.work(organisation, batch)
        self._metrics.batch_size.observe(len(slips))
        self._metrics.leases_ended.labels("account", How.EXPIRED).inc(done.expired)
        self._answer(organisation, done)
        for slip in slips:
            if isinstance(slip, Leave) and not slip.future.done():
                slip.future.set_result(None)
        for ask in done.queued:
            self.desk.put(organisation, ask)  # whatever came free before its place was taken is seen now
        for ask in done.waiting:
            if ask.future.cancelled():
                self._leave(organisation, ask)
            else:
                self.room.park(organisation, ask)
        for site, seconds in done.next_back_s.items():
            self.room.call_in(organisation, site, seconds)
        self.room.freed(organisation, done.freed | done.left_for_others)

    def _sorted(self, organisation: UUID, slips: Sequence[AnySlip]) -> Batch:
        now = asyncio.get_running_loop().time()
        batch = Batch()
        for slip in slips:
            match slip:
                case Ask() if slip.future.cancelled():
                    if slip.ticket:
                        batch.left.append(slip.ticket)
                case Ask():
                    batch.asks.append(slip)
                    slip.calls = self.room.calls(organisation, slip.site)
                    if slip.wait_seconds == 0 or now >= slip.deadline or self.room.is_closed:
                        batch.last.add(slip)
                case End():
                    batch.ends.append(slip)
                case Renewal():
                    batch.renewals.append(slip)
                case Leave():
                    batch.left.append(slip.ticket)
        return batch

    def _answer(self, organisation: UUID, done: Done) -> None:
        for end, given_back in done.ended.items():
            self._count_end(end, given_back)
            _resolve(end.future, given_back)
        for renewal, lease in done.renewed.items():
            if isinstance(lease, Problem):
                self._metrics.stale_calls.labels("heartbeat").inc()
            _resolve(renewal.future, lease)
        for ask, waiting in done.empty.items():
            ask.ticket = None  # given up in the same transaction
            _resolve(ask.future, Offer([], waiting))
        for ask, granted in done.granted.items():
            if isinstance(granted, list) and ask not in done.repeated:
                ask.ticket = None
            if isinstance(granted, Problem):
                _resolve(ask.future, granted)
            elif ask.future.cancelled():
                if ask not in done.repeated:
                    self._give_back(ask.caller, granted, ask.once)
            else:
                if ask not in done.repeated:
                    self._metrics.leases_granted.labels("account").inc(len(granted))
                _resolve(ask.future, self._offer(organisation, ask, granted, is_repeat=ask in done.repeated))

    def _offer(self, organisation: UUID, ask: Ask, granted: list[Grant], *, is_repeat: bool) -> Offer | Problem:
        try:
            opened = [(grant, self._open(organisation, grant.account.id, grant.secret)) for grant in granted]
        except SecretsSealed as problem:
            if not is_repeat:
                self._give_back(ask.caller, granted, ask.once)
            return problem
        return Offer(opened, None, ask.once, is_repeat)

    def _open(self, organisation: UUID, account: UUID, secret: SealedSecret) -> Mapping[str, Any]:
        place = Place(organisation, account, FIELD, secret.version)
        opened: Mapping[str, Any] = orjson.loads(self._vault.open(Sealed(secret.key_id, secret.sealed), place))
        return opened

    def _count_end(self, end: End, given_back: GivenBack | Problem) -> None:
        if isinstance(given_back, GivenBack) and not given_back.already_released:
            self._metrics.leases_ended.labels("account", end.how).inc()
        elif isinstance(given_back, Problem):
            self._metrics.stale_calls.labels("release").inc()

    def _abandon(self, ask: Ask) -> None:
        """Nobody waits for the answer any more; what it may have brought is given back."""
        organisation = ask.caller.organisation
        if ask.future.done() and not ask.future.cancelled() and ask.future.exception() is None:
            self.take_back(ask.caller, ask.future.result())
        self.room.leave(organisation, ask)

    def _leave(self, organisation: UUID, ask: Ask) -> None:
        """Give up its place in the queue, if it still has one."""
        if ask.ticket is not None:
            self.desk.put(organisation, Leave(ask.ticket, asyncio.get_running_loop().create_future()))
            ask.ticket = None

    def _give_back(self, caller: Caller, grants: Sequence[Grant], once: Once | None) -> None:
        for grant in grants:
            future = asyncio.get_running_loop().create_future()
            future.add_done_callback(lambda done: done.cancelled() or done.exception())
            self.desk.put(caller.organisation, End(grant.lease.id, How.RELEASED, None, caller, future, once))


def _resolve(future: asyncio.Future[Any], result: object) -> None:
    if future.done():
        return
    if isinstance(result, Problem):
        future.set_exception(result)
    else:
        future.set_result(result)


def _anything(site: str) -> Wish:
    return Wish(site, 0, 1, {}, None)
