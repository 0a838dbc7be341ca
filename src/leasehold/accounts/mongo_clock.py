"""The clock of MongoDB, and the leases on accounts that run by it."""

from datetime import datetime

from pymongo import AsyncMongoClient, ReadPreference
from pymongo.asynchronous.collection import AsyncCollection

from leasehold.accounts import documents
from leasehold.accounts.documents import Document
from leasehold.accounts.mongo_shelf import accounts_of, reachable
from leasehold.db import Conn
from leasehold.leases import LONGEST_S, Jump


class MongoFace:
    """The primary's clock: after a failover it is another member's, and a jump like any other if they differ."""

    store = "mongo"

    def __init__(self, client: AsyncMongoClient[Document], name: str) -> None:
        self._client = client
        self._accounts: AsyncCollection[Document] = accounts_of(client, name)

    async def read(self) -> datetime:
        async with reachable():
            hello = await self._client.admin.command("hello", read_preference=ReadPreference.PRIMARY)
        now: datetime = hello["localTime"]
        return now

    async def keep(self, _conn: Conn, jump: Jump) -> int:
        async with reachable():
            kept = await self._accounts.update_many(*documents.keeping(jump.unjumped, jump.seconds, LONGEST_S))
        return kept.matched_count
