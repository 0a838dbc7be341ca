"""A house whose writer links records, and what is done with entities in it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import count
from typing import Any

import httpx
import pytest_asyncio

from leasehold.auth import Role
from tests.entities.people import JSON
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase

PATIENCE_S = 60.0
_NUMBERS = count()


class World:
    """The graph of one organisation, over HTTP."""

    def __init__(self, home: House, client: httpx.AsyncClient, organisation: str) -> None:
        self.home = home
        self.client = client
        self.organisation = organisation

    async def ask(self, method: str, path: str, body: JSON | None = None, status: int = 200) -> Any:
        answer = await self.client.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def hand_over(self, *records: JSON) -> JSON:
        """Hand records over, and wait until they are written; what became of them."""
        accepted = await self.ask("POST", "/v2/entities/records", {"items": list(records)}, 202)
        assert accepted["accepted"] == len(records)
        return await self.written(accepted["batch"])

    async def written(self, batch: str) -> JSON:
        async with asyncio.timeout(PATIENCE_S):
            while (found := await self.ask("GET", f"/v2/entities/batches/{batch}"))["state"] != "done":
                await asyncio.sleep(0.02)
        outcomes: JSON = found["outcomes"]
        return outcomes

    async def entities(self, query: str = "") -> list[JSON]:
        found: list[JSON] = (await self.ask("GET", f"/v2/entities?limit=500{query}"))["items"]
        return found

    async def entity(self, id_: str) -> JSON:
        found: JSON = await self.ask("GET", f"/v2/entities/{id_}")
        return found

    async def home_of(self, source_id: str) -> JSON:
        """The entity a record is in."""
        for entity in await self.entities():
            whole = await self.entity(entity["id"])
            if any(record["source_id"] == source_id for record in whole["records"]):
                return whole
        raise AssertionError(f"{source_id} is nowhere")

    async def record(self, source_id: str) -> JSON:
        (found,) = [one for one in (await self.home_of(source_id))["records"] if one["source_id"] == source_id]
        record: JSON = found
        return record

    async def groups(self) -> set[frozenset[str]]:
        """Who is with whom."""
        wholes = [await self.entity(entity["id"]) for entity in await self.entities()]
        return {frozenset(record["source_id"] for record in whole["records"]) for whole in wholes}

    async def changes(self, since: int = 0) -> list[JSON]:
        found: list[JSON] = (await self.ask("GET", f"/v2/entities/changes?since={since}&limit=500"))["items"]
        return found


def grouped(groups: Iterable[Sequence[str]]) -> set[frozenset[str]]:
    return {frozenset(group) for group in groups}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(_worker_database: TestDatabase) -> AsyncIterator[House]:
    _worker_database.empty()
    async with house(_worker_database) as home:
        yield home


@pytest_asyncio.fixture(loop_scope="module")
async def world(home: House) -> World:
    """An organisation of its own: nobody else's records are in its graph."""
    organisation = f"graph-{next(_NUMBERS)}"
    return World(home, home.client(await home.token(Role.ADMIN, organisation)), organisation)
