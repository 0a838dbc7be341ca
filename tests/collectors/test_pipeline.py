"""Items of collectors as jobs: by the shipped platforms, with what the providers answer, through the handlers."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from leasehold.collectors import Collector, ItemRefused, Product, make, normalised_name
from leasehold.jobs.messages import CrawlerResult
from leasehold.jobs.pipeline import prepare
from leasehold.platforms import SHIPPED, read
from leasehold.simulate import asin_of, title_of
from tests.parts.broker import Broker, chunk, failed, last
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.providers import Market, Shelf


@pytest.fixture
async def home(database: TestDatabase) -> AsyncIterator[House]:
    async with house(database) as made:
        yield made


@pytest.fixture
async def broker(home: House) -> Broker:
    return Broker(await home.caller())


async def submit(broker: Broker, collector: Collector, category: str) -> None:
    wish = (await collector.list(category, None)).wishes[0]
    await broker.submit(collector.platform, job_id="one", task_type=wish.item_type, payload=wish.payload)


async def test_items_of_both_collectors_become_documents(broker: Broker, market: Market) -> None:
    asin = asin_of("toys", 1)
    made = make(market.providers, Shelf([Product(asin, title_of(asin), "toys", "1")]))
    await submit(broker, made["amazon"], "toys")
    lease = await broker.take("amazon")

    product = await made["amazon"].collect(lease["task"]["payload"])
    metrics = {"cost_micros": product.cost_micros}
    await broker.bring(chunk(lease, "all", *product.documents, *product.documents, metrics=metrics), last(lease))

    (document,) = await broker.documents("one")
    assert (document["asin"], document["title"]) == (asin, title_of(asin))
    assert (await broker.job("one"))["status"] == "completed"

    wish = (await made["ebay"].list("toys", None)).wishes[0]
    await broker.submit("ebay", job_id="two", task_type=wish.item_type, payload=wish.payload)
    lease = await broker.take("ebay")
    sellers = await made["ebay"].collect(lease["task"]["payload"])
    again = sellers.documents[0] | {"username": sellers.documents[0]["username"].upper() + "!"}
    await broker.bring(chunk(lease, "all", *sellers.documents, again), last(lease))

    written = await broker.documents("two")
    names = [document["normalised_name"] for document in written]
    assert names == [normalised_name(document["username"]) for document in sellers.documents]
    assert len(set(names)) == len(names), "a seller in another spelling is the same"
    assert {document["product"]["asin"] for document in written} == {asin}
    for collector in made.values():
        await collector.aclose()


async def test_an_item_that_is_gone_fails_at_once_and_is_tried_no_more(broker: Broker, market: Market) -> None:
    amazon = make(market.providers, Shelf())["amazon"]
    payload = {"asin": asin_of("toys", 10), "category": "toys"}
    await broker.submit("amazon", job_id="one", task_type="product", payload=payload)
    lease = await broker.take("amazon")

    with pytest.raises(ItemRefused) as refused:
        await amazon.collect(lease["task"]["payload"])
    await broker.bring(failed(lease, refused.value.code))

    job = await broker.job("one")
    assert (job["status"], job["sub_status"], job["attempt"]) == ("failed", "not_found", 1)
    await amazon.aclose()


async def test_an_outage_and_a_limit_put_an_item_off_without_an_attempt(broker: Broker) -> None:
    codes = ["provider_down", "rate_limited"]
    for number, code in enumerate(codes, 1):
        await broker.submit("amazon", job_id=code, task_type="product", payload={"asin": asin_of("toys", number)})
        lease = await broker.take("amazon")
        await broker.bring(failed(lease, code, retry_after_seconds=60))

    jobs = [await broker.job(code) for code in codes]

    assert [(job["status"], job["attempt"]) for job in jobs] == [("pending", 1), ("pending", 1)]
    assert [job["parts"][0]["snoozes"] for job in jobs] == [1, 1]


@pytest.mark.parametrize(
    ("platform", "document", "why"),
    [
        ("amazon", {"asin": "B1", "title": "Lamp"}, "It has no ASIN of ten letters and digits."),
        ("amazon", {"asin": "B000000001", "title": " "}, "It has no title."),
        ("ebay", {"username": " ", "product": {"asin": "B000000001"}}, "It has no name."),
        ("ebay", {"username": "ann"}, "It does not say of which product."),
    ],
)
def test_a_document_that_says_too_little_is_refused(platform: str, document: dict[str, Any], why: str) -> None:
    about = {"job_id": "one", "attempt": 1, "fence": 1, "platform": platform, "task_type": "any", "status": "success"}
    message = CrawlerResult.model_validate({**about, "cursor": 1, "payload_chunk": [document]})

    prepared = prepare(message, read(SHIPPED).platforms[platform])

    assert [(refused.document, refused.why) for refused in prepared.refused] == [(document, why)]
    assert prepared.documents == []
