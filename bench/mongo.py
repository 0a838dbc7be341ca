"""The ground in MongoDB: a mongod of its own, the pool copied into it, and bare pairs to compare with."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

from pymongo import AsyncMongoClient, ReturnDocument
from pymongo.write_concern import WriteConcern

from leasehold.accounts import MongoPlace, PostgresPlace, Sum, connect, move
from leasehold.app import organisations
from leasehold.db import Database


@contextmanager
def scratch_mongo() -> Iterator[str]:
    """The address of an empty database; needs the mongod that the tests bring along."""
    from tests.parts.mongo import running

    with running() as mongo:
        yield mongo.url.replace("/?", "/bench?")


async def carry(database_url: str, mongo_url: str) -> None:
    """Move the pool from PostgreSQL, as `migrate-pools` does."""
    place = MongoPlace(*connect(mongo_url))
    async with Database(database_url, pool_size=4) as db:
        await place.open()
        try:
            places: dict[Any, Any] = {"postgres": PostgresPlace(db), "mongo": place}
            await move(db, await organisations(db), places, "mongo", lambda _line: None, _nothing)
        finally:
            await place.close()


async def _nothing(_organisation: UUID, _say: Callable[[str], None]) -> Sum:
    """There are no sessions here."""
    return Sum()


async def bare_pairs(mongo_url: str, clients: int, sites: int, seconds: float) -> float:
    """One `find_one_and_update` to take an account and one to give it back, journaled by the majority."""
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(mongo_url, maxPoolSize=clients)
    accounts = client.get_default_database().get_collection("bare", write_concern=WriteConcern(w="majority", j=True))
    await accounts.drop()
    await accounts.insert_many([{"site": n % sites, "free": True, "at": n, "fence": 0} for n in range(10_000)])
    await accounts.create_index([("site", 1), ("at", 1)], partialFilterExpression={"free": True})
    done = 0
    until = time.perf_counter() + seconds

    async def work(n: int) -> None:
        nonlocal done
        while time.perf_counter() < until:
            n = (n * 48271 + 11) % 2147483647
            lease = uuid4().hex
            taken = {"$set": {"free": False, "lease": lease, "at": time.time_ns()}, "$inc": {"fence": 1}}
            found = await accounts.find_one_and_update(
                {"site": n % sites, "free": True}, taken, sort=[("at", 1)], return_document=ReturnDocument.AFTER
            )
            if found is None:
                continue
            given = {"$set": {"free": True}, "$unset": {"lease": ""}}
            await accounts.find_one_and_update({"_id": found["_id"], "lease": lease}, given)
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(work(n + 1) for n in range(clients)))
    took = time.perf_counter() - began
    await client.close()
    return done / took
