"""A house with a shop, and what is done with runs in it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.runs.shop import Shop

JSON = dict[str, Any]
PATIENCE_S = 60.0


class World:
    """Runs of one organisation, over HTTP."""

    def __init__(self, home: House, client: httpx.AsyncClient, shop: Shop) -> None:
        self.home = home
        self.client = client
        self.shop = shop
        self.database = home.database

    async def plan(self, *categories: str, **more: Any) -> str:
        body = {"collector": "amazon", "categories": list(categories or self.shop.sizes), **more}
        answer = await self.client.post("/v2/runs", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def act(self, run: str, act: str, status: int = 200) -> JSON:
        answer = await self.client.post(f"/v2/runs/{run}/{act}")
        assert answer.status_code == status, answer.text
        found: JSON = answer.json()
        return found

    async def started(self, *categories: str, **more: Any) -> str:
        run = await self.plan(*categories, **more)
        await self.act(run, "start")
        return run

    async def get(self, run: str) -> JSON:
        found: JSON = (await self.client.get(f"/v2/runs/{run}")).json()
        return found

    async def until(self, run: str, is_so: Callable[[JSON], object]) -> JSON:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not is_so(found := await self.get(run)):
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"this never came to be: {await self.get(run)}") from None
        return found

    async def entities_are_written(self) -> None:
        """Until the writer has taken in everything the runs have seen."""
        async with asyncio.timeout(PATIENCE_S):
            while self.database.rows("SELECT FROM record_queue"):
                await asyncio.sleep(0.02)

    async def over(self, run: str, status: str = "completed") -> JSON:
        return await self.until(run, lambda found: found["status"] == status and found["sub_status"] is None)

    async def items(self, run: str, **which: str) -> list[JSON]:
        return await self._all(f"/v2/runs/{run}/items", **which)

    async def ledger(self, run: str) -> list[JSON]:
        return await self._all(f"/v2/runs/{run}/ledger")

    async def events(self, run: str) -> list[JSON]:
        items: list[JSON] = (await self.client.get(f"/v2/runs/{run}/events?limit=500")).json()["items"]
        return items

    async def told(self, run: str) -> list[str]:
        """What happened, without how far it was."""
        return [event["type"] for event in await self.events(run) if event["type"] not in ("items", "progress")]

    async def allow(self, **changes: int) -> None:
        assert (await self.client.put("/v2/settings", json=changes)).status_code == 200

    async def _all(self, path: str, **which: str) -> list[JSON]:
        found: list[JSON] = []
        cursor: dict[str, str] = {}
        while True:
            page = (await self.client.get(path, params={"limit": "500", **which, **cursor})).json()
            found += page["items"]
            if page["next_cursor"] is None:
                return found
            cursor = {"cursor": page["next_cursor"]}


Opened = Callable[[], Awaitable[World]]


@asynccontextmanager
async def world(database: TestDatabase, shop: Shop, **more: Any) -> AsyncIterator[World]:
    async with house(database, collectors=lambda _organisation: {"amazon": shop}, **more) as home:
        yield World(home, await home.caller(), shop)


@pytest.fixture
def shop() -> Shop:
    return Shop(toys=45)


@pytest.fixture
async def it(database: TestDatabase, shop: Shop) -> AsyncIterator[World]:
    async with world(database, shop) as made:
        yield made
        assert database.rows(UNBALANCED) == []


# Runs whose money or items do not add up, whatever the code says of itself.
UNBALANCED = """
SELECT r.id FROM run r
 WHERE (r.reserved_micros, r.spent_micros) IS DISTINCT FROM
       (SELECT (coalesce(sum(l.reserved_micros), 0)::bigint, coalesce(sum(l.spent_micros), 0)::bigint)
          FROM run_ledger l WHERE l.run = r.id)
    OR r.processed_items <> (SELECT count(*) FROM run_item i WHERE i.run = r.id AND i.status = 'completed')
    OR r.failed_items <> (SELECT count(*) FROM run_item i WHERE i.run = r.id AND i.status = 'failed')
    OR r.spent_micros + r.reserved_micros > r.budget_cap_micros + r.overrun_micros
"""
