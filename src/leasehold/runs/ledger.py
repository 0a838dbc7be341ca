"""Money of a run: reserved before it is spent, settled once, given back where nothing was paid.

The database refuses to set aside what would pass the cap, at every commit; here it is asked first. What a call cost in
the end is booked as it was, also when that is more than was set aside; then an event tells of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from leasehold.db import Conn
from leasehold.runs.store import SQL, tell

Purpose = Literal["item", "listing"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What was reserved for something, and what it has cost in the end."""

    item: UUID | None
    reserved_micros: int
    spent_micros: int = 0

    @property
    def overrun_micros(self) -> int:
        """What was reserved is the most that it could cost by the prices that were known; those may have changed."""
        return max(0, self.spent_micros - self.reserved_micros)


async def reserve(conn: Conn, organisation: UUID, run: UUID, costs: Sequence[Cost], purpose: Purpose) -> bool:
    """Set aside what these may cost; False, and nothing is, when the cap does not bear it."""
    micros = sum(cost.reserved_micros for cost in costs)
    given = {"organisation": organisation, "run": run, "micros": micros}
    if await (await conn.execute(SQL["reserve"], given)).fetchone() is None:
        return False
    await _enter(conn, organisation, run, purpose, [(cost.item, "reserve", cost.reserved_micros, 0) for cost in costs])
    return True


async def settle(conn: Conn, organisation: UUID, run: UUID, costs: Sequence[Cost], purpose: Purpose) -> int:
    """What was set aside is spent, as far as it was, and free again besides; returns what was spent."""
    reserved = sum(cost.reserved_micros for cost in costs)
    spent = sum(cost.spent_micros for cost in costs)
    overrun = sum(cost.overrun_micros for cost in costs)
    given = {"organisation": organisation, "run": run, "reserved": reserved, "spent": spent, "overrun": overrun}
    await conn.execute(SQL["settle"], given)
    entries = [
        (cost.item, "settle" if cost.spent_micros else "return", -cost.reserved_micros, cost.spent_micros)
        for cost in costs
    ]
    await _enter(conn, organisation, run, purpose, entries)
    if overrun:
        calls = sum(1 for cost in costs if cost.overrun_micros)
        told = {"purpose": purpose, "calls": calls, "overrun_micros": overrun}
        await tell(conn, organisation, run, [("budget_overrun", told)])
    return spent


async def settle_listings(conn: Conn, organisation: UUID, run: UUID) -> None:
    """Count as spent what a driver that died had set aside for a page: it may have been charged, and nobody knows."""
    given = {"organisation": organisation, "run": run}
    row = await (await conn.execute(SQL["open_listings"], given)).fetchone()
    if row and row[0] > 0:
        await settle(conn, organisation, run, [Cost(None, row[0], row[0])], "listing")


async def _enter(
    conn: Conn, organisation: UUID, run: UUID, purpose: Purpose, entries: Sequence[tuple[UUID | None, str, int, int]]
) -> None:
    given = {
        "ids": [entry[0] for entry in entries],
        "kinds": [entry[1] for entry in entries],
        "purposes": [purpose for _ in entries],
        "reserves": [entry[2] for entry in entries],
        "spents": [entry[3] for entry in entries],
    }
    await conn.execute(SQL["enter"], {"organisation": organisation, "run": run, **given}, prepare=False)
