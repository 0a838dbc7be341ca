"""The books of jobs and of leases on their tasks, for whoever goes through all of them."""

from uuid import UUID

from leasehold.db import Database
from leasehold.jobs import store
from leasehold.jobs.models import Books
from leasehold.leases import Books as LeaseBooks
from leasehold.leases import Kind, kept_books


async def books(db: Database, organisation: UUID) -> list[Books]:
    async with db.transaction(organisation) as conn:
        return await store.books(conn, organisation)


async def lease_books(db: Database, organisation: UUID) -> LeaseBooks:
    return await kept_books(db, organisation, Kind.TASK, store.SQL["lease_books"])
