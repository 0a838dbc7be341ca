"""The books of jobs, for whoever goes through all of them."""

from uuid import UUID

from leasehold.db import Database
from leasehold.jobs import store
from leasehold.jobs.models import Books


async def books(db: Database, organisation: UUID) -> list[Books]:
    async with db.transaction(organisation) as conn:
        return await store.books(conn, organisation)
