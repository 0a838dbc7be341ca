"""The books of leases of one kind: every grant there was ended somehow or is held, and no two overlapped."""

from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from psycopg.rows import scalar_row

from leasehold.db import Database
from leasehold.leases.models import Kind
from leasehold.leases.store import SQL


@dataclass(frozen=True, slots=True)
class Books:
    """What was granted, and what became of it; the last three are 0 where all is well."""

    grants: int
    released: int
    expired: int
    revoked: int
    held: int
    unbalanced: int  # resources whose fence is not the number of their leases
    dangling: int  # resources that name a lease there is not
    overlapping: int  # leases that began before the one before them had ended

    @property
    def are_whole(self) -> bool:
        return not (self.unbalanced or self.dangling or self.overlapping)

    def __str__(self) -> str:
        parts = f"{self.released:,} released + {self.expired:,} expired + {self.revoked:,} revoked + {self.held:,} held"
        return f"{self.grants:,} grants = {parts}"


async def kept_books(db: Database, organisation: UUID, kind: Kind, sums: LiteralString) -> Books:
    """By a feature's own sums."""
    async with db.transaction(organisation) as conn:
        (row,) = await (await conn.execute(sums, {"organisation": organisation})).fetchall()
        cur = conn.cursor(row_factory=scalar_row)
        await cur.execute(SQL["overlaps"], {"organisation": organisation, "kind": kind})
        grants, released, expired, revoked, held, unbalanced, dangling = row
        overlapping = int(await cur.fetchone() or 0)
        return Books(grants, released, expired, revoked, held, unbalanced, dangling, overlapping)
