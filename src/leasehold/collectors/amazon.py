"""The collector `amazon`: products of a category, found by searching it page by page, one call for each product."""

import re
from datetime import date
from typing import Any

from leasehold.collectors.files import CategoryFile, CollectorFile
from leasehold.collectors.models import Category, CategoryUnknown, Collected, ItemRefused, Listing, Wish
from leasehold.collectors.oxylabs import PRODUCT, PROVIDER, SEARCH, Answer, Oxylabs, Useless
from leasehold.collectors.prices import Prices

ITEM_TYPE = "product"
_ASIN = re.compile(r"[A-Z0-9]{10}")
# What is kept of a product, if it is there.
_KEPT = (
    "title",
    "brand",
    "manufacturer",
    "price",
    "currency",
    "rating",
    "reviews_count",
    "stock",
    "url",
    "description",
)


class Amazon:
    slug = "amazon"
    platform = "amazon"
    provider = PROVIDER

    def __init__(self, file: CollectorFile, prices: Prices, oxylabs: Oxylabs) -> None:
        self._file = file
        self._prices = prices
        self._oxylabs = oxylabs

    async def aclose(self) -> None:
        await self._oxylabs.aclose()

    def categories(self, day: date) -> list[Category]:
        return [Category(one.id, one.name, one.items, self._unit(one, day)) for one in self._file.categories]

    def item_cost_micros(self, day: date) -> int:
        return self._prices.most(PRODUCT, day)

    def listing_cost_micros(self, day: date) -> int:
        return self._prices.most(SEARCH, day)

    async def list(self, category: str, cursor: str | None) -> Listing:
        """The cursor is the number of the page, and how many products stood on those before it."""
        wanted = self._category(category)
        page, before = (int(part) for part in (cursor or "1:0").split(":"))
        try:
            found = await self._oxylabs.search(wanted.words, wanted.node, self._file.domain, page)
        except Useless as useless:
            cost = self._prices.cost(SEARCH, useless.day)
            if useless.code == "not_found":  # pages after the last are no pages
                return Listing([], None, None, cost)
            raise _unreadable(f"Page {page} of {category}", cost) from None
        cost = self._prices.cost(SEARCH, found.day)
        asins = _organic(found, cost)[: wanted.items - before]
        seen = before + len(asins)
        is_last = not asins or seen >= wanted.items or page >= _number(found.content, "last_visible_page", page + 1)
        total = _number(found.content, "total_results_count", None)
        return Listing(
            [_wish(asin, category) for asin in asins],
            None if is_last else f"{page + 1}:{seen}",
            min(total, wanted.items) if total is not None else None,
            cost,
        )

    async def collect(self, payload: dict[str, Any]) -> Collected:
        asin = str(payload["asin"])
        try:
            found = await self._oxylabs.product(asin, self._file.domain)
        except Useless as useless:
            cost = self._prices.cost(PRODUCT, useless.day)
            if useless.code == "not_found":
                raise ItemRefused("not_found", f"Amazon has no product {asin}.", cost) from None
            raise _unreadable(f"The page of {asin}", cost) from None
        cost = self._prices.cost(PRODUCT, found.day)
        return Collected([_product(asin, payload.get("category"), found, cost)], cost)

    def _category(self, name: str) -> CategoryFile:
        for category in self._file.categories:
            if category.id == name:
                return category
        raise CategoryUnknown(f"The collector {self.slug} has no category {name!r}.")

    def _unit(self, category: CategoryFile, day: date) -> int | None:
        """Rounded up, so that all items together pay for all pages they stand on."""
        search, product = self._prices.known(SEARCH, day), self._prices.known(PRODUCT, day)
        if search is None or product is None:
            return None
        pages = -(-category.items // self._file.products_per_page)
        return product + -(-pages * search // category.items)


def _organic(found: Answer, cost: int) -> list[str]:
    """What was found by searching; what is paid for to be seen stands there as well, or nowhere.

    What is no ASIN is no product that could be asked for.
    """
    try:
        asins = [str(entry.get("asin") or "") for entry in found.content["results"]["organic"]]
        return [asin for asin in dict.fromkeys(asins) if _ASIN.fullmatch(asin)]
    except (LookupError, TypeError, AttributeError):
        raise _unreadable("The page of a search", cost) from None


def _unreadable(what: str, cost: int) -> ItemRefused:
    return ItemRefused("unparsable", f"{what} cannot be read.", cost)


def _number(content: dict[str, Any], name: str, otherwise: Any) -> Any:
    told = content.get(name)
    return told if isinstance(told, int) else otherwise


def _wish(asin: str, category: str) -> Wish:
    return Wish(asin, ITEM_TYPE, category, {"asin": asin, "category": category})


def _product(asin: str, category: Any, found: Answer, cost: int) -> dict[str, Any]:
    content = found.content
    kept = {name: content[name] for name in _KEPT if content.get(name) is not None}
    try:
        ladder = [step["name"] for branch in content.get("category") or [] for step in branch.get("ladder") or []]
    except (LookupError, TypeError, AttributeError):
        ladder = []
    if not kept.get("title"):
        raise _unreadable(f"The page of {asin}", cost)
    return {"asin": asin, "category": category, **kept, "departments": ladder, "images": content.get("images") or []}
