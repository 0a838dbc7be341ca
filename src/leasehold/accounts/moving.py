"""Moving the pools between stores while they are in use: each account is handed over whole, and never in two places.

An account is first marked as gone where it is, by an update that every grant, renewal and end would have to pass; what
is read of it after that is final, and is written to the other store. Nobody uses that one before the last account has
arrived, the counts and checksums agree, and the row that says which store is in force was flipped. Stopped at any
point, the move is gone on with by running it again.
"""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Protocol
from uuid import UUID

import orjson

from leasehold.accounts import store
from leasehold.accounts.placing import Store
from leasehold.db import Database

BATCH = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Everything there is to an account, or to an end of a lease, by name; the same in both stores.
Record = dict[str, Any]


# Brings what belongs to the accounts of an organisation; tells what arrived.
Along = Callable[[UUID, Callable[[str], None]], Awaitable["Sum"]]


class MoveFailed(Exception):
    """What arrived is not what left. Nothing was flipped; the message says what differs."""


class Place(Protocol):
    """A store as one end of a move."""

    async def unmoved(self, organisation: UUID) -> int:
        """How many accounts are still here."""

    async def hand_over(self, organisation: UUID, limit: int) -> None:
        """Mark some more as gone."""

    def accounts(self, organisation: UUID, *, moved: bool) -> AsyncIterator[Sequence[Record]]:
        """Those that are gone from here, or that are here, in the order of their ids, some at a time."""

    def ends(self, organisation: UUID) -> AsyncIterator[Sequence[Record]]: ...

    async def lacks(self, organisation: UUID, ids: Sequence[UUID]) -> set[UUID]:
        """Which of these accounts have not arrived here."""

    async def receive(self, organisation: UUID, accounts: Sequence[Record]) -> None: ...

    async def receive_ends(self, organisation: UUID, ends: Sequence[Record]) -> None: ...

    async def purge(self, organisation: UUID) -> int:
        """Remove what is marked as gone; returns how many accounts that were."""


@dataclass
class Sum:
    """So many records, and what they add up to whatever their order."""

    count: int = 0
    total: int = 0

    def add(self, record: Mapping[str, Any]) -> None:
        self.add_digest(digest(record))

    def add_digest(self, one: bytes) -> None:
        """A record whose digest is known already."""
        self.count += 1
        self.total = (self.total + int.from_bytes(one)) % 2**256

    def __str__(self) -> str:
        return f"{self.count:,} ({self.total.to_bytes(32).hex()[:16]})"


def digest(record: Mapping[str, Any]) -> bytes:
    """Of what both stores keep: times to the millisecond, bytes by their hash."""
    return hashlib.sha256(orjson.dumps(_plain(record), option=orjson.OPT_SORT_KEYS)).digest()


def _plain(value: Any) -> Any:
    match value:
        case Mapping():
            return {name: _plain(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case datetime():
            return (value - _EPOCH) // timedelta(milliseconds=1)
        case bytes():
            return hashlib.sha256(value).hexdigest()
        case UUID():
            return value.hex
    return value


async def move(
    db: Database,
    organisations: Sequence[tuple[UUID, str]],
    places: Mapping[Store, Place],
    to: Store,
    say: Callable[[str], None],
    along: Along,  # never left out: what is not brought would be lost
) -> bool:
    """Bring the pools of everybody to a store, or go on with that; False when they are there already.

    `along` brings what belongs to the accounts, once all of them are handed over.
    """
    async with db.system() as conn:
        now, moving_to = await store.where(conn)
        if moving_to not in (None, to):
            raise MoveFailed(f"A move from {now} to {moving_to} is under way. Finish it first: --to {moving_to}.")
        if await store.begin_move(conn, to) is None:
            return False
    source, target = places["postgres" if to == "mongo" else "mongo"], places[to]
    for organisation, slug in organisations:
        accounts, ends = await carry(source, target, organisation, partial(_prefixed, say, slug))
        sessions = await along(organisation, partial(_prefixed, say, slug))
        say(f"{slug}: accounts {accounts}, ended leases {ends}, sessions {sessions}; counts and checksums agree")
    async with db.system() as conn:
        await store.end_move(conn, to)
    return True


def _prefixed(say: Callable[[str], None], slug: str, what: str) -> None:
    say(f"{slug}: {what}")


async def purge(organisations: Sequence[tuple[UUID, str]], left: Place) -> int:
    """Remove what stayed behind in a store that is not in force; returns how many accounts that were."""
    return sum([await left.purge(organisation) for organisation, _slug in organisations])


async def carry(source: Place, target: Place, organisation: UUID, say: Callable[[str], None]) -> tuple[Sum, Sum]:
    """Bring everything of one organisation over; returns what left and what is there, which are equal."""
    left = await source.unmoved(organisation)
    while await source.unmoved(organisation):
        await source.hand_over(organisation, BATCH)
    if left:
        say(f"{left:,} accounts handed over")
    arrived = 0
    async for some in source.accounts(organisation, moved=True):
        missing = await target.lacks(organisation, [record["id"] for record in some])
        await target.receive(organisation, [record for record in some if record["id"] in missing])
        arrived += len(some)
        say(f"{arrived:,} accounts there")
    ended = 0
    async for ends in source.ends(organisation):
        await target.receive_ends(organisation, ends)
        ended += len(ends)
        say(f"{ended:,} ended leases there")
    return await _compare(source, target, organisation)


async def _compare(source: Place, target: Place, organisation: UUID) -> tuple[Sum, Sum]:
    accounts = [Sum(), Sum()]
    for total, records in (
        (accounts[0], source.accounts(organisation, moved=True)),
        (accounts[1], target.accounts(organisation, moved=False)),
    ):
        async for some in records:
            for record in some:
                total.add(record)
    ends = [Sum(), Sum()]
    for total, place in ((ends[0], source), (ends[1], target)):
        async for some in place.ends(organisation):
            for record in some:
                total.add(record)
    for what, (here, there) in {"accounts": accounts, "ended leases": ends}.items():
        # Leases that ended in the new store meanwhile are in it alone; without any, both have the same.
        if here != there and (what == "accounts" or here.count == there.count):
            raise MoveFailed(f"Of the {what}, {here} left and {there} arrived. Nothing was flipped; run it again.")
        if there.count < here.count:
            raise MoveFailed(f"Of the {what}, {here} are in the old store and {there} in the new one. Run it again.")
    return accounts[1], ends[1]
