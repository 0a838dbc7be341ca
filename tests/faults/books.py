"""The server's own books, in one shape whichever database they are in: every grant there was and how it ended."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
from pymongo import MongoClient

from tests.faults.history import Clock


@dataclass(frozen=True, slots=True)
class Grant:
    """A lease as it is booked; times are seconds by the database's clock."""

    lease: str
    account: str
    site: str
    owner: str
    fence: int
    acquired_at: float
    expires_at: float
    # None while nobody has booked its end.
    ended_at: float | None = None
    how: str | None = None
    outcome: str | None = None

    @property
    def end(self) -> float:
        """From when on it can change nothing."""
        return self.expires_at if self.ended_at is None else min(self.ended_at, self.expires_at)

    @property
    def is_undelivered(self) -> bool:
        """Given back by the server itself, because nobody was there to be told of it or it was not enough."""
        return self.how == "released" and self.outcome is None

    def __str__(self) -> str:
        ended = f"{self.how} at {self.ended_at:.6f}" if self.ended_at is not None else "not ended"
        return f"{self.lease} of {self.owner} on {self.account}, fence {self.fence}, {self.acquired_at:.6f}, {ended}"


@dataclass(frozen=True, slots=True)
class Account:
    """What the books say of an account apart from its leases."""

    site: str
    fence: int
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Policy:
    """The parts of a site's policy that the books can be held to."""

    cap: int | None = None
    cooldown_s: int = 0
    reclaim_delay_s: int = 0


@dataclass(frozen=True, slots=True)
class Books:
    grants: list[Grant]
    accounts: Mapping[str, Account]
    policies: Mapping[str, Policy]
    # When they were read.
    now: float


_GRANTS = """
SELECT id, resource, site, owner, fence, extract(epoch FROM acquired_at)::float8,
       extract(epoch FROM expires_at)::float8, NULL::float8, NULL::text, NULL::text
  FROM lease WHERE kind = 'account'
 UNION ALL
SELECT id, resource, site, owner, fence, extract(epoch FROM acquired_at)::float8,
       extract(epoch FROM expires_at)::float8, extract(epoch FROM ended_at)::float8, how, outcome
  FROM lease_end WHERE kind = 'account'
"""
_ACCOUNTS = "SELECT id, site, fence - fence_base, labels FROM account"
_POLICIES = "SELECT slug, max_concurrent_accounts, cooldown_seconds, reclaim_delay_seconds FROM site"
_NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"


def from_postgres(url: str) -> Books:
    """The books of a pool in PostgreSQL, as they stand at one moment."""
    with psycopg.connect(url) as conn:
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        grants = [_grant(row) for row in conn.execute(_GRANTS).fetchall()]
        accounts = {f"acct_{row[0].hex}": Account(*row[1:]) for row in conn.execute(_ACCOUNTS).fetchall()}
        return Books(grants, accounts, policies(conn), _now(conn))


def from_mongo(url: str, mongo_url: str) -> Books:
    """The books of a pool in MongoDB: what accounts hold, what they still carry, and the history."""
    with psycopg.connect(url) as conn:
        kept = policies(conn)
    accounts: dict[str, Account] = {}
    with MongoClient[dict[str, Any]](mongo_url, uuidRepresentation="standard", tz_aware=True) as client:
        database = client.get_default_database()
        # The history last: what is carried there meanwhile is then seen twice rather than not at all.
        found = list(database["accounts"].find())
        ends = [_ended_in_mongo(end["_id"], end["resource"], end) for end in database["lease_ends"].find()]
        now = _mongo_now(client)
    for document in found:
        labels = dict(label.split("\x1f", 1) for label in document["labels"])
        fence = int(document["fence"]) - int(document["fence_base"])
        accounts[f"acct_{document['_id'].hex}"] = Account(document["site"], fence, labels)
        ends += [_ended_in_mongo(end["id"], document["_id"], end) for end in document["ended"]]
        if lease := document["lease"]:
            held = {**lease, "site": document["site"], "fence": document["fence"], "ended_at": None}
            ends.append(_ended_in_mongo(lease["id"], document["_id"], held))
    return Books(list(set(ends)), accounts, kept, now)


def _ended_in_mongo(lease: UUID, account: UUID, end: Mapping[str, Any]) -> Grant:
    ended_at = end["ended_at"]
    return Grant(
        lease=f"lease_{lease.hex}",
        account=f"acct_{account.hex}",
        site=end["site"],
        owner=end["owner"],
        fence=int(end["fence"]),
        acquired_at=end["acquired_at"].timestamp(),
        expires_at=end["expires_at"].timestamp(),
        ended_at=ended_at.timestamp() if ended_at else None,
        how=end.get("how"),
        outcome=end.get("outcome"),
    )


def _mongo_now(client: MongoClient[dict[str, Any]]) -> float:
    return float(client.admin.command("hello")["localTime"].timestamp())


def policies(conn: psycopg.Connection[Any]) -> dict[str, Policy]:
    """Sites are in PostgreSQL wherever the pools are."""
    return {row[0]: Policy(*row[1:]) for row in conn.execute(_POLICIES).fetchall()}


def _grant(row: Iterable[Any]) -> Grant:
    lease, account, *rest = row
    return Grant(f"lease_{lease.hex}", f"acct_{account.hex}", *rest)


def _now(conn: psycopg.Connection[Any]) -> float:
    row = conn.execute(_NOW.encode()).fetchone()
    assert row is not None
    return float(row[0])


def postgres_clock(url: str) -> Clock:
    with psycopg.connect(url, autocommit=True) as conn:
        return _ahead(lambda: _now(conn))


def mongo_clock(mongo_url: str) -> Clock:
    with MongoClient[dict[str, Any]](mongo_url, tz_aware=True) as client:
        return _ahead(lambda: _mongo_now(client))


def _ahead(look_there: Callable[[], float]) -> Clock:
    """Between which bounds the clock over there is ahead of CLOCK_MONOTONIC; the tightest of several looks."""
    looks = []
    for _ in range(20):
        before = time.monotonic()
        there = look_there()
        looks.append(Clock(there - time.monotonic(), there - before))
    return min(looks, key=lambda look: look.most - look.least)


def either(first: Clock, second: Clock) -> Clock:
    return Clock(min(first.least, second.least), max(first.most, second.most))
