"""The stores of the pools for the command line: moves between them, and the books of the one in force."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

from leasehold.accounts import (
    MongoBooks,
    MongoPlace,
    Place,
    PostgresPlace,
    Store,
    Sum,
    connect,
    in_force,
    move,
    postgres_books,
    purge,
)
from leasehold.app import organisations
from leasehold.db import Database
from leasehold.life import CannotStart
from leasehold.sessions import MongoShelf, PostgresShelf, Shelf, carry
from leasehold.settings import Settings
from leasehold.verify import BookKeeper


async def move_pools(settings: Settings, url: str, to: str | None, say: Callable[[str], None]) -> str:
    """To the store named, or the one the setting names, or the other one; returns what to do next."""
    async with Database(url, pool_size=4) as db, _places(settings, db) as places:
        now = await _now(db)
        wanted: Store = "mongo" if (to or _unlike(now, settings.pools)) == "mongo" else "postgres"
        async with _shelves(settings, db) as shelves:
            source, target = shelves[_other(wanted)], shelves[wanted]

            async def along(organisation: UUID, tell: Callable[[str], None]) -> Sum:
                return await carry(source, target, organisation, tell)

            moved = await move(db, await organisations(db), places, wanted, say, along)
        if not moved:
            return f"The pools are in {wanted} already."
    return f"The pools are in {wanted} now. Start the servers with LEASEHOLD_POOLS={wanted}."


async def purge_pools(settings: Settings, url: str) -> str:
    async with Database(url, pool_size=4) as db, _places(settings, db) as places:
        left = _other(await _now(db))
        gone = await purge(await organisations(db), places[left])
    return f"{gone:,} accounts that stayed behind in {left} were removed."


@asynccontextmanager
async def bookkeeper(settings: Settings, db: Database) -> AsyncIterator[BookKeeper]:
    """Who finds the books of leases, in the store that is in force."""
    if await _now(db) == "postgres":
        yield partial(postgres_books, db)
        return
    mongo = MongoBooks(*connect(_mongo_url(settings)))
    try:
        yield mongo.books
    finally:
        await mongo.close()


def _mongo_url(settings: Settings) -> str:
    if not (address := settings.mongo_url.get_secret_value()):
        raise CannotStart("Say in LEASEHOLD_MONGO_URL where MongoDB is, as mongodb://host:port/name.")
    return address


@asynccontextmanager
async def _places(settings: Settings, db: Database) -> AsyncIterator[dict[Store, Place]]:
    mongo = MongoPlace(*connect(_mongo_url(settings)))
    try:
        await mongo.open()
        yield {"postgres": PostgresPlace(db), "mongo": mongo}
    finally:
        await mongo.close()


@asynccontextmanager
async def _shelves(settings: Settings, db: Database) -> AsyncIterator[dict[Store, Shelf]]:
    mongo = MongoShelf(db, *connect(_mongo_url(settings)))
    try:
        await mongo.open()
        yield {"postgres": PostgresShelf(db), "mongo": mongo}
    finally:
        await mongo.close()


async def _now(db: Database) -> Store:
    async with db.pool.connection() as conn:
        return await in_force(conn)


def _unlike(now: Store, named: Store) -> Store:
    return named if named != now else _other(now)


def _other(store: Store) -> Store:
    return "postgres" if store == "mongo" else "mongo"
