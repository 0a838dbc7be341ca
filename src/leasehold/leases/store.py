"""Leases that PostgreSQL keeps, of every kind, and the queue of those who wait: rows in, dataclasses out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import orjson
from psycopg import AsyncCursor
from psycopg.rows import scalar_row

from leasehold.db import Conn, queries
from leasehold.leases.models import Ended, How, Kind, Lease, LeaseFilter, NewLease
from leasehold.leases.watch import Jump

SQL = queries("leasehold.leases")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the queue of waiters."""

    id: UUID
    site: str
    priority: int
    wanted: int
    labels: Mapping[str, str]
    account: UUID | None


class Room(Protocol):
    """Where somebody waits: in which process, for which kind."""

    @property
    def process(self) -> UUID: ...
    @property
    def kind(self) -> Kind: ...


def _lease(row: tuple[Any, ...]) -> Lease:
    return Lease(row[0], Kind(row[1]), *row[2:])


def _ended(row: tuple[Any, ...]) -> Ended:
    id_, kind, resource, site, owner, job_id, fence, acquired_at, ended_at, how, outcome, reason = row
    return Ended(
        id_, Kind(kind), resource, site, owner, job_id, fence, acquired_at, ended_at, How(how), outcome, reason
    )


async def renew(
    conn: Conn, organisation: UUID, ttls: Mapping[UUID, int | None], max_age_s: int
) -> AsyncCursor[tuple[Any, ...]]:
    """Renew those that live; `renewed` reads which they were. Two steps, so that others may be sent meanwhile."""
    return await conn.execute(
        SQL["renew"],
        {"organisation": organisation, "leases": list(ttls), "ttls": list(ttls.values()), "max_age": max_age_s},
    )


async def renewed(cur: AsyncCursor[tuple[Any, ...]]) -> dict[UUID, Lease]:
    return {row[0]: _lease(row) for row in await cur.fetchall()}


@dataclass(frozen=True, slots=True)
class Holding:
    """What a token holds of one kind under one owner's name."""

    organisation: UUID
    token: UUID | None
    owner: str
    kind: Kind

    def row(self) -> dict[str, object]:
        return {"organisation": self.organisation, "token": self.token, "owner": self.owner, "kind": self.kind}


async def renew_owner(conn: Conn, holding: Holding, ttl: int | None, max_age_s: int) -> list[UUID]:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["renew_owner"], {**holding.row(), "ttl": ttl, "max_age": max_age_s})
    return await cur.fetchall()


async def lost_of(conn: Conn, holding: Holding) -> list[UUID]:
    """What of it was lost within the last hour."""
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["lost"], holding.row())
    return await cur.fetchall()


async def grant(conn: Conn, organisation: UUID, kind: Kind, new: Sequence[NewLease]) -> list[Lease]:
    """Leases from now on; a resource that is held already fails the transaction."""
    cur = await conn.execute(
        SQL["grant"],
        {
            "organisation": organisation,
            "kind": kind,
            "leases": [one.id for one in new],
            "held": [one.resource for one in new],
            "sites": [one.site for one in new],
            "fences": [one.fence for one in new],
            "owners": [one.owner for one in new],
            "tokens": [one.token for one in new],
            "jobs": [one.job_id for one in new],
            "ttls": [one.ttl_seconds for one in new],
        },
    )
    return [_lease(row) for row in await cur.fetchall()]


@dataclass(frozen=True, slots=True)
class Ending:
    """How leases of one kind end together, and what is said of that."""

    kind: Kind
    how: How
    outcome: str | None = None
    reason: str | None = None


async def end(conn: Conn, organisation: UUID, leases: Iterable[UUID], ending: Ending) -> list[Ended]:
    """End those of the leases that can: an expiry needs one that ran out, everything else a live one."""
    cur = await conn.execute(
        SQL["end"],
        {
            "organisation": organisation,
            "leases": list(leases),
            "kind": ending.kind,
            "how": ending.how,
            "outcome": ending.outcome,
            "reason": ending.reason,
        },
    )
    return [_ended(row) for row in await cur.fetchall()]


async def overdue(conn: Conn, holding: Holding) -> list[UUID]:
    """What of it seems to have run out; nobody may be told so before it is booked."""
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["overdue"], holding.row())
    return await cur.fetchall()


async def live(conn: Conn, organisation: UUID, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]:
    cur = await conn.execute(
        SQL["live"],
        {
            "organisation": organisation,
            "kind": which.kind,
            "site": which.site,
            "owner": which.owner,
            "after": after,
            "limit": limit,
        },
    )
    return [_lease(row) for row in await cur.fetchall()]


async def taken_for(conn: Conn, organisation: UUID, kind: Kind, jobs: Sequence[str]) -> list[UUID]:
    """What is held of a kind for these jobs."""
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["taken_for"], {"organisation": organisation, "kind": kind, "jobs": list(jobs)})
    return await cur.fetchall()


