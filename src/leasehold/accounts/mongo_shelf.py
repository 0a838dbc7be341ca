"""The collections of the account pool in MongoDB, and what every part of it does with them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from pymongo import AsyncMongoClient, ReadPreference
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError, ConfigurationError, DuplicateKeyError, PyMongoError
from pymongo.write_concern import WriteConcern

from leasehold.accounts import documents, indexes
from leasehold.accounts.documents import Document
from leasehold.problems import Unavailable


class MongoAddressInvalid(Exception):
    """The address of MongoDB cannot be read. The message quotes nothing of it: a piece could be the password."""


_DUPLICATE = 11000
_CARRIED_AT_ONCE = 500


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
    wanted = {"accounts": indexes.INDEXES, "lease_ends": indexes.END_INDEXES}
    lacking = []
    for collection, needed in wanted.items():
        there = await client[name][collection].index_information()
        lacking += [index.document["name"] for index in needed if index.document["name"] not in there]
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


def _database(client: AsyncMongoClient[Document], name: str) -> AsyncDatabase[Document]:
    """Whatever the address asks for: a decision is made by the primary alone, and a write is not lost."""
    return client.get_database(
        name, write_concern=WriteConcern(w="majority", j=True), read_preference=ReadPreference.PRIMARY
    )


def accounts_of(client: AsyncMongoClient[Document], name: str) -> AsyncCollection[Document]:
    return _database(client, name)["accounts"]


class MongoShelf:
    """Accounts, ended leases and the gates of sites with a cap. A write is acknowledged when it cannot be lost."""

    def __init__(self, client: AsyncMongoClient[Document], name: str) -> None:
        self._client = client
        database = _database(client, name)
        self._accounts: AsyncCollection[Document] = accounts_of(client, name)
        self._ends: AsyncCollection[Document] = database["lease_ends"]
        self._gates: AsyncCollection[Document] = database["gates"]

    async def open(self) -> None:
        """Make the indexes there must be."""
        async with reachable():
            await self._accounts.create_indexes(indexes.INDEXES)
            await self._ends.create_indexes(indexes.END_INDEXES)

    async def close(self) -> None:
        await self._client.close()

    async def states(self) -> dict[str, int]:
        """How many accounts there are in each state, over all organisations."""
        found = await self._seen({"moved": False}, {"$group": {"_id": "$state", "count": {"$sum": 1}}})
        return {row["_id"]: row["count"] for row in found}

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
        try:
            await self._ends.insert_many(ends, ordered=False)
        except BulkWriteError as error:
            if any(fault["code"] != _DUPLICATE for fault in error.details["writeErrors"]):
                raise
        ids = [end["_id"] for end in ends]
        await self._accounts.update_many({"_id": {"$in": [carrier["_id"] for carrier in carriers]}}, _without(ids))

    async def _carry_pending(self, organisation: UUID) -> None:
        """Take over what somebody may look for by its holder."""
        await self._carry_found({"organisation": organisation, "pending": True})

    async def _carry_all(self, organisation: UUID) -> None:
        """Take over everything, so that the history is all there is."""
        await self._carry_found({"organisation": organisation, "ended.id": {"$exists": True}})

    async def _carry_found(self, where: Document) -> None:
        async with reachable():
            while carriers := await self._accounts.find(where).limit(_CARRIED_AT_ONCE).to_list():
                await self._carry(carriers)


def _without(ended: Sequence[UUID]) -> list[Document]:
    rest = {"$filter": {"input": "$ended", "cond": {"$not": [{"$in": ["$$this.id", list(ended)]}]}}}
    lost = {"$filter": {"input": "$ended", "cond": {"$ne": ["$$this.how", "released"]}}}
    return [{"$set": {"ended": rest}}, {"$set": {"pending": {"$gt": [{"$size": lost}, 0]}}}]
