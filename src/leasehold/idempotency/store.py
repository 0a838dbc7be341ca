"""Idempotency keys: the first request leaves what it made, a repeat finds it."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import AsyncCursor

from leasehold.db import Conn, queries
from leasehold.problems import IdempotencyMismatch

SQL = queries("leasehold.idempotency")
_MISMATCH = "This Idempotency-Key was used with another body in the last 24 hours."


@dataclass(frozen=True, slots=True)
class Once:
    """A request that must not happen twice: whose, where, under which key, with which body."""

    organisation: UUID
    token: UUID
    route: str
    key: str
    body_digest: bytes

    def row(self) -> dict[str, object]:
        return {
            "organisation": self.organisation,
            "token": self.token,
            "route": self.route,
            "key": self.key,
            "body_digest": self.body_digest,
        }


async def claim(conn: Conn, once: Once) -> str | None:
    """None: go ahead, then `keep` what you made, in this transaction. Otherwise what the first request made."""
    cur = await conn.execute(SQL["claim"], once.row())
    if await cur.fetchone():
        return None
    cur = await conn.execute(SQL["recall"], once.row())
    body_digest, resource = (await cur.fetchall())[0]
    if not hmac.compare_digest(body_digest, once.body_digest):
        raise IdempotencyMismatch(_MISMATCH)
    return str(resource)


async def keep(conn: Conn, once: Once, resource: str) -> None:
    await conn.execute(SQL["keep"], {**once.row(), "resource": resource})


async def forget(conn: Conn, once: Once) -> None:
    """Give a claimed key back: nothing was made."""
    await conn.execute(SQL["forget"], once.row())


async def claim_many(conn: Conn, organisation: UUID, several: Sequence[Once]) -> AsyncCursor[tuple[Any, ...]]:
    """Claim a batch of keys; `repeated` reads which of them are not new. No key may stand in it twice."""
    digests = [once.body_digest for once in several]
    keys = {"organisation": organisation, **_columns(several), "body_digests": digests}
    await conn.execute(SQL["claim_many"], keys)
    return await conn.execute(SQL["recall_many"], keys)


async def repeated(cur: AsyncCursor[tuple[Any, ...]], several: Sequence[Once]) -> dict[Once, str | IdempotencyMismatch]:
    """What the first request of each repeated one made, or that it had another body."""
    found = {(token, route, key): (digest, resource) for token, route, key, digest, resource in await cur.fetchall()}
    made: dict[Once, str | IdempotencyMismatch] = {}
    for once in several:
        if known := found.get((once.token, once.route, once.key)):
            same = hmac.compare_digest(known[0], once.body_digest)
            made[once] = str(known[1]) if same else IdempotencyMismatch(_MISMATCH)
    return made


async def keep_many(conn: Conn, organisation: UUID, made: Mapping[Once, str]) -> None:
    row = {**_columns(list(made)), "resources": list(made.values())}
    await conn.execute(SQL["keep_many"], {"organisation": organisation, **row})


async def forget_many(conn: Conn, organisation: UUID, several: Sequence[Once]) -> None:
    """Give keys back: nothing is under them any more that a repeat could find."""
    await conn.execute(SQL["forget_many"], {"organisation": organisation, **_columns(several)})


async def hang_up_many(
    conn: Conn, organisation: UUID, told: Mapping[Once, str], claimed_next: Sequence[Once] = ()
) -> set[Once]:
    """Somebody who was told of this under each key is gone; returns the keys that others were told of, too.

    Those that are not returned stay locked: forget them in this transaction if what is under them is taken back. Who
    claims keys next names them: all are locked in one order, or two batches could wait for each other in a circle.
    """
    if claimed_next:
        all_of_them = list({*told, *claimed_next})
        await conn.execute(SQL["hold_many"], {"organisation": organisation, **_columns(all_of_them)})
    row = {**_columns(list(told)), "resources": list(told.values())}
    cur = await conn.execute(SQL["hang_up_many"], {"organisation": organisation, **row})
    shared = {(token, route, key) for token, route, key, is_left in await cur.fetchall() if not is_left}
    return {once for once in told if (once.token, once.route, once.key) in shared}


def _columns(several: Sequence[Once]) -> dict[str, list[Any]]:
    return {
        "tokens": [once.token for once in several],
        "routes": [once.route for once in several],
        "keys": [once.key for once in several],
    }


async def sweep(conn: Conn) -> int:
    """Forget keys that are a day old; returns how many."""
    cur = await conn.execute(SQL["sweep"])
    return cur.rowcount