async def find(conn: Conn, organisation: UUID, leases: Iterable[UUID]) -> dict[UUID, Lease]:
    """Those that are not settled yet, live or run out."""
    cur = await conn.execute(SQL["find"], {"organisation": organisation, "leases": list(leases)})
    return {row[0]: _lease(row) for row in await cur.fetchall()}


async def past(conn: Conn, organisation: UUID, leases: Iterable[UUID]) -> dict[UUID, Ended]:
    """How these ended; those that never were are not there, and neither are those that live."""
    cur = await conn.execute(SQL["past"], {"organisation": organisation, "leases": list(leases)})
    return {row[0]: _ended(row) for row in await cur.fetchall()}


async def history(conn: Conn, organisation: UUID, resource: UUID, before: int | None, limit: int) -> list[Ended]:
    cur = await conn.execute(
        SQL["history"], {"organisation": organisation, "held": resource, "before": before, "limit": limit}
    )
    return [_ended(row) for row in await cur.fetchall()]


async def queue(
    conn: Conn, organisation: UUID, sites: Sequence[str], asking: Sequence[UUID], kind: Kind = Kind.ACCOUNT
) -> AsyncCursor[tuple[Any, ...]]:
    """Who else waits at these sites: (site, priority, wanted, labels, account, since)."""
    which = {"organisation": organisation, "sites": list(sites), "asking": list(asking), "kind": kind}
    return await conn.execute(SQL["queue"], which)


async def whole_queue(
    conn: Conn, organisation: UUID, kind: Kind, asking: Sequence[UUID]
) -> AsyncCursor[tuple[Any, ...]]:
    """The same wherever they wait."""
    return await conn.execute(SQL["whole_queue"], {"organisation": organisation, "kind": kind, "asking": list(asking)})


async def hold(conn: Conn, organisation: UUID, ending: Sequence[UUID], renewing: Sequence[UUID]) -> None:
    """Keep leases from others, before any of them is changed."""
    which = {"organisation": organisation, "ending": list(ending), "renewing": list(renewing)}
    await conn.execute(SQL["hold"], which)


async def enqueue(
    conn: Conn, organisation: UUID, process: UUID, places: Sequence[Place], kind: Kind = Kind.ACCOUNT
) -> dict[UUID, datetime]:
    """Take places in the queue; tells since when."""
    cur = await conn.execute(
        SQL["enqueue"],
        {
            "organisation": organisation,
            "process": process,
            "kind": kind,
            "ids": [place.id for place in places],
            "sites": [place.site for place in places],
            "priorities": [place.priority for place in places],
            "wanted": [place.wanted for place in places],
            "labels": [orjson.dumps(place.labels).decode() for place in places],
            "accounts": [place.account for place in places],
        },
    )
    return dict(await cur.fetchall())


async def leave(conn: Conn, organisation: UUID, places: Sequence[UUID]) -> None:
    await conn.execute(SQL["leave"], {"organisation": organisation, "ids": list(places)})


async def nudge(conn: Conn, organisation: UUID, room: Room, sites: Iterable[str]) -> None:
    """Wake the other processes in which somebody waits for that kind at one of these sites."""
    which = {"organisation": organisation, "process": room.process, "kind": room.kind, "sites": list(sites)}
    await conn.execute(SQL["nudge"], which)


async def refresh(conn: Conn, process: UUID) -> None:
    await conn.execute(SQL["refresh"], {"process": process})


async def bury(conn: Conn) -> None:
    await conn.execute(SQL["bury"])


async def forsake(conn: Conn, process: UUID) -> None:
    await conn.execute(SQL["forsake"], {"process": process})


async def clock(conn: Conn, store: str) -> tuple[int, datetime]:
    """The last jump of a store's clock that was seen to, and the time in PostgreSQL."""
    cur = await conn.execute(SQL["clock"], {"store": store})
    known, now = (await cur.fetchall())[0]
    return known, now


async def jump_turn(conn: Conn, store: str) -> None:
    await conn.execute(SQL["jump_turn"], {"store": store})


async def is_seen_to(conn: Conn, store: str, jump: Jump) -> bool:
    """Whether another server has noticed this jump and given everybody new time."""
    which = {"store": store, "known": jump.before.known, "since": jump.since}
    cur = await conn.execute(SQL["is_seen_to"], which)
    return bool((await cur.fetchall())[0][0])


async def note_jump(conn: Conn, store: str, jump: Jump, leases: int) -> int:
    """Book that a jump was seen to; returns its number."""
    what = {"store": store, "noticed_at": jump.after.now, "seconds": jump.seconds, "leases": leases}
    cur = await conn.execute(SQL["note_jump"], what)
    number: int = (await cur.fetchall())[0][0]
    return number


async def keep(conn: Conn, unjumped: datetime, seconds: float, longest_s: int) -> int:
    """Let what lived before a jump live on; returns how many leases that were."""
    cur = await conn.execute(SQL["keep"], {"unjumped": unjumped, "seconds": seconds, "longest": longest_s})
    return cur.rowcount
