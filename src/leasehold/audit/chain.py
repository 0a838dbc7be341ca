"""The chain over the audit: events are sealed after they were committed, and the seals tell when one was touched."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.rows import class_row

from leasehold import logs
from leasehold.audit.store import SQL
from leasehold.db import Conn, Database

log = logs.get(__name__)

# What one seal covers at the most.
BATCH = 5000
# Read in pages, so that a long audit needs no memory and other requests get their turn in between.
_PAGE = 500


class Place(NamedTuple):
    """Where an event stands in the chain. PostgreSQL sorts the three in the same way."""

    era: int
    xact: int
    event: UUID


@dataclass(frozen=True, slots=True)
class Seal:
    """Covers the events after the seal before, up to its own place."""

    seq: int
    era: int
    xact: str
    event: UUID
    events: int
    at: str  # seconds since 1970, exact
    digest: bytes

    @property
    def place(self) -> Place:
        return Place(self.era, int(self.xact), self.event)


# Before every event there can be, also one with an era nobody ever gave out.
_NONE = Seal(seq=0, era=-(2**31), xact="0", event=UUID(int=0), events=0, at="0", digest=bytes(32))


class Kind(StrEnum):
    AHEAD = "ahead"  # a transaction is named that this server has not had: restored, and the era was not raised
    GAP = "gap"  # a seal is not there
    BROKEN = "broken"  # a seal does not stand after the one before it
    MISSING = "missing"  # fewer events than the seal covers
    ADDED = "added"  # more events than the seal covers; the sealer itself never leaves one behind
    CHANGED = "changed"  # as many as it covers, but not the same; or the seal itself is not the same


@dataclass(frozen=True, slots=True)
class Fault:
    """What does not hold, at which seal."""

    seal: int
    kind: Kind
    expected: int = 0  # events the seal covers
    found: int = 0  # events that are there


@dataclass(frozen=True, slots=True)
class Checked:
    """What the chain of one organisation came to."""

    seals: int
    sealed: int  # events that stand where seals cover them
    waiting: int  # events that no seal covers yet
    head: str | None  # the last seal's digest; it stands for everything before it
    fault: Fault | None  # the first there is


async def seal_all(db: Database, organisation: UUID) -> int:
    """Seal whatever can be sealed now, each batch in a transaction of its own; returns how many events."""
    total = 0
    while True:
        async with db.transaction(organisation) as conn:
            sealed = await seal(conn, organisation)
            head = await _last(conn, organisation) if sealed else _NONE
        if sealed:  # said after the commit: a copy of the head that whoever rewrites the database cannot reach
            log.info(
                "audit.sealed", organisation=str(organisation), seal=head.seq, events=sealed, head=head.digest.hex()
            )
        total += sealed
        if sealed < BATCH:
            return total


async def seal(conn: Conn, organisation: UUID) -> int:
    """Chain the next events, one batch at the most; returns how many, and 0 when somebody else is at it."""
    if not await _take_turn(conn, organisation, await _last(conn, organisation)):
        return 0
    last = await _last(conn, organisation)  # again: whoever had the turn before us may have moved on
    cur = await conn.execute(SQL["horizon"])
    ((era, xact, at, exact_at),) = await cur.fetchall()
    horizon = Place(era, int(xact), UUID(int=0))
    digest, place, count = sha256(last.digest), last.place, 0
    while count < BATCH and (page := await _page(conn, organisation, place, horizon)):
        for place, encoded in page:  # noqa: B007 (the last one is the seal's)
            digest.update(encoded)
        count += len(page)
    if count == 0:
        return 0
    digest.update(_encode([organisation, last.seq + 1, *place, count, exact_at]))
    values = {"seq": last.seq + 1, "events": count, "at": at, "digest": digest.digest()}
    await conn.execute(SQL["seal"], {"organisation": organisation, **_at(place), **values})
    return count


async def check(conn: Conn, organisation: UUID) -> Checked:
    """Compute the whole chain again and compare; what is sealed meanwhile is left for the next time."""
    head = await _last(conn, organisation)
    cur = await conn.execute(SQL["after_seal"], {"organisation": organisation, **_at(head.place)})
    ((waiting, is_ahead),) = await cur.fetchall()
    fault = Fault(head.seq, Kind.AHEAD) if is_ahead else None
    events = _events(conn, organisation, head.place)
    event = await anext(events, None)
    before, seals, sealed = _NONE, 0, 0
    async for seal in _seals(conn, organisation, head.seq):
        digest, found = sha256(before.digest), 0
        while event and event[0] <= seal.place:
            digest.update(event[1])
            found += 1
            event = await anext(events, None)
        digest.update(_encode([organisation, seal.seq, *seal.place, seal.events, seal.at]))
        fault = fault or _compare(before, seal, found, digest.digest())
        before, seals, sealed = seal, seals + 1, sealed + found
    return Checked(seals, sealed, waiting, head.digest.hex() if head.seq else None, fault)


def _compare(before: Seal, seal: Seal, found: int, digest: bytes) -> Fault | None:
    if seal.seq != before.seq + 1:
        return Fault(before.seq + 1, Kind.GAP)
    if seal.place <= before.place:
        return Fault(seal.seq, Kind.BROKEN)
    if found != seal.events:
        return Fault(seal.seq, Kind.MISSING if found < seal.events else Kind.ADDED, seal.events, found)
    return None if digest == seal.digest else Fault(seal.seq, Kind.CHANGED, seal.events, found)


def _encode(fields: Sequence[object]) -> bytes:
    """Each with its length before it: no two lists of fields are written alike."""
    texts = [None if field is None else str(field).encode() for field in fields]
    return b"".join(b"-" if text is None else b"%d:%b" % (len(text), text) for text in texts)


def _at(place: Place) -> dict[str, object]:
    return {"era": place.era, "xact": str(place.xact), "event": place.event}


async def _take_turn(conn: Conn, organisation: UUID, last: Seal) -> bool:
    cur = await conn.execute(SQL["take_turn"], {"organisation": organisation, **_at(last.place)})
    return await cur.fetchone() == (True,)


async def _last(conn: Conn, organisation: UUID) -> Seal:
    cur = conn.cursor(row_factory=class_row(Seal))
    await cur.execute(SQL["last_seal"], {"organisation": organisation})
    return await cur.fetchone() or _NONE


async def _seals(conn: Conn, organisation: UUID, upto: int) -> AsyncIterator[Seal]:
    cur = conn.cursor(row_factory=class_row(Seal))
    seq = 0
    while seq < upto:
        await cur.execute(SQL["seals"], {"organisation": organisation, "seq": seq, "limit": min(_PAGE, upto - seq)})
        for seal in await cur.fetchall():
            yield seal
            seq = seal.seq


async def _events(conn: Conn, organisation: UUID, upto: Place) -> AsyncIterator[tuple[Place, bytes]]:
    place = _NONE.place
    while page := await _page(conn, organisation, place, upto):
        for event in page:
            yield event
        place = page[-1][0]


async def _page(conn: Conn, organisation: UUID, after: Place, upto: Place) -> list[tuple[Place, bytes]]:
    """The next events, each with what it adds to a digest."""
    to: dict[str, Any] = {f"to_{name}": value for name, value in _at(upto).items()}
    cur = await conn.execute(SQL["events"], {"organisation": organisation, **_at(after), **to, "limit": _PAGE})
    return [(Place(row[0], int(row[1]), row[2]), _encode(row)) for row in await cur.fetchall()]
