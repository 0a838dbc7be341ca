"""Checkout: an account of a site, its session and some of its due seeds, taken together or not at all.

The account and the seeds may be in two databases, so there is no transaction over both. They are taken one after the
other, and what was taken first is given back, as if nobody had had it, when the other is not to be had. Who waits for
whichever is missing holds nothing meanwhile.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from leasehold.accounts import Accounts
from leasehold.accounts import Offer as AccountOffer
from leasehold.accounts import Wanted as AccountWanted
from leasehold.caller import Caller
from leasehold.idempotency import Once
from leasehold.leases import Offer, Waiting, Wanted
from leasehold.seeds import Seed, Seeds
from leasehold.sessions import Given, Sessions


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller asks for."""

    site: str
    owner: str
    seeds: int
    ttl_seconds: int = 120
    wait_seconds: float = 0
    priority: int = 4
    labels: Mapping[str, str] = field(default_factory=dict)
    job_id: str | None = None


@dataclass(frozen=True, slots=True)
class Keys:
    """Under which keys the two parts are asked for, so that a repeat finds both."""

    account: Once
    seeds: Once


@dataclass(frozen=True, slots=True)
class Bundle:
    """All of it, or why there is nothing."""

    account: AccountOffer | None = None
    session: Given | None = None
    seeds: Offer[Seed] | None = None
    waiting: Waiting | None = None


class Checkout:
    """Takes from three pools at once."""

    def __init__(self, accounts: Accounts, sessions: Sessions, seeds: Seeds) -> None:
        self._accounts = accounts
        self._sessions = sessions
        self._seeds = seeds

    async def take(self, caller: Caller, wish: Wish, keys: Keys | None = None) -> Bundle:
        """Waits as long as the caller said it would; first for the account, then for whichever is missing."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wish.wait_seconds
        while True:
            account = await self._account(caller, wish, keys, deadline - loop.time())
            if not account.grants:
                return Bundle(waiting=account.waiting)
            bundle = await self._with_seeds(caller, wish, keys, account)
            if bundle.account is not None or loop.time() >= deadline:
                return bundle
            seeds = await self._due(caller, wish, keys, deadline - loop.time())
            if not seeds.grants:
                return Bundle(waiting=seeds.waiting)
            bundle = await self._with_account(caller, wish, keys, seeds)
            if bundle.account is not None or loop.time() >= deadline:
                return bundle

    def take_back(self, caller: Caller, bundle: Bundle) -> None:
        """The one who asked is gone."""
        if bundle.account is not None:
            self._accounts.counter.take_back(caller, bundle.account)
        if bundle.seeds is not None:
            self._seeds.counter.take_back(caller, bundle.seeds)

    async def _with_seeds(self, caller: Caller, wish: Wish, keys: Keys | None, account: AccountOffer) -> Bundle:
        try:
            seeds = await self._due(caller, wish, keys, 0)
        except BaseException:
            self._accounts.counter.take_back(caller, account)
            raise
        if seeds.grants:
            return await self._whole(caller, account, seeds)
        await self._accounts.counter.give_back(caller, [grant for grant, _ in account.grants], account.once)
        return Bundle(waiting=seeds.waiting)

    async def _with_account(self, caller: Caller, wish: Wish, keys: Keys | None, seeds: Offer[Seed]) -> Bundle:
        try:
            account = await self._account(caller, wish, keys, 0)
        except BaseException:
            self._seeds.counter.take_back(caller, seeds)
            raise
        if account.grants:
            return await self._whole(caller, account, seeds)
        await self._seeds.give_back_unused(caller, seeds)
        return Bundle(waiting=account.waiting)

    async def _whole(self, caller: Caller, account: AccountOffer, seeds: Offer[Seed]) -> Bundle:
        lease = account.grants[0][0].lease
        try:
            along: Mapping[UUID, Given] = await self._sessions.give_along(caller, [lease])
        except BaseException:
            self.take_back(caller, Bundle(account, None, seeds))
            raise
        return Bundle(account, along.get(lease.id), seeds)

    async def _account(self, caller: Caller, wish: Wish, keys: Keys | None, wait_s: float) -> AccountOffer:
        wanted = AccountWanted(
            site=wish.site,
            owner=wish.owner,
            ttl_seconds=wish.ttl_seconds,
            wait_seconds=max(wait_s, 0),
            priority=wish.priority,
            count=1,
            labels=wish.labels,
            account=None,
            job_id=wish.job_id,
        )
        return await self._accounts.acquire(caller, wanted, keys.account if keys else None)

    async def _due(self, caller: Caller, wish: Wish, keys: Keys | None, wait_s: float) -> Offer[Seed]:
        wanted = Wanted(
            owner=wish.owner,
            site=wish.site,
            limit=wish.seeds,
            ttl_seconds=wish.ttl_seconds,
            wait_seconds=max(wait_s, 0),
            priority=wish.priority,
            job_id=wish.job_id,
        )
        return await self._seeds.acquire(caller, wanted, keys.seeds if keys else None)
