"""The books of leases on seeds."""

from uuid import UUID

from leasehold.db import Database
from leasehold.leases import Books, Kind, kept_books
from leasehold.seeds.store import SQL


async def books(db: Database, organisation: UUID) -> Books:
    return await kept_books(db, organisation, Kind.SEED, SQL["books"])
