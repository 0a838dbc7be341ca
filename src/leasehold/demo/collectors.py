"""Collectors that work with leases: everything they need they ask leasehold for, over HTTP, through the SDK."""

import asyncio
from contextlib import suppress

from leasehold.client import AsyncLeasehold, HeldAccount, LeaseLost, NothingFree, SeedGrant, jar_from, with_jar
from leasehold.demo.visiting import (
    AccountBlocked,
    Login,
    Moved,
    Page,
    TooOften,
    Trouble,
    Visit,
    WrongPassword,
    browsing,
    look_up,
)
from leasehold.demo.world import Market, Place


class Collector:
    """Takes an account with its session, visits what is due, hands in what it finds, and gives everything back."""

    def __init__(
        self, lh: AsyncLeasehold, name: str, place: Place, market: Market | None = None, pause_s: float = 0.3
    ) -> None:
        self._lh = lh
        self._name = name
        self._place = place
        self._market = market
        self._pause_s = pause_s

    async def work(self, pages: int = 4) -> None:
        """One round; a rest where nothing was to be had."""
        with suppress(NothingFree, LeaseLost):
            if await self.round(pages):
                return
        await asyncio.sleep(2)

    async def round(self, pages: int) -> int:
        """Visit up to so many seeds with one account; returns how many were visited. Raises NothingFree."""
        async with self._lh.account(self._place.slug, owner=self._name, wait=60, include_session=True) as lease:
            async with self._lh.session(lease) as session:
                before = session.storage_state
                async with browsing(self._name, self._place, jar_from(before)) as web:
                    visit = Visit(web, Login(lease.username, lease.secret["password"]))
                    visited, is_signed_in = await self._visit_some(visit, lease, pages)
                    if visited and is_signed_in:
                        await session.save(with_jar(before, web.cookies), health="ok")
            return visited

    async def _visit_some(self, visit: Visit, lease: HeldAccount, pages: int) -> tuple[int, bool]:
        for number in range(pages):
            found = await self._lh.seeds.acquire(owner=self._name, site=self._place.slug)
            if not found.leases:
                return number, True
            (seed,) = found.leases
            try:
                await self._visit(visit, lease, seed)
            except Trouble as trouble:
                _tell(lease, trouble)
                return number + 1, not isinstance(trouble, AccountBlocked | WrongPassword)
        return pages, True

    async def _visit(self, visit: Visit, lease: HeldAccount, grant: SeedGrant) -> None:
        page: Page | None = None
        is_home = False
        try:
            await asyncio.sleep(self._pause_s)  # as long as a person reads
            page = await visit.read(str(grant.seed.url))
            if self._market and page.product:
                await look_up(self._market, page.product)
            await self._hand_in(page, lease, grant)
            is_home = True
        finally:
            if page and is_home:
                new = max(page.posts - int(grant.seed.cursor or 0), 0)
                await self._lh.seeds.release(grant.id, outcome="ok", found=new, cursor=page.posts)
            else:
                await self._lh.seeds.release(grant.id, outcome="failed", reason="the page was not to be had")

    async def _hand_in(self, page: Page, lease: HeldAccount, grant: SeedGrant) -> None:
        await self._lh.captures.upload(
            site=self._place.slug,
            url=page.url,
            files={"page.html": (page.content, "text/html")},
            seed_id=grant.seed.id,
            account_id=lease.account.id,
            lease_id=lease.id,
        )


def _tell(lease: HeldAccount, trouble: Trouble) -> None:
    """Say what became of the account; what follows from that is leasehold's to decide."""
    match trouble:
        case AccountBlocked():
            lease.blocked("the board says so")
        case WrongPassword():
            lease.invalid_credentials("the board does not take the password")
        case TooOften(rest_s=rest_s):
            lease.rate_limited("too many pages", cooldown_s=rest_s)
        case Moved(url=url):
            lease.ok(f"the board has moved: {url}")
