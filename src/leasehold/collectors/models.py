"""What a collector is: categories with a price, items that are found page by page, and one paid call for each."""

from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Category:
    """Something that can be collected, and what that costs."""

    id: str
    name: str
    items: int  # so many are wanted at the most
    unit_cost_micros: int | None  # of one item, with its share of finding it; None when nobody wrote down its price


@dataclass(frozen=True, slots=True)
class Wish:
    """One item that was found and is wanted: one paid call of its worker."""

    external_id: str
    item_type: str  # the task type at the collector's platform
    category: str
    payload: dict[str, Any]  # passes the schema of that task type


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of items."""

    wishes: list[Wish]
    cursor: str | None  # where the next page begins; None when this was the last
    known_items: int | None  # how many there will be in all, if the provider says so
    cost_micros: int


@dataclass(frozen=True, slots=True)
class Collected:
    """What one item brought."""

    documents: list[dict[str, Any]]
    cost_micros: int


@dataclass(frozen=True, slots=True)
class Product:
    """Something that was collected before, and that others can be found by."""

    asin: str
    title: str
    category: str
    position: str  # a cursor: what comes after it is asked for by this


class Products(Protocol):
    """Where collected products are: in a list, and wherever runs keep theirs."""

    async def after(self, category: str, cursor: str | None, limit: int) -> list[Product]:
        """The next products of a category, always in the same order. Fewer than `limit` means there are no more."""


class Collector(Protocol):
    """Finds items lazily and collects them one by one. Keeps no state: it may die between any two calls."""

    slug: str
    platform: str  # of the job broker: what its items go through
    provider: str  # who is paid, and who may be down

    def categories(self, day: date) -> list[Category]:
        """What can be collected, at the prices of that day."""

    def item_cost_micros(self, day: date) -> int:
        """What one call of `collect` costs at the most, when it is begun on that day."""

    def listing_cost_micros(self, day: date) -> int:
        """What one call of `list` costs at the most. Raises PriceUnknown."""

    async def list(self, category: str, cursor: str | None) -> Listing:
        """One page of the provider. The same cursor gives the same page, as far as the provider does."""

    async def collect(self, payload: dict[str, Any]) -> Collected:
        """One item, by the payload of its wish."""

    async def aclose(self) -> None:
        """Give its connections back."""


class CollectorError(Exception):
    """Something was not collected. What it says may be shown: no secret is in it."""

    code: str
    cost_micros: int = 0  # most providers want nothing for what they did not bring


class ProviderDown(CollectorError):
    """Nothing can be had of this provider just now: it answers 5xx, not in time, or not at all."""

    code = "provider_down"


class BadCredentials(CollectorError):
    """The provider does not let us in, or not there."""

    code = "bad_credentials"


class RateLimited(CollectorError):
    """We asked too often."""

    code = "rate_limited"

    def __init__(self, retry_after_seconds: float, message: str = "We asked too often.") -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ItemRefused(CollectorError):
    """This one item cannot be had; others may be."""

    def __init__(self, code: str, message: str, cost_micros: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.cost_micros = cost_micros


class CategoryUnknown(CollectorError):
    """The collector has no such category."""

    code = "category_unknown"
