"""Tickets for the live socket: a token must not be in a URL, and a browser can send nothing else with a socket.

A ticket is good for one socket within half a minute. Only its digest is kept, so a copy of the database opens nothing.
"""

import hashlib
import secrets
from dataclasses import dataclass
from uuid import UUID

from leasehold.auth import Permission, Tokens
from leasehold.caller import Caller
from leasehold.db import Database, queries

SQL = queries("leasehold.live")

LIFETIME_S = 30
SWEEP_EVERY_S = 60.0
LONGEST = 100


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose ticket it was."""

    organisation: UUID
    token: UUID


class Tickets:
    """Gives them out and takes each back once."""

    def __init__(self, db: Database, tokens: Tokens) -> None:
        self._db = db
        self._tokens = tokens

    async def issue(self, caller: Caller) -> str:
        ticket = f"ticket_{secrets.token_urlsafe(32)}"
        given = {"organisation": caller.organisation, "token": caller.token, "lifetime_s": LIFETIME_S}
        async with self._db.transaction(caller.organisation) as conn:
            await conn.execute(SQL["issue"], {"digest": _digest(ticket), **given})
        return ticket

    async def redeem(self, ticket: str, permission: Permission) -> Holder | None:
        """Who may come in by it; None when it was used, came too late, or its token may not any more."""
        async with self._db.system() as conn:
            row = await (await conn.execute(SQL["redeem"], {"digest": _digest(ticket)})).fetchone()
        if row is None or not row[2] or row[1] is None:
            return None
        holder = Holder(row[0], row[1])
        return holder if holder.token in await self.still_good({holder}, permission) else None

    async def still_good(self, holders: set[Holder], permission: Permission) -> set[UUID]:
        """Those tokens that were neither revoked nor ran out and may still see runs."""
        asked: dict[UUID, set[UUID]] = {}
        for holder in holders:
            asked.setdefault(holder.organisation, set()).add(holder.token)
        good: set[UUID] = set()
        for organisation, tokens in asked.items():
            good |= await self._tokens.still_good(organisation, tokens, permission)
        return good

    async def sweep(self) -> None:
        async with self._db.system() as conn:
            await conn.execute(SQL["sweep"])


def _digest(ticket: str) -> bytes:
    return hashlib.sha256(ticket.encode()).digest()
