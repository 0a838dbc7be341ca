"""Tokens and organisations: rows in, dataclasses out."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from leasehold.auth.models import Token, TokenWish
from leasehold.caller import Caller
from leasehold.db import Conn, queries
from leasehold.ids import uuid7

SQL = queries("leasehold.auth")


@dataclass(frozen=True, slots=True)
class Holder:
    """Whom a presented token belongs to."""

    id: UUID
    organisation: UUID
    name: str
    permissions: list[str]
    is_stale: bool


async def authenticate(conn: Conn, hash_: bytes) -> Holder | None:
    cur = conn.cursor(row_factory=class_row(Holder))
    await cur.execute(SQL["authenticate"], {"hash": hash_})
    return await cur.fetchone()


async def touch(conn: Conn, token: UUID) -> None:
    await conn.execute(SQL["touch"], {"id": token})


async def create(conn: Conn, maker: Caller, hash_: bytes, wish: TokenWish) -> Token:
    cur = conn.cursor(row_factory=class_row(Token))
    await cur.execute(
        SQL["create"],
        {
            "id": uuid7(),
            "organisation": maker.organisation,
            "maker": maker.token,
            "name": wish.name,
            "hash": hash_,
            "role": wish.role,
            "permissions": sorted(wish.permissions),
            "lifetime": wish.lifetime,
        },
    )
    token = await cur.fetchone()
    assert token is not None  # noqa: S101 (an INSERT without conflict clause returns its row)
    return token


async def get(conn: Conn, organisation: UUID, token: UUID) -> Token | None:
    cur = conn.cursor(row_factory=class_row(Token))
    await cur.execute(SQL["get"], {"organisation": organisation, "id": token})
    return await cur.fetchone()


async def page(conn: Conn, organisation: UUID, after: UUID | None, limit: int) -> list[Token]:
    cur = conn.cursor(row_factory=class_row(Token))
    await cur.execute(SQL["page"], {"organisation": organisation, "after": after, "limit": limit})
    return await cur.fetchall()


async def still_good(conn: Conn, organisation: UUID, tokens: Collection[UUID], permission: str) -> set[UUID]:
    cur = conn.cursor(row_factory=scalar_row)
    given = {"organisation": organisation, "tokens": list(tokens), "permission": permission}
    await cur.execute(SQL["still_good"], given)
    return set(await cur.fetchall())


async def revoke(conn: Conn, organisation: UUID, token: UUID) -> str | None:
    """The name of what was revoked, or None when there was nothing to revoke."""
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["revoke"], {"organisation": organisation, "id": token})
    name: str | None = await cur.fetchone()
    return name


async def ensure_organisation(conn: Conn, slug: str) -> UUID:
    """The organisation of that name, made if there is none."""
    await conn.execute(SQL["create_organisation"], {"id": uuid7(), "slug": slug})
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["find_organisation"], {"slug": slug})
    found: UUID = (await cur.fetchall())[0]
    return found


async def is_first(conn: Conn, organisation: UUID) -> bool:
    """Whether this organisation has never had a token; holds others who ask until the transaction ends."""
    await conn.execute(SQL["wait_for_turn"])
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["is_first"], {"organisation": organisation})
    return bool(await cur.fetchone())
