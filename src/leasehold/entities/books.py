"""Whether the graph of an organisation is whole: every record in an entity, every edge between records."""

from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from leasehold.db import Database
from leasehold.entities.store import SQL


@dataclass(frozen=True, slots=True)
class Books:
    """What there is, and what should not be."""

    records: int
    entities: int
    misplaced: int  # records whose entity is not there, or was merged away
    miscounted: int  # entities that are not made of as many records as they say
    loose: int  # edges to a record that is not there
    stranded: int  # batches that wait for what is not in the queue any more

    @property
    def are_whole(self) -> bool:
        return not (self.misplaced or self.miscounted or self.loose or self.stranded)


async def books(db: Database, organisation: UUID) -> Books:
    async with db.transaction(organisation) as conn:
        cur = conn.cursor(row_factory=class_row(Books))
        await cur.execute(SQL["books"], {"organisation": organisation})
        (found,) = await cur.fetchall()
        return found
