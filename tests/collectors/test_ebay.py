"""Sellers on eBay: tokens that are kept and renewed, searches by product, and every seller once."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from leasehold.collectors import (
    BadCredentials,
    Ebay,
    EbayApi,
    ItemRefused,
    Product,
    ProviderDown,
    RateLimited,
    normalised_name,
    read_collector,
    read_prices,
)
from leasehold.collectors.files import CategoryFile, CollectorFile
from leasehold.simulate import Mode
from tests.parts import providers as parts
from tests.parts.providers import SECRET, Market, Shelf, access, shelf


@pytest.fixture
async def api(market: Market) -> AsyncIterator[EbayApi]:
    made = client(market)
    yield made
    await made.aclose()


def client(market: Market, name: str = "app", secret: str = SECRET) -> EbayApi:
    return EbayApi(access(f"{market.address}/ebay", name, secret), "EBAY_US", 30.0)


def collector(api: EbayApi, products: Shelf, items: int = 500) -> Ebay:
    file = CollectorFile(categories=[CategoryFile(id="toys", name="Toys", items=items)])
    return Ebay(file, read_prices(None), api, products)


async def test_many_who_begin_together_fetch_one_token(api: EbayApi, market: Market) -> None:
    await asyncio.gather(*(api.search(f"lamp {number}", limit=5) for number in range(20)))

    assert len(market.control.tokens) == 1
    assert market.paid("ebay").total() == 20


async def test_a_token_that_is_refused_is_renewed_once_and_the_search_goes_on(api: EbayApi, market: Market) -> None:
    await api.search("lamp", limit=5)
    market.control.tokens.clear()

    await asyncio.gather(*(api.search("lamp", limit=5) for _ in range(5)))

    assert len(market.control.tokens) == 1
    assert market.paid("ebay") == {"lamp": 6}


async def test_a_token_that_is_refused_again_is_no_endless_story(api: EbayApi, market: Market) -> None:
    class Nothing(set[str]):
        def __contains__(self, _token: object) -> bool:
            return False

    market.control.tokens = given = Nothing()

    with pytest.raises(BadCredentials, match="ebay answered 401: Invalid access token"):
        await api.search("lamp", limit=5)

    assert len(given) == 2
    market.control.tokens = set()


async def test_a_token_is_renewed_before_it_ends() -> None:
    with parts.market(token_seconds=0) as short:
        api = client(short)
        await api.search("lamp", limit=5)
        await api.search("lamp", limit=5)
        await api.aclose()

        assert len(short.control.tokens) == 2


@pytest.mark.parametrize(("name", "secret"), [("", SECRET), ("app", "")])
async def test_without_credentials_there_is_no_token(market: Market, name: str, secret: str) -> None:
    api = client(market, name, secret)

    with pytest.raises(BadCredentials, match=r"ebay gives no token \(401, invalid_client\)"):
        await api.search("lamp", limit=5)

    await api.aclose()


async def test_an_outage_of_the_tokens_is_the_providers(api: EbayApi, market: Market) -> None:
    market.control.modes["ebay"] = Mode.DOWN

    with pytest.raises(ProviderDown, match="ebay answered 503"):
        await api.search("lamp", limit=5)


async def test_an_outage_and_a_limit_of_searches_are_told_apart(api: EbayApi, market: Market) -> None:
    await api.search("lamp", limit=5)
    market.control.modes["ebay"] = Mode.DOWN
    with pytest.raises(ProviderDown, match="503: There was a problem with an eBay internal system"):
        await api.search("lamp", limit=5)

    market.control.modes["ebay"] = Mode.RATE_LIMITED
    with pytest.raises(RateLimited, match="The request limit has been reached") as limited:
        await api.search("lamp", limit=5)

    assert limited.value.retry_after_seconds == 2.0
    assert market.paid("ebay") == {"lamp": 1}


async def test_what_ebay_will_not_search_for_is_refused_as_an_item(api: EbayApi) -> None:
    with pytest.raises(ItemRefused, match="'limit' or 'offset' value is out of range") as refused:
        await api.search("lamp", limit=201)

    assert refused.value.code == "refused"


async def test_a_search_is_paged_to_its_end(api: EbayApi) -> None:
    whole = await api.search("lamp", limit=200)
    offset: int | None = 0
    pieces = []
    while offset is not None:
        page = await api.search("lamp", limit=7, offset=offset)
        pieces += page.items
        offset = page.next_offset

    assert whole.next_offset is None
    assert len(whole.items) == whole.total > 7
    assert pieces == whole.items


async def test_each_seller_stands_once_with_what_was_seen(api: EbayApi, market: Market) -> None:
    ebay = collector(api, Shelf())
    product = {"asin": "B000000001", "title": "Lamp 1", "category": "toys"}

    collected = await ebay.collect(product)

    listed = (await api.search("Lamp 1", limit=200)).items
    names = {item["seller"]["username"] for item in listed}
    sellers = {normalised_name(name) for name in names}
    assert len(names) > len(sellers), "nobody is spelt in two ways: the simulation is too kind"
    assert sorted(normalised_name(one["username"]) for one in collected.documents) == sorted(sellers)
    assert sum(one["item_count"] for one in collected.documents) == len(listed)
    assert all(one["product"] == product and one["feedback_score"] > 0 for one in collected.documents)
    assert all(92 <= float(one["feedback_percentage"]) <= 100 for one in collected.documents)
    assert collected.cost_micros == 0


async def test_sellers_of_one_product_sell_others(api: EbayApi) -> None:
    ebay = collector(api, Shelf())

    found = [await ebay.collect({"asin": "B000000001", "title": title}) for title in ("Lamp 1", "Lamp 2")]

    one, other = ({normalised_name(seller["username"]) for seller in each.documents} for each in found)
    assert one & other
    assert one != other


async def test_the_items_are_the_products_that_were_collected(api: EbayApi, market: Market) -> None:
    ebay = collector(api, shelf("toys", 230))

    first = await ebay.list("toys", None)
    second = await ebay.list("toys", first.cursor)
    third = await ebay.list("toys", second.cursor)

    assert [len(page.wishes) for page in (first, second, third)] == [100, 100, 30]
    assert [page.cursor for page in (first, second, third)] == ["100:p99", "200:p199", None]
    assert await ebay.list("toys", first.cursor) == second
    assert (third.known_items, third.cost_micros, market.paid("ebay").total()) == (230, 0, 0)
    wish = first.wishes[3]
    assert (wish.external_id, wish.item_type) == ("B000000003", "sellers")
    assert wish.payload == {"asin": "B000000003", "title": "Lamp 3", "category": "toys"}


@pytest.mark.parametrize(("products", "items", "pages"), [(230, 120, [100, 20]), (100, 100, [100]), (0, 5, [0])])
async def test_no_more_products_are_taken_than_are_wanted(
    api: EbayApi, products: int, items: int, pages: list[int]
) -> None:
    ebay = collector(api, shelf("toys", products), items)

    found = [await ebay.list("toys", None)]
    while found[-1].cursor:
        found.append(await ebay.list("toys", found[-1].cursor))

    assert [len(page.wishes) for page in found] == pages


async def test_a_long_title_is_cut_to_what_ebay_takes(api: EbayApi, market: Market) -> None:
    ebay = collector(api, Shelf([Product("B000000001", "word  " * 50, "toys", "p")]))

    (wish,) = (await ebay.list("toys", None)).wishes
    await ebay.collect(wish.payload)

    assert market.paid("ebay") == {wish.payload["title"]: 1}
    assert len(wish.payload["title"]) <= 100


def test_the_shipped_categories_are_those_of_the_products() -> None:
    ours, theirs = (read_collector(name, None).categories for name in ("ebay", "amazon"))

    assert [one.id for one in ours] == [one.id for one in theirs]
