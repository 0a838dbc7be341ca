"""The old MongoDB: only ever read, in the order of _id, some documents at a time. Its address is never repeated."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Final, Self

from bson import MaxKey, json_util
from bson.codec_options import DatetimeConversion
from bson.errors import BSONError
from pymongo import ASCENDING, AsyncMongoClient
from pymongo.errors import ConfigurationError, ConnectionFailure, OperationFailure, PyMongoError
from pymongo.read_preferences import ReadPreference

from leasehold.legacy.converting import from_position, position
from leasehold.legacy.documents import Document
from leasehold.legacy.mapping import LegacyMap, MapInvalid, Section
from leasehold.legacy.models import ImportFailed

PAGE: Final = 500
_PATIENCE_MS: Final = 10_000
_UNAUTHORISED: Final = (13, 18, 8000)


class Source:
    """One database in it."""

    def __init__(self, url: str) -> None:
        try:
            self._client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
                url,
                appname="leasehold import",
                serverSelectionTimeoutMS=_PATIENCE_MS,
                connectTimeoutMS=_PATIENCE_MS,
                socketTimeoutMS=60_000,
                tz_aware=True,
                uuidRepresentation="standard",
                # Old documents hold what they hold: none may keep the others from being read.
                unicode_decode_error_handler="replace",
                datetime_conversion=DatetimeConversion.DATETIME_AUTO,
            )
            self.name = self._client.get_default_database().name
        except (ConfigurationError, ValueError, TypeError, PyMongoError):
            raise ImportFailed(
                "The address cannot be read as mongodb://user:password@host:port/name, with the name of the database. "
                "Percent-encode what is neither letter nor digit in the user and the password (@ is %40)."
            ) from None
        chosen = {} if re.search(r"[?&]readpreference=", url, re.IGNORECASE) else _SECONDARY
        self._database = self._client.get_database(self.name, **chosen)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self._client.close()

    async def insist(self, wanted: LegacyMap) -> None:
        """Refuse a map that names what is not there, or a filter MongoDB does not take; raises MapInvalid."""
        with _clearly():
            there = set(await self._database.list_collection_names())
        faults = [
            f"  {section.kind}.collection: the database has no collection of that name."
            for section in wanted.sections
            if section.collection not in there
        ]
        for section in wanted.sections:
            try:
                await self._database[section.collection].find_one(_filter(section), {"_id": 1})
            except (ConnectionFailure, BSONError) as error:
                raise _unreachable() from error
            except OperationFailure as error:
                if error.code in _UNAUTHORISED:
                    raise _refused() from None
                faults.append(f"  {section.kind}.filter: MongoDB does not take it.")
        if faults:
            raise MapInvalid("The map cannot be used:\n" + "\n".join(faults))

    async def documents(self, section: Section, after: str | None = None) -> AsyncIterator[Document]:
        """All that the section names, in the order of _id, or those after one. Only the fields that are needed."""
        collection = self._database[section.collection]
        last: Any = from_position(after) if after is not None else None
        is_first = after is None
        fields = dict.fromkeys(section.projection(), 1)
        while True:
            count = 0
            with _clearly():
                cursor = collection.find(_filter(section), fields).sort("_id", ASCENDING).limit(PAGE).batch_size(100)
                if not is_first:
                    # By the index and not by `$gt`, which sees only ids of the same type. It includes the last one.
                    cursor = cursor.min([("_id", last)]).hint([("_id", ASCENDING)]).limit(PAGE + 1)
                async for document in cursor:
                    if not is_first and not count and position(document["_id"]) == position(last):
                        continue
                    count += 1
                    yield document
            if not count:
                break
            last, is_first = document["_id"], False
        if is_first or isinstance(last, MaxKey):
            return
        with _clearly():  # the bounds of an index leave out the largest key there is
            largest = await collection.find_one({"$and": [_filter(section), {"_id": MaxKey()}]}, fields)
        if largest is not None:
            yield largest


_SECONDARY: Final[dict[str, Any]] = {"read_preference": ReadPreference.SECONDARY_PREFERRED}


def _filter(section: Section) -> Any:
    """With what JSON has no type for written as extended JSON, such as {"$oid": "…"}."""
    return json_util.loads(json_util.dumps(section.filter))


@contextmanager
def _clearly() -> Iterator[None]:
    """What MongoDB says may quote the address, so it is not repeated."""
    try:
        yield
    except OperationFailure as error:
        raise (_refused() if error.code in _UNAUTHORISED else _unreachable(error.code)) from None
    except (PyMongoError, BSONError):
        raise _unreachable() from None


def _refused() -> ImportFailed:
    return ImportFailed("MongoDB refuses the user and password of the address, or they may not read this database.")


def _unreachable(code: int | None = None) -> ImportFailed:
    told = "" if code is None else f" (it said {code})"
    return ImportFailed(
        f"The MongoDB of the address does not answer{told}. What was imported so far stays; run this again to go on."
    )
