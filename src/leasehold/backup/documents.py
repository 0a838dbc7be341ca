"""What is in MongoDB, collection by collection, as it was at one moment: documents one after the other, compressed."""

import gzip
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any, cast

import bson
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo import WriteConcern
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import OperationFailure, PyMongoError

from leasehold.accounts import connect
from leasehold.backup.folder import DOCUMENTS, BackupBad, Draft, Say

_SUFFIX = ".bson.gz"
_AT_ONCE = 1000
_TELL_EVERY = 50_000
_TOO_OLD = 239  # SnapshotTooOld
_RAW: CodecOptions[Any] = CodecOptions(document_class=RawBSONDocument)


class Pinned:
    """MongoDB at one moment; held by a session, for as long as the server remembers that moment."""

    def __init__(self, database: AsyncDatabase[Any], session: AsyncClientSession, names: list[str]) -> None:
        self._database = database
        self._session = session
        self._names = names

    async def copy(self, draft: Draft, say: Say) -> dict[str, int]:
        """Every collection into a file of its own; how many documents each has."""
        counts: dict[str, int] = {}
        for name in self._names:
            try:
                counts[name] = await self._copy(draft, name, say)
            except OperationFailure as error:
                raise BackupBad(_too_old() if error.code == _TOO_OLD else _unreadable(name, error)) from None
        return counts

    async def _copy(self, draft: Draft, name: str, say: Say) -> int:
        copied = 0
        with (
            draft.file(f"{DOCUMENTS}/{name}{_SUFFIX}") as file,
            gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as packed,
        ):
            found = self._database.get_collection(name, codec_options=_RAW).find({}, session=self._session)
            async for document in found:
                packed.write(document.raw)
                copied += 1
                if copied % _TELL_EVERY == 0:
                    say(f"MongoDB: {copied:,} documents of {name}")
        say(f"MongoDB: {copied:,} documents of {name}, all of it")
        return copied


@asynccontextmanager
async def pinned(url: str) -> AsyncIterator[Pinned]:
    """The database the address means, as it is now."""
    client, name = connect(url)
    async with client, client.start_session(snapshot=True) as session:
        database = client[name]
        try:
            names = sorted(await _collections(database))
            for one in names[:1]:  # the first question sets the moment
                await database[one].find_one({}, session=session)
        except PyMongoError as error:
            raise BackupBad(_unreadable(name, error)) from None
        yield Pinned(database, session, names)


async def is_empty(url: str) -> bool:
    client, name = connect(url)
    async with client:
        return not await _collections(client[name])


async def load(url: str, source: Path, counts: dict[str, int], say: Say) -> None:
    """Bring every collection back. Indexes are made by who uses them."""
    client, name = connect(url)
    async with client:
        durable = WriteConcern(w="majority", j=True)
        for collection in counts:
            target = client[name].get_collection(collection, codec_options=_RAW, write_concern=durable)
            brought = 0
            for some in _pieces(source / DOCUMENTS / f"{collection}{_SUFFIX}"):
                await target.insert_many(some, ordered=False)
                brought += len(some)
                if brought % _TELL_EVERY == 0:
                    say(f"MongoDB: {brought:,} documents of {collection}")
            if brought != counts[collection]:
                raise BackupBad(f"{collection} has {brought:,} documents and the manifest says {counts[collection]:,}.")
            say(f"MongoDB: {brought:,} documents of {collection}, all of it")


async def _collections(database: AsyncDatabase[Any]) -> list[str]:
    return await database.list_collection_names(filter={"type": "collection", "name": {"$not": {"$regex": "^system"}}})


def _pieces(file: Path) -> Iterator[list[RawBSONDocument]]:
    with cast("IO[bytes]", gzip.open(file, "rb")) as packed:
        some: list[RawBSONDocument] = []
        for document in bson.decode_file_iter(packed, codec_options=_RAW):
            some.append(document)
            if len(some) == _AT_ONCE:
                yield some
                some = []
        if some:
            yield some


def _too_old() -> str:
    return (
        "MongoDB no longer remembers the moment the backup is of. Let it remember longer, such as an hour: "
        "db.adminCommand({setParameter: 1, minSnapshotHistoryWindowInSeconds: 3600}), and try again."
    )


def _unreadable(name: str, error: PyMongoError) -> str:
    code = getattr(error, "code", None)
    return f"MongoDB's {name} cannot be read ({type(error).__name__}{f', code {code}' if code else ''})."
