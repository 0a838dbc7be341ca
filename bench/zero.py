"""A collector that costs nothing and takes no time, so that what is measured is ours alone."""

from collections.abc import Mapping
from datetime import date
from typing import Any
from uuid import UUID

from leasehold.collectors import Category, Collected, Collector, Listing, Wish

PLATFORM = """
platform: bench
task_types:
  page:
    schema: {type: object, required: [page], additionalProperties: false, properties: {page: {type: string}}}
    example: {page: front}
limits: {concurrency: 5000, rate: {tasks: 1000000, per_seconds: 1.0, burst: 1000000}}
"""
CATEGORY = "all"
_PAGE = 100


class Zero:
    """So many items, on pages of a hundred."""

    slug = "zero"
    platform = "bench"
    provider = "nobody"

    def __init__(self, items: int) -> None:
        self._items = items
        self.collected = 0

    def categories(self, day: date) -> list[Category]:
        return [Category(CATEGORY, "Everything", self._items, 1)]

    def item_cost_micros(self, day: date) -> int:
        return 1

    def listing_cost_micros(self, day: date) -> int:
        return 0

    async def list(self, category: str, cursor: str | None) -> Listing:
        first = int(cursor or 0)
        last = min(self._items, first + _PAGE)
        wishes = [Wish(f"item-{n}", "page", category, {"page": f"item-{n}"}) for n in range(first, last)]
        return Listing(wishes, str(last) if last < self._items else None, self._items, 0)

    async def collect(self, payload: dict[str, Any]) -> Collected:
        self.collected += 1
        return Collected([{"title": payload["page"], "words": ["one", "two"]}], 1)

    async def aclose(self) -> None:
        return


class ZeroShelf:
    """The one collector, for every organisation."""

    def __init__(self, items: int) -> None:
        self._made: Mapping[str, Collector] = {Zero.slug: Zero(items)}

    def __call__(self, _organisation: UUID) -> Mapping[str, Collector]:
        return self._made

    async def aclose(self) -> None:
        return
