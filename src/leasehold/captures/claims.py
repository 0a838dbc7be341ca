"""Captures that are claimed, as rows: what waits, who has which, and how a claim leaves it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from leasehold.captures.machine import CaptureState
from leasehold.captures.store import SQL
from leasehold.db import Conn


@dataclass(frozen=True, slots=True)
class Candidate:
    """A capture that waits for a consumer, kept from others."""

    id: UUID
    site: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Outlook:
    """What there is of what somebody wanted."""

    received: int
    claimed: int
    next_at: datetime | None
    in_s: float | None


@dataclass(frozen=True, slots=True)
class Settled:
    """How a claim leaves its capture."""

    id: UUID
    standing: CaptureState
    failures: int
    reason: str | None


async def ran_out(conn: Conn, organisation: UUID) -> list[UUID]:
    """The leases of claims whose time is over; their captures are kept from others."""
    cur = await conn.execute(SQL["ran_out"], {"organisation": organisation})
    return [lease for _, lease in await cur.fetchall()]


async def waiting(conn: Conn, organisation: UUID, site: str | None, limit: int) -> list[Candidate]:
    """The oldest that wait, at a site or anywhere; those that others are just taking are stepped over."""
    cur = conn.cursor(row_factory=class_row(Candidate))
    if site is None:
        await cur.execute(SQL["waiting_anywhere"], {"organisation": organisation, "limit": limit})
    else:
        await cur.execute(SQL["waiting_at"], {"organisation": organisation, "site": site, "limit": limit})
    return await cur.fetchall()


async def claim(conn: Conn, organisation: UUID, leases: Mapping[UUID, UUID]) -> dict[UUID, int]:
    """Note on which lease each is claimed; tells the number of the grant."""
    given = {"captures": list(leases), "leases": list(leases.values())}
    return dict(await (await conn.execute(SQL["claim"], {"organisation": organisation, **given})).fetchall())


async def hold(conn: Conn, organisation: UUID, captures: Sequence[UUID]) -> None:
    await conn.execute(SQL["hold"], {"organisation": organisation, "captures": list(captures)})


async def failures(conn: Conn, organisation: UUID, captures: Sequence[UUID]) -> dict[UUID, int]:
    cur = await conn.execute(SQL["failures"], {"organisation": organisation, "captures": list(captures)})
    return dict(await cur.fetchall())


async def settle(conn: Conn, organisation: UUID, settled: Sequence[Settled]) -> None:
    await conn.execute(
        SQL["settle"],
        {
            "organisation": organisation,
            "captures": [one.id for one in settled],
            "states": [one.standing for one in settled],
            "failed": [one.failures for one in settled],
            "reasons": [one.reason for one in settled],
        },
    )


async def claimed_on(conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> dict[UUID, UUID]:
    """The captures that these leases hold, while they live."""
    cur = await conn.execute(SQL["claimed_on"], {"organisation": organisation, "leases": list(leases)})
    return dict(await cur.fetchall())


async def look(conn: Conn, organisation: UUID, site: str | None) -> Outlook:
    cur = conn.cursor(row_factory=class_row(Outlook))
    await cur.execute(SQL["outlook"], {"organisation": organisation, "site": site})
    return (await cur.fetchall())[0]
