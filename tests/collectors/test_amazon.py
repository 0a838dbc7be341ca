"""Products of Amazon through Oxylabs: found page by page, paid one by one, and what goes wrong told apart."""

from collections.abc import AsyncIterator
from datetime import date

import pytest

from leasehold.collectors import (
    Amazon,
    CategoryUnknown,
    ItemRefused,
    Listing,
    Oxylabs,
    ProviderDown,
    RateLimited,
    read_collector,
    read_prices,
)
from leasehold.collectors.files import CategoryFile, CollectorFile
from leasehold.simulate import Mode, asin_of, title_of
from tests.parts.ports import free_port
from tests.parts.providers import Market, access

TODAY = date(2026, 6, 1)


@pytest.fixture
async def amazon(market: Market) -> AsyncIterator[Amazon]:
    made = collector(market.address)
    yield made
    await made.aclose()


def collector(address: str, timeout_s: float = 30.0, file: CollectorFile | None = None) -> Amazon:
    oxylabs = Oxylabs(access(f"{address}/oxylabs"), timeout_s)
    return Amazon(file or read_collector("amazon", None), read_prices(None), oxylabs)


async def pages(amazon: Amazon, category: str) -> list[Listing]:
    found = [await amazon.list(category, None)]
    while found[-1].cursor is not None:
        found.append(await amazon.list(category, found[-1].cursor))
    return found


async def test_a_category_is_listed_to_its_end_and_each_page_is_paid_once(amazon: Amazon, market: Market) -> None:
    found = await pages(amazon, "toys")

    asins = [wish.external_id for page in found for wish in page.wishes]
    assert asins == [asin_of("toys", number) for number in range(1, 46)]
    assert [(len(page.wishes), page.cursor, page.known_items, page.cost_micros) for page in found] == [
        (20, "2:20", 45, 500), (20, "3:40", 45, 500), (5, None, 45, 500)
    ]  # fmt: skip
    assert market.paid("oxylabs") == {"search:toys:1": 1, "search:toys:2": 1, "search:toys:3": 1}
    wish = found[0].wishes[0]
    assert (wish.item_type, wish.category, wish.payload) == ("product", "toys", {"asin": asins[0], "category": "toys"})


async def test_the_same_cursor_gives_the_same_page_to_whoever_asks(amazon: Amazon, market: Market) -> None:
    first = await amazon.list("books", "2:20")
    other = collector(market.address)

    assert await other.list("books", "2:20") == first == await amazon.list("books", "2:20")
    await other.aclose()


async def test_no_more_are_found_than_are_wanted(market: Market) -> None:
    few = CollectorFile(categories=[CategoryFile(id="toys", name="Toys", items=23)])
    amazon = collector(market.address, file=few)

    found = await pages(amazon, "toys")

    assert [len(page.wishes) for page in found] == [20, 3]
    assert found[0].known_items == 23
    assert market.paid("oxylabs").total() == 2
    await amazon.aclose()


async def test_a_page_after_the_last_is_an_end_and_no_error(amazon: Amazon) -> None:
    assert await amazon.list("toys", "9:45") == Listing([], None, 45, 500)


async def test_a_product_is_one_document_at_its_price(amazon: Amazon, market: Market) -> None:
    asin = asin_of("toys", 7)

    collected = await amazon.collect({"asin": asin, "category": "toys"})

    (document,) = collected.documents
    assert collected.cost_micros == 500
    assert (document["asin"], document["category"], document["title"]) == (asin, "toys", title_of(asin))
    assert {"brand", "price", "currency", "rating", "departments", "images"} <= set(document)
    assert market.paid("oxylabs") == {asin: 1}


async def test_a_product_that_is_gone_is_refused_and_has_cost_something(amazon: Amazon, market: Market) -> None:
    gone = asin_of("toys", 10)

    with pytest.raises(ItemRefused, match=f"Amazon has no product {gone}") as refused:
        await amazon.collect({"asin": gone})

    assert (refused.value.code, refused.value.cost_micros) == ("not_found", 500)
    assert market.paid("oxylabs") == {gone: 1}


async def test_an_outage_on_command_is_the_providers_and_costs_nothing(amazon: Amazon, market: Market) -> None:
    market.control.modes["oxylabs"] = Mode.DOWN

    with pytest.raises(ProviderDown, match="oxylabs answered 503: Service Unavailable") as down:
        await amazon.collect({"asin": asin_of("toys", 1)})
    with pytest.raises(ProviderDown):
        await amazon.list("toys", None)

    assert (down.value.code, down.value.cost_micros, market.paid("oxylabs").total()) == ("provider_down", 0, 0)
    market.control.modes["oxylabs"] = Mode.OK
    assert (await amazon.collect({"asin": asin_of("toys", 1)})).documents


async def test_too_many_requests_say_when_to_come_again(amazon: Amazon, market: Market) -> None:
    market.control.modes["oxylabs"] = Mode.RATE_LIMITED

    with pytest.raises(RateLimited, match="answered 429: Exceeded rate limit") as limited:
        await amazon.collect({"asin": asin_of("toys", 1)})

    assert (limited.value.code, limited.value.retry_after_seconds) == ("rate_limited", 2.0)


async def test_an_answer_that_takes_too_long_is_an_outage(market: Market) -> None:
    amazon = collector(market.address, timeout_s=0.2)
    market.control.modes["oxylabs"] = Mode.SLOW

    with pytest.raises(ProviderDown, match=r"(did not answer within 0\.2 seconds|cannot be reached \(ReadTimeout\))"):
        await amazon.collect({"asin": asin_of("toys", 1)})

    await amazon.aclose()


async def test_nobody_who_listens_is_an_outage() -> None:
    amazon = collector(f"http://127.0.0.1:{free_port()}")

    with pytest.raises(ProviderDown, match=r"oxylabs cannot be reached \(ConnectError\)"):
        await amazon.list("toys", None)

    await amazon.aclose()


async def test_a_category_that_is_not_there_is_named(amazon: Amazon) -> None:
    with pytest.raises(CategoryUnknown, match="no category 'boats'"):
        await amazon.list("boats", None)
