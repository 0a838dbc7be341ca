"""Idempotency keys: the first request leaves what it made, a repeat finds it."""

import hmac
from dataclasses import dataclass
from uuid import UUID

from leasehold.db import Conn, queries
from leasehold.problems import IdempotencyMismatch

SQL = queries("leasehold.idempotency")


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
        raise IdempotencyMismatch("This Idempotency-Key was used with another body in the last 24 hours.")
    return str(resource)


async def keep(conn: Conn, once: Once, resource: str) -> None:
    await conn.execute(SQL["keep"], {**once.row(), "resource": resource})


async def forget(conn: Conn, once: Once) -> None:
    """Give a claimed key back: nothing was made."""
    await conn.execute(SQL["forget"], once.row())


async def sweep(conn: Conn) -> int:
    """Forget keys that are a day old; returns how many."""
    cur = await conn.execute(SQL["sweep"])
    return cur.rowcount
