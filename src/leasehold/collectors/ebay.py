"""The collector `ebay`: who sells the products that were collected before, one search for each product."""

from datetime import date
from typing import Any

from leasehold.collectors.ebay_api import LONGEST_QUERY, MOST_ON_A_PAGE, PROVIDER, EbayApi
from leasehold.collectors.files import CategoryFile, CollectorFile
from leasehold.collectors.models import (
    Category,
    CategoryUnknown,
    Collected,
    ItemRefused,
    Listing,
    Product,
    Products,
    Wish,
)
from leasehold.collectors.names import normalised_name
from leasehold.collectors.prices import Prices

ITEM_TYPE = "sellers"
SOURCE = "item_summary_search"
_PRODUCTS_ON_A_PAGE = 100


class Ebay:
    slug = "ebay"
    platform = "ebay"
    provider = PROVIDER

    def __init__(self, file: CollectorFile, prices: Prices, api: EbayApi, products: Products) -> None:
        self._file = file
        self._prices = prices
        self._api = api
        self._products = products

    async def aclose(self) -> None:
        await self._api.aclose()

    def categories(self, day: date) -> list[Category]:
        unit = self._prices.known(SOURCE, day)
        return [Category(one.id, one.name, one.items, unit) for one in self._file.categories]

    def item_cost_micros(self, day: date) -> int:
        return self._prices.most(SOURCE, day)

    def listing_cost_micros(self, day: date) -> int:
        return 0  # the products are ours already

    async def list(self, category: str, cursor: str | None) -> Listing:
        """The cursor is how many products came before, and the position of the last of them."""
        wanted = self._category(category)
        before, position = _read(cursor)
        limit = min(_PRODUCTS_ON_A_PAGE, wanted.items - before)
        products = await self._products.after(category, position, limit)
        seen = before + len(products)
        is_last = len(products) < limit or seen >= wanted.items
        return Listing(
            [_wish(product, category) for product in products],
            None if is_last else f"{seen}:{products[-1].position}",
            seen if is_last else None,
            0,
        )

    async def collect(self, payload: dict[str, Any]) -> Collected:
        product = {name: payload.get(name) for name in ("asin", "title", "category")}
        page = await self._api.search(str(payload["title"]), limit=MOST_ON_A_PAGE)
        return Collected(_sellers(page.items, product), self._prices.cost(SOURCE, page.day))

    def _category(self, name: str) -> CategoryFile:
        for category in self._file.categories:
            if category.id == name:
                return category
        raise CategoryUnknown(f"The collector {self.slug} has no category {name!r}.")


def _read(cursor: str | None) -> tuple[int, str | None]:
    if cursor is None:
        return 0, None
    before, _, position = cursor.partition(":")
    return int(before), position


def _wish(product: Product, category: str) -> Wish:
    # Longer than eBay takes would only make two payloads of one search.
    title = " ".join(product.title.split())[:LONGEST_QUERY].rstrip()
    return Wish(product.asin, ITEM_TYPE, category, {"asin": product.asin, "title": title, "category": category})


def _sellers(items: list[dict[str, Any]], product: dict[str, Any]) -> list[dict[str, Any]]:
    """Each seller once, however the name is written, with how many of the listings are theirs."""
    found: dict[str, dict[str, Any]] = {}
    try:
        for seller in (item["seller"] for item in items if item.get("seller")):
            name = str(seller["username"])
            mine = found.setdefault(normalised_name(name), _seller(name, seller, product))
            mine["item_count"] += 1
    except (LookupError, TypeError, AttributeError):
        raise ItemRefused("unparsable", f"A listing that {PROVIDER} found cannot be read.") from None
    return list(found.values())


def _seller(name: str, seller: dict[str, Any], product: dict[str, Any]) -> dict[str, Any]:
    return {
        "username": name,
        "feedback_score": seller.get("feedbackScore"),
        "feedback_percentage": seller.get("feedbackPercentage"),
        "item_count": 0,
        "product": product,
    }
