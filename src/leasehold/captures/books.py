"""The books of leases on captures."""

from uuid import UUID

from leasehold.captures.store import SQL
from leasehold.db import Database
from leasehold.leases import Books, Kind, kept_books


async def books(db: Database, organisation: UUID) -> Books:
    return await kept_books(db, organisation, Kind.CAPTURE, SQL["lease_books"])
