"""The collections of the account pool in MongoDB, and what every part of it does with them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from pymongo import AsyncMongoClient, UpdateOne
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import ConfigurationError, DuplicateKeyError, PyMongoError
from pymongo.write_concern import WriteConcern

from leasehold.accounts import documents
from leasehold.accounts.documents import Document
from leasehold.problems import Unavailable


class MongoAddressInvalid(Exception):
    """The address of MongoDB cannot be read. The message quotes nothing of it: a piece could be the password."""


def connect(url: str) -> tuple[AsyncMongoClient[Document], str]:
    """A client for the address, and the name of the database it means. Raises MongoAddressInvalid."""
    try:
        client: AsyncMongoClient[Document] = AsyncMongoClient(
            url, uuidRepresentation="standard", tz_aware=True, appname="leasehold", timeoutMS=10_000, maxPoolSize=64
        )
    except (ConfigurationError, ValueError):
        raise MongoAddressInvalid(
            "LEASEHOLD_MONGO_URL cannot be read as mongodb://user:password@host:port/name?replicaSet=rs0. "
            "Percent-encode what is neither letter nor digit in the user and the password (@ is %40)."
        ) from None
    return client, client.get_default_database("leasehold").name


async def missing_indexes(client: AsyncMongoClient[Document], name: str) -> list[str]:
    """Of the indexes there must be, those that are not there."""
    wanted = {"accounts": documents.INDEXES, "lease_ends": documents.END_INDEXES}
    lacking = []
    for collection, indexes in wanted.items():
        there = await client[name][collection].index_information()
        lacking += [index.document["name"] for index in indexes if index.document["name"] not in there]
    return lacking


@asynccontextmanager
async def reachable() -> AsyncIterator[None]:
    """What goes wrong with MongoDB itself is a service that is down."""
    try:
        yield
    except DuplicateKeyError:
        raise
    except PyMongoError as error:
        raise Unavailable(
            "MongoDB, which holds the accounts, cannot be reached. Try again in a moment.", headers={"Retry-After": "2"}
        ) from error


class MongoShelf:
    """Accounts, ended leases and the gates of sites with a cap. A write is acknowledged when it cannot be lost."""

    def __init__(self, client: AsyncMongoClient[Document], name: str) -> None:
        self._client = client
        database = client.get_database(name, write_concern=WriteConcern(w="majority", j=True))
        self._accounts: AsyncCollection[Document] = database["accounts"]
        self._ends: AsyncCollection[Document] = database["lease_ends"]
        self._gates: AsyncCollection[Document] = database["gates"]

    async def open(self) -> None:
        """Make the indexes there must be."""
        async with reachable():
            await self._accounts.create_indexes(documents.INDEXES)
            await self._ends.create_indexes(documents.END_INDEXES)

    async def close(self) -> None:
        await self._client.close()

    async def _seen(self, where: Document, *steps: Document, limit: int = 0) -> list[Document]:
        """Documents with what follows from the server's clock."""
        pipeline = [{"$match": where}, *documents.SEEN, *steps, *([{"$limit": limit}] if limit else [])]
        async with reachable():
            return await (await self._accounts.aggregate(pipeline)).to_list()

    async def _carry(self, carriers: Sequence[Document]) -> None:
        """Take ends out of the accounts into the history; done twice it is done once."""
        ends = [end for carrier in carriers for end in documents.booked(carrier)]
        if not ends:
            return
        writes = [UpdateOne({"_id": end["_id"]}, {"$setOnInsert": end}, upsert=True) for end in ends]
        await self._ends.bulk_write(writes, ordered=False)
        emptied = [
            UpdateOne({"_id": carrier["_id"]}, _without([end["id"] for end in carrier["ended"]]))
            for carrier in carriers
        ]
        await self._accounts.bulk_write(emptied, ordered=False)

    async def _carry_all(self, organisation: UUID) -> None:
        async with reachable():
            carriers = await self._accounts.find({"organisation": organisation, "pending": True}).to_list()
            await self._carry(carriers)


def _without(ended: Sequence[UUID]) -> list[Document]:
    rest = {"$filter": {"input": "$ended", "cond": {"$not": [{"$in": ["$$this.id", list(ended)]}]}}}
    return [{"$set": {"ended": rest}}, {"$set": {"pending": {"$gt": [{"$size": "$ended"}, 0]}}}]
