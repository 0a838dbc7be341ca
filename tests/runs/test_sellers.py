"""Products through one provider, their sellers through another: both shipped collectors, over real HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest

from leasehold.collectors import normalised_name
from leasehold.simulate import Goods
from tests.parts import providers as parts
from tests.parts.house import house
from tests.parts.postgres import TestDatabase
from tests.parts.providers import SECRET, Market
from tests.runs.conftest import UNBALANCED, World
from tests.runs.shop import Shop


@pytest.fixture(scope="module")
def market() -> Iterator[Market]:
    with parts.market(Goods(items=30)) as served:
        yield served


async def test_sellers_of_products_become_entities_however_their_name_is_spelled(
    database: TestDatabase, market: Market
) -> None:
    settings: dict[str, Any] = {
        "oxylabs_url": f"{market.address}/oxylabs",
        "oxylabs_username": "user",
        "oxylabs_password": SECRET,
        "ebay_url": f"{market.address}/ebay",
        "ebay_client_id": "user",
        "ebay_client_secret": SECRET,
    }
    async with house(database, **settings) as home:
        it = World(home, await home.caller(), Shop())
        products = await it.started("toys")
        assert (await it.over(products))["processed_items"] == 30
        sellers = await it.plan("toys", collector="ebay")
        await it.act(sellers, "start")

        done = await it.over(sellers)

        await it.entities_are_written()
        found = (await it.client.get("/v2/entities?kind=seller&limit=500")).json()["items"]
        one = (await it.client.get(f"/v2/entities/{found[0]['id']}")).json()
        documents = database.rows(
            "SELECT r.document FROM result r JOIN task t ON t.id = r.task WHERE t.platform = 'ebay'"
        )

    assert done["processed_items"] == 30
    seen = [normalised_name(row[0]["username"]) for row in documents]
    assert {normalised_name(seller["name"]) for seller in found} == set(seen)
    assert len(found) == len(set(seen)) < len(seen), "each seller stands once, and some were seen more than once"
    assert sum(seller["times_seen"] for seller in found) == len(seen)
    assert any(seller["aliases"] for seller in found)
    assert [record["source"] for record in one["records"]] == ["ebay"]
    assert {**one, "records": []} == found[0]
    assert {seller["first_seen_run_id"] for seller in found} == {sellers}
    assert all("feedback_score" in seller["attributes"] for seller in found)
    assert database.rows(UNBALANCED) == []
