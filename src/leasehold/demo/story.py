"""What happens in the demo's world: everybody who works there, each a loop of a few lines, until it is stopped."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import httpx

from leasehold.client import AsyncLeasehold, ProblemError
from leasehold.demo.collectors import Collector
from leasehold.demo.comparing import move_house, settle
from leasehold.demo.office import Office
from leasehold.demo.patience import until
from leasehold.demo.visiting import Login, Trouble, Visit, browsing
from leasehold.demo.workers import crawler
from leasehold.demo.world import Place, World
from leasehold.simulate import Mode

Say = Callable[[str], None]

_PRODUCTS, _SELLERS = "amazon", "ebay"
_SMALL_BUDGET_MICROS = 20_000
_OUTAGE_S = 10.0
# Threads are looked at again soon enough to see it.
_SOON = {"interval_seconds": 90, "min_interval_seconds": 30, "max_interval_seconds": 600}


class Story:
    """The demo from its first site to its end."""

    def __init__(self, world: World, address: str, token: str, seed: int, say: Say) -> None:
        self._world = world
        self._address = address
        self._chance = random.Random(seed)  # noqa: S311 (the same story for the same seed)
        self._say = say
        self._office = Office(address, token)
        self._manager = AsyncLeasehold(address, token, trust_env=False)

    async def play(self) -> None:
        """Until it is cancelled."""
        collecting = await self._office.token("collectors of the demo", "collector")
        asking = await self._office.token("producers of the demo", "producer")
        async with (
            self._manager,
            AsyncLeasehold(self._address, collecting, trust_env=False) as lh,
            AsyncLeasehold(self._address, asking, trust_env=False) as producer,
        ):
            for place in self._world.boards:
                await settle(self._manager, place, _SOON, max_concurrent_accounts=6)
            await self._spoil_one_password()
            worker = crawler(self._address, collecting)
            try:
                async with asyncio.TaskGroup() as group:
                    for number, place in enumerate(self._world.boards * 3, 1):
                        one = Collector(lh, f"collector-{number}", place, pause_s=1.0)
                        group.create_task(_again_and_again(one.work, self._say))
                    loops = [self._consume, self._pry, self._move, self._run, self._sell, self._sweep]
                    for loop in loops:
                        group.create_task(_again_and_again(loop, self._say))
                    group.create_task(_again_and_again(lambda: self._ask(producer), self._say))
                    group.create_task(worker.serve())
            finally:
                await self._office.close()

    async def _spoil_one_password(self) -> None:
        place = self._world.boards[0]
        name = next(iter(place.board.members))
        await self._manager.accounts.import_(
            [{"site": place.slug, "username": name, "secret": {"password": "changed meanwhile"}}]
        )

    async def _consume(self) -> None:
        """Somebody takes captures and is not happy with all of them."""
        found = await self._manager.captures.acquire(owner="archive", limit=3, ttl=30, wait=10)
        for lease in found.leases:
            await asyncio.sleep(0.6)
            outcome = self._chance.choices(["ok", "failed", "rejected"], [8, 1, 1])[0]
            reason = None if outcome == "ok" else "the page is cut off"
            await self._manager.captures.release(lease.id, outcome=outcome, reason=reason)

    async def _pry(self) -> None:
        """A colleague uses an account by hand that a collector holds; the board blocks it. Later it is let back."""
        place = self._world.boards[0]
        await asyncio.sleep(4)
        blocked = [one async for one in self._manager.accounts.all(site=place.slug, state="blocked")]
        if len(blocked) >= 3:
            place.board.unblock(blocked[0].username)
            await self._manager.accounts.change(blocked[0].id, state="active")
            self._say(f"{blocked[0].username} of {place.slug} is let back in")
            await asyncio.sleep(30)
        held = [one async for one in self._manager.leases.all(kind="account", site=place.slug)]
        if held and await self._use_by_hand(place, held[0].resource_id):
            await asyncio.sleep(8)

    async def _use_by_hand(self, place: Place, account_id: str) -> bool:
        username = (await self._manager.accounts.get(account_id)).username
        member = place.board.members[username]
        async with browsing("a colleague's browser", place, httpx.Cookies()) as web:
            try:
                await Visit(web, Login(username, member.password)).read(place.url(1))
            except Trouble:
                self._say(f"a colleague used {username} of {place.slug} by hand: the board blocked it")
                return True
        return False

    async def _move(self) -> None:
        """The forum changes its domain now and then; sessions and seeds go along."""
        place = self._world.boards[1]
        await asyncio.sleep(20)
        host = f"forum-{len(place.board.hosts) + 1}.localhost"
        await move_house(self._manager, place, host)
        self._say(f"forum lives at {host} now; its sessions and seeds have moved along")
        await asyncio.sleep(60)

    async def _ask(self, producer: AsyncLeasehold) -> None:
        """Producers want crawls; nobody works on facebook."""
        number = self._chance.randrange(100)
        await producer.jobs.submit("youtube", "search", {"query": f"moon {number}"})
        await producer.jobs.submit("tiktok", "hashtag", {"tag": f"space{number}"})
        if number % 10 == 0:
            await producer.jobs.submit("facebook", "page", {"page": f"page{number}"})
        await asyncio.sleep(4)

    async def _run(self) -> None:
        """A long run, and a small one whose budget is soon used up."""
        await self._begin(_PRODUCTS, "toys", "Toys, for their sellers")
        long = await self._begin(_PRODUCTS, "electronics", "All of electronics")
        short = await self._begin(_PRODUCTS, "books", "Books on a small budget")
        await self._office.patch(f"/v2/runs/{short}", {"budget_cap_micros": _SMALL_BUDGET_MICROS})
        self._say("runs have begun; one of them may not spend much")
        await self._until_over(long)

    async def _sell(self) -> None:
        """A run at a provider that goes down and comes back."""

        async def has_products() -> bool:
            return bool((await self._office.get("/v2/runs", status="completed", limit=1))["items"])

        await until(has_products)
        control = self._world.market.control
        control.modes["ebay"] = Mode.DOWN
        run = await self._begin(_SELLERS, "toys", "Sellers of toys")

        async def is_waiting() -> bool:
            return bool((await self._office.get(f"/v2/runs/{run}"))["pause_reason"] == "provider_down")

        await until(is_waiting)
        self._say("eBay is down: the run at its sellers waits for it")
        await asyncio.sleep(_OUTAGE_S)
        control.modes["ebay"] = Mode.OK
        self._say("eBay is back")
        await self._until_over(run)
        await asyncio.sleep(20)

    async def _until_over(self, run: str) -> None:
        async def is_over() -> bool:
            return (await self._office.get(f"/v2/runs/{run}"))["status"] in ("completed", "failed", "cancelled")

        await until(is_over, 2)

    async def _begin(self, collector: str, category: str, name: str) -> str:
        made = await self._office.post("/v2/runs", {"collector": collector, "categories": [category], "name": name})
        await self._office.post(f"/v2/runs/{made['id']}/start")
        return str(made["id"])

    async def _sweep(self) -> None:
        """Sources are read; now and then somebody in them has changed."""
        for name in self._world.boxes.boxes.names:
            await self._office.post(f"/v2/sources/{name}/start", {})
        await asyncio.sleep(30)
        for box in self._world.boxes.boxes.boxes.values():
            box.touch(self._chance.choice(list(box.live()))["id"])


async def _again_and_again(loop: Callable[[], Awaitable[None]], say: Say) -> None:
    """One loop's trouble is told and tried again; it is no reason to end the demo."""
    while True:
        try:
            await loop()
        except (httpx.HTTPError, ProblemError) as error:
            say(f"(something went wrong and is tried again: {type(error).__name__})")
            await asyncio.sleep(2)
