"""The counter where accounts are handed out: batches are sorted, served by the pool, and everybody is answered."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson

from leasehold.accounts.machine import Standing
from leasehold.accounts.models import (
    AccountChange,
    AnySlip,
    Ask,
    End,
    GivenBack,
    Grant,
    Leave,
    Offer,
    Renewal,
    SealedSecret,
    Withdrawal,
)
from leasehold.accounts.notes import nobody
from leasehold.accounts.pool import Batch, Done, Pool
from leasehold.accounts.records import FIELD
from leasehold.caller import Caller
from leasehold.db import Database
from leasehold.idempotency import Once
from leasehold.leases import Desk, How, WaitingRoom
from leasehold.metrics import Metrics
from leasehold.problems import Problem
from leasehold.vault import Place, Sealed, SecretsSealed, Vault

_DAMAGED = "Its stored secret does not open. Store it again."


class AccountCounter:
    """The desks of accounts, the room of those who wait there, and the pool behind."""

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
        # Renewals go by themselves: whatever a grant has to wait for, a holder that is alive does not lose its lease.
        self.beats = desk(self._work)
        self.room: WaitingRoom[Ask] = WaitingRoom(db, self.desk.put)
        self.pool = make_pool(self.room.process)
        self._errands: set[asyncio.Task[None]] = set()

    async def drain(self) -> None:
        """Wait until everybody who came was answered."""
        await self.desk.drain()
        await self.beats.drain()
        while self._errands:
            await asyncio.wait(self._errands)
            await self.desk.drain()

    def open_secret(self, organisation: UUID, account: UUID, secret: SealedSecret) -> Mapping[str, Any]:
        place = Place(organisation, account, FIELD, secret.version)
        opened: Mapping[str, Any] = orjson.loads(self._vault.open(Sealed(secret.key_id, secret.sealed), place))
        return opened

    def take_back(self, caller: Caller, offer: Offer) -> None:
        """The one who asked is gone: what it was granted is given back in the next batch.

        Unless it asked again under the same key: that request is told of the same leases, and they are its own.
        """
        self.give_back(caller, [grant for grant, _ in offer.grants], offer.once)

    async def _work(self, organisation: UUID, slips: list[AnySlip]) -> None:
        batch = self._sorted(organisation, slips)
        done = await self.pool.work(organisation, batch)
        self._metrics.batch_size.observe(len(slips))
        self._metrics.part(self._metrics.leases_ended, "account", How.EXPIRED).inc(done.expired)
        self._answer(organisation, done)
        for slip in slips:
            if isinstance(slip, Leave | Withdrawal) and not slip.future.done():
                slip.future.set_result(None)
        for ask in done.queued:
            self.desk.put(organisation, ask)  # whatever came free before its place was taken is seen now
        for ask in done.waiting:
            if ask.future.cancelled():
                self.leave(organisation, ask)
            else:
                self.room.park(organisation, ask)
        for site, seconds in done.next_back_s.items():
            self.room.call_in(organisation, site, seconds)
        self.room.freed(organisation, done.freed | done.left_for_others)
        if done.again:
            await self._ask_again(organisation, done)

    async def _ask_again(self, organisation: UUID, done: Done) -> None:
        """Whoever asks about a lease that seems to have run out is answered once that is booked, or found untrue."""
        try:
            await self.book(organisation, done.overdue)
        except Exception as error:  # whatever it is, those who asked are told, and nobody else of their batch
            for slip in done.again:
                if not slip.future.done():
                    slip.future.set_exception(error)
            return
        for slip in done.again:
            desk = self.beats if isinstance(slip, Renewal) else self.desk
            desk.put(organisation, slip)

    async def book(self, organisation: UUID, overdue: Collection[UUID]) -> None:
        """Book those of the leases that ran out."""
        done = await self.pool.book(organisation, overdue)
        self._metrics.leases_ended.labels("account", How.EXPIRED).inc(done.expired)
        self.room.freed(organisation, done.freed)

    def _sorted(self, organisation: UUID, slips: Sequence[AnySlip]) -> Batch:
        now = asyncio.get_running_loop().time()
        batch = Batch()
        undelivered: list[End] = []
        for slip in slips:
            match slip:
                case Ask() if slip.future.cancelled():
                    if slip.ticket:
                        batch.left.append(slip.ticket)
                case Ask():
                    batch.asks.append(slip)
                    slip.taken_up = now
                    slip.calls = self.room.calls(organisation, slip.site)
                    if slip.wait_seconds == 0 or now >= slip.deadline or self.room.is_closed:
                        batch.last.add(slip)
                case End():
                    batch.ends.append(slip)
                case Renewal():
                    batch.renewals.append(slip)
                case Leave():
                    batch.left.append(slip.ticket)
                case Withdrawal():
                    undelivered += slip.ends
        ending = {end.lease for end in batch.ends}
        batch.ends += [end for end in undelivered if end.lease not in ending]
        return batch

    def _answer(self, organisation: UUID, done: Done) -> None:
        for end, given_back in done.ended.items():
            self._count_end(end, given_back)
            _resolve(end.future, given_back)
        for renewal, lease in done.renewed.items():
            if isinstance(lease, Problem):
                self._metrics.part(self._metrics.stale_calls, "heartbeat").inc()
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
                self.give_back(ask.caller, granted, ask.once)
            else:
                if ask not in done.repeated:
                    self._metrics.part(self._metrics.leases_granted, "account").inc(len(granted))
                self._hand_over(organisation, ask, granted, is_repeat=ask in done.repeated)

    def _hand_over(self, organisation: UUID, ask: Ask, granted: list[Grant], *, is_repeat: bool) -> None:
        opened, damaged = [], []
        for grant in granted:
            try:
                opened.append((grant, self.open_secret(organisation, grant.account.id, grant.secret)))
            except SecretsSealed as problem:
                if not problem.is_damaged:
                    self.give_back(ask.caller, granted, ask.once)
                    _resolve(ask.future, problem)
                    return
                damaged.append(grant)
        if not damaged:
            _resolve(ask.future, Offer(opened, None, ask.once, is_repeat=is_repeat))
            return
        returned = self.give_back(ask.caller, granted, ask.once)
        errand = asyncio.create_task(self._serve_others(ask, damaged, returned), name="set-aside")
        self._errands.add(errand)
        errand.add_done_callback(self._errands.discard)

    async def _serve_others(self, ask: Ask, damaged: Sequence[Grant], returned: asyncio.Future[Any]) -> None:
        """Set accounts aside that nobody can use, and see what else there is for the one who asked."""
        organisation = ask.caller.organisation
        aside = AccountChange(standing=Standing.BLOCKED, reason=_DAMAGED)
        try:
            await returned
            for grant in damaged:
                await self.pool.change(nobody(organisation), grant.account.id, aside)
        except Exception as error:  # whatever it is, the one who asked is told
            if not ask.future.done():
                ask.future.set_exception(error)
            return
        self.desk.put(organisation, ask)

    def _count_end(self, end: End, given_back: GivenBack | Problem) -> None:
        if isinstance(given_back, GivenBack) and not given_back.already_released:
            self._metrics.part(self._metrics.leases_ended, "account", end.how).inc()
        elif isinstance(given_back, Problem):
            self._metrics.part(self._metrics.stale_calls, "release").inc()

    def abandon(self, ask: Ask) -> None:
        """Nobody waits for the answer any more; what it may have brought is given back."""
        organisation = ask.caller.organisation
        if ask.future.done() and not ask.future.cancelled() and ask.future.exception() is None:
            self.take_back(ask.caller, ask.future.result())
        self.room.leave(organisation, ask)

    def leave(self, organisation: UUID, ask: Ask) -> None:
        """Give up its place in the queue, if it still has one."""
        if ask.ticket is not None:
            self.desk.put(organisation, Leave(ask.ticket, asyncio.get_running_loop().create_future()))
            ask.ticket = None

    def give_back(self, caller: Caller, grants: Sequence[Grant], once: Once | None) -> asyncio.Future[Any]:
        """Done when the future is, which nobody has to wait for."""
        future = asyncio.get_running_loop().create_future
        ends = [End(grant.lease.id, How.RELEASED, None, caller, future(), once) for grant in grants]
        withdrawal = Withdrawal(ends, future())
        for each in (withdrawal.future, *(end.future for end in ends)):
            each.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.desk.put(caller.organisation, withdrawal)
        return withdrawal.future


def _resolve(future: asyncio.Future[Any], result: object) -> None:
    if future.done():
        return
    if isinstance(result, Problem):
        future.set_exception(result)
    else:
        future.set_result(result)
