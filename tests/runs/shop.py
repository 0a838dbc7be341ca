"""A provider of the tests: a collector without a network, that does as it is told."""

import asyncio
import math
from collections import Counter
from datetime import date
from typing import Any

from leasehold.collectors import Category, Collected, ItemRefused, Listing, ProviderDown, Wish

PRICE = 500
LISTING = 500
PAGE = 20


class Shop:
    """Products by category; counts what it was asked."""

    slug, platform, provider = "amazon", "amazon", "shop"

    def __init__(self, **sizes: int) -> None:
        self.sizes = sizes
        self.wanted = dict(sizes)
        self.listing_cost = 0
        self.price = PRICE  # as its table says
        self.charged: int | None = None  # what is paid in the end, where that is another
        self.listing_charged: int | None = None
        self.asked: Counter[str] = Counter()
        self.listed: Counter[tuple[str, str | None]] = Counter()
        self.bad: set[int] = set()
        self.odd: set[int] = set()  # listed under a number that the platform does not take
        self.is_down = False
        self.is_listing = False  # also when it is down
        self.refusal_cost = 0
        self.open = asyncio.Event()
        self.open.set()
        self.shelves = asyncio.Event()  # closed, no page comes
        self.shelves.set()
        self.breaks = 0  # so many pages end in something that nobody expects
        self.names: dict[int, str] = {}  # what some are listed as
        self.left = 0  # so many did not wait for their page

    def categories(self, day: date) -> list[Category]:
        return [
            Category(name, name.title(), many, self.price + self._share(many)) for name, many in self.wanted.items()
        ]

    def _share(self, many: int) -> int:
        """What each item adds so that all of them together pay for all pages they stand on."""
        pages = math.ceil(many / PAGE)
        return math.ceil(pages * self.listing_cost / many)

    def item_cost_micros(self, day: date) -> int:
        return self.price

    def listing_cost_micros(self, day: date) -> int:
        return self.listing_cost

    async def list(self, category: str, cursor: str | None) -> Listing:
        self.listed[category, cursor] += 1
        try:
            await self.shelves.wait()
        except asyncio.CancelledError:
            self.left += 1
            raise
        if self.is_down and not self.is_listing:
            raise ProviderDown("It is down.")
        if self.breaks:
            self.breaks -= 1
            raise LookupError("a bug")
        first = int(cursor or 0)
        last = min(first + PAGE, self.sizes[category])
        wishes = [
            Wish(
                self.names.get(n, f"{category}-{n}"),
                "product",
                category,
                {"asin": "?" if n in self.odd else asin(n), "category": category},
            )
            for n in range(first, last)
        ]
        following = str(last) if last < self.sizes[category] else None
        cost = self.listing_cost if self.listing_charged is None else self.listing_charged
        return Listing(wishes, following, self.sizes[category], cost)

    async def collect(self, payload: dict[str, Any]) -> Collected:
        self.asked[f"{payload['category']}-{payload['asin']}"] += 1
        await self.open.wait()
        if self.is_down:
            raise ProviderDown("It is down.")
        if int(payload["asin"]) in self.bad:
            raise ItemRefused("not_found", "There is no such product.", self.refusal_cost)
        cost = self.price if self.charged is None else self.charged
        return Collected([{"asin": payload["asin"], "title": f"Product {payload['asin']}"}], cost)

    async def aclose(self) -> None:
        return


def asin(number: int) -> str:
    return f"{number:010d}"
