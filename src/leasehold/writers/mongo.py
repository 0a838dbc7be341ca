"""Results in MongoDB: a collection for each organisation, a document for each that came, inserted once by its name.

A crawler that still writes by itself writes the same documents under the same names, and whoever comes first stands.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import bson
from bson.errors import InvalidDocument
from pymongo import ASCENDING, AsyncMongoClient, IndexModel, UpdateOne, WriteConcern
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import BulkWriteError

from leasehold.accounts import connect, reachable
from leasehold.writers.models import Chunk, Document, Found, Name, Place, Refusals, Space

_INDEX = IndexModel([("job_id", ASCENDING), ("number", ASCENDING), ("place", ASCENDING)], name="job")
# Below the 16 MiB that MongoDB takes, as our own fields come on top.
_LARGEST_BYTES = 16 * 1024 * 1024 - 4096
_THERE_ALREADY = 11000
_DURABLE = WriteConcern(w="majority", j=True)


def collection_name(organisation: UUID, space: Space) -> str:
    """Where an organisation's results are."""
    return f"results_{organisation.hex}" if space is Space.MAIN else f"results_shadow_{organisation.hex}"


class MongoTarget:
    """The collections `results_…`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: AsyncMongoClient[dict[str, Any]] | None = None
        self._name = ""
        self._indexed: set[str] = set()

    async def open(self) -> None:
        self._client, self._name = connect(self._url)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def write(self, organisation: UUID, space: Space, chunks: Sequence[Chunk]) -> Refusals:
        refused: dict[Name, str] = {}
        updates: list[tuple[Name, UpdateOne]] = []
        for chunk in chunks:
            if why := _why_not(chunk):
                refused[chunk.name] = why
            else:
                updates += [(chunk.name, update) for update in _updates(chunk)]
        if updates:
            async with reachable():
                collection = await self._collection(organisation, space)
                try:
                    await collection.bulk_write([update for _, update in updates], ordered=False)
                except BulkWriteError as error:
                    refused |= _refusals(error, [name for name, _ in updates])
        return refused

    async def read(
        self, organisation: UUID, space: Space, places: Sequence[Place], after: tuple[int, int] | None, limit: int
    ) -> list[Found]:
        where: dict[str, Any] = {
            "job_id": {"$in": sorted({place.job for place in places})},
            "platform": {"$in": sorted({place.platform for place in places})},
        }
        if after:
            number, place = after
            where["$or"] = [{"number": {"$gt": number}}, {"number": number, "place": {"$gt": place}}]
        async with reachable():
            collection = await self._collection(organisation, space)
            cursor = collection.find(where).sort([("number", 1), ("place", 1)]).limit(limit)
            return [
                Found(one["platform"], one["number"], one["place"], one["document"]) for one in await cursor.to_list()
            ]

    async def documents(
        self, organisation: UUID, space: Space, places: Sequence[Place]
    ) -> dict[UUID, list[dict[str, Any]]]:
        whose = {(place.job, place.platform): place.task for place in places}
        found: dict[UUID, list[dict[str, Any]]] = {}
        async with reachable():
            collection = await self._collection(organisation, space)
            where = {"job_id": {"$in": sorted({place.job for place in places})}}
            async for one in collection.find(where).sort([("job_id", 1), ("number", 1), ("place", 1)]):
                task = whose.get((one["job_id"], one["platform"]))
                if task is not None:
                    found.setdefault(task, []).append(one["document"])
        return found

    async def chunks(
        self, organisation: UUID, space: Space, names: Sequence[tuple[Place, bytes]]
    ) -> dict[Name, list[Document]]:
        by_stem = {_stem(place.job, place.platform, key): (place.task, key) for place, key in names}
        jobs = sorted({place.job for place, _ in names})
        async with reachable():
            collection = await self._collection(organisation, space)
            cursor = collection.find({"job_id": {"$in": jobs}}).sort([("job_id", 1), ("place", 1)])
            found: dict[Name, list[Document]] = {}
            async for one in cursor:
                name = by_stem.get(str(one["_id"]).rpartition("/")[0])
                if name is not None:
                    found.setdefault(name, []).append(one["document"])
        return found

    async def _collection(self, organisation: UUID, space: Space) -> AsyncCollection[dict[str, Any]]:
        if self._client is None:
            raise RuntimeError("the target is not open")
        name = collection_name(organisation, space)
        found = self._client[self._name].get_collection(name, write_concern=_DURABLE)
        if name not in self._indexed:
            await found.create_indexes([_INDEX])
            self._indexed.add(name)
        return found


def _refusals(error: BulkWriteError, names: Sequence[Name]) -> dict[Name, str]:
    """What MongoDB would not take; that somebody was quicker with the same name is none of it."""
    details = error.details or {}
    if details.get("writeConcernErrors"):
        raise error
    bad = [one for one in details.get("writeErrors", []) if one["code"] != _THERE_ALREADY]
    return {names[one["index"]]: f"MongoDB refuses it (code {one['code']})." for one in bad}


def _stem(job: str, platform: str, key: bytes) -> str:
    return f"{job}/{platform}/{key.hex()}"


def _updates(chunk: Chunk) -> Iterable[UpdateOne]:
    stem = _stem(chunk.job, chunk.platform, chunk.key)
    for place, document in enumerate(chunk.documents, start=1):
        row = {
            "job_id": chunk.job,
            "platform": chunk.platform,
            "number": chunk.number,
            "place": place,
            "attempt": chunk.attempt,
            "document": document,
        }
        yield UpdateOne({"_id": f"{stem}/{place}"}, {"$setOnInsert": row}, upsert=True)


def _why_not(chunk: Chunk) -> str | None:
    """Why MongoDB would never take it."""
    for place, document in enumerate(chunk.documents, start=1):
        try:
            size = len(bson.encode(document))
        except (InvalidDocument, OverflowError) as error:
            return f"Document {place} is none that MongoDB takes ({type(error).__name__})."
        if size > _LARGEST_BYTES:
            return f"Document {place} has {size} bytes, more than MongoDB takes."
    return None
