"""Sites and their addresses: rows in, dataclasses out."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from leasehold.caller import Caller
from leasehold.db import Conn, queries
from leasehold.ids import uuid7
from leasehold.sites.addresses import Mount, Subdomains, Trust
from leasehold.sites.models import Address, Move, Moved, NewSite, Policy, Site

SQL = queries("leasehold.sites")
_POLICY = [field.name for field in fields(Policy)]


async def version(conn: Conn, organisation: UUID) -> int:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["version"], {"organisation": organisation})
    return await cur.fetchone() or 0


async def raise_version(conn: Conn, organisation: UUID) -> None:
    await conn.execute(SQL["raise_version"], {"organisation": organisation})


async def mounts_by_site(conn: Conn, organisation: UUID) -> dict[str, list[Mount]]:
    """Every trusted address there is, to make a Registry of."""
    sites: dict[str, list[Mount]] = {}
    cur = await conn.execute(SQL["registry"], {"organisation": organisation})
    async for site, host, scheme, port, prefix, subdomains, fold, since, trust in cur:
        mount = Mount(host, scheme, port, prefix, Subdomains(subdomains), tuple(fold), since, Trust(trust))
        sites.setdefault(site, []).append(mount)
    return sites


async def create(conn: Conn, organisation: UUID, new: NewSite) -> None:
    row = {"organisation": organisation, "slug": new.slug, "name": new.name, **asdict(new.policy)}
    await conn.execute(SQL["create"], row)


async def get(conn: Conn, organisation: UUID, slug: str) -> Site | None:
    found = await _page(conn, {"organisation": organisation, "slug": slug, "after": None, "limit": 1})
    return found[0] if found else None


async def page(conn: Conn, organisation: UUID, after: str | None, limit: int) -> list[Site]:
    return await _page(conn, {"organisation": organisation, "slug": None, "after": after, "limit": limit})


async def _page(conn: Conn, which: Mapping[str, Any]) -> list[Site]:
    cur = conn.cursor(row_factory=dict_row)
    await cur.execute(SQL["page"], which)
    rows = await cur.fetchall()
    addresses = await mounts(conn, which["organisation"], [row["slug"] for row in rows])
    return [_site(row, addresses[row["slug"]]) for row in rows]


def _site(row: dict[str, Any], mounts: list[Address]) -> Site:
    policy = Policy(**{name: row.pop(name) for name in _POLICY})
    return Site(**row, policy=policy, mounts=mounts)


async def mounts(conn: Conn, organisation: UUID, slugs: list[str]) -> dict[str, list[Address]]:
    found: dict[str, list[Address]] = {slug: [] for slug in slugs}
    cur = conn.cursor(row_factory=dict_row)
    await cur.execute(SQL["mounts"], {"organisation": organisation, "slugs": slugs})
    async for row in cur:
        found[row.pop("site")].append(Address(**row))
    return found


async def lock(conn: Conn, organisation: UUID, slug: str) -> Site | None:
    """The site, with nobody else changing it until the transaction ends."""
    await conn.execute(SQL["lock"], {"organisation": organisation, "slug": slug})
    return await get(conn, organisation, slug)


async def change(conn: Conn, organisation: UUID, slug: str, name: str, policy: Policy) -> None:
    row = {"organisation": organisation, "slug": slug, "name": name, **asdict(policy)}
    await conn.execute(SQL["change"], row)


async def delete(conn: Conn, organisation: UUID, slug: str) -> None:
    await conn.execute(SQL["delete"], {"organisation": organisation, "slug": slug})


async def pause(conn: Conn, organisation: UUID, slug: str, reason: str) -> None:
    await conn.execute(SQL["pause"], {"organisation": organisation, "slug": slug, "reason": reason})


async def resume(conn: Conn, organisation: UUID, slug: str) -> None:
    await conn.execute(SQL["resume"], {"organisation": organisation, "slug": slug})


async def holder(conn: Conn, organisation: UUID, mount: Mount) -> str | None:
    """The site that lives at this very address now."""
    cur = conn.cursor(row_factory=scalar_row)
    where = {"organisation": organisation, "host": mount.host, "port": mount.port, "prefix": mount.prefix}
    await cur.execute(SQL["holder"], where)
    site: str | None = await cur.fetchone()
    return site


async def settle(conn: Conn, organisation: UUID, site: str, mount: Mount) -> None:
    """Give the site this address; it lives there from now on unless the address is only a proposal."""
    lives_there = mount.trust is not Trust.OBSERVED
    if lives_there:
        await conn.execute(SQL["leave"], {"organisation": organisation, "site": site})
    row = asdict(mount) | {"fold": list(mount.fold), "current": lives_there}
    await conn.execute(SQL["mount"], row | {"id": uuid7(), "organisation": organisation, "site": site})


async def raise_epoch(conn: Conn, organisation: UUID, slug: str) -> None:
    await conn.execute(SQL["raise_epoch"], {"organisation": organisation, "slug": slug})


async def record_move(conn: Conn, caller: Caller, moved: Moved, reason: str | None) -> UUID:
    made = uuid7()
    row = {
        "id": made,
        "organisation": caller.organisation,
        "site": moved.site,
        "epoch": moved.epoch,
        "from_address": moved.from_address,
        "to_address": moved.to_address,
        "trust": moved.trust,
        "actor": caller.token,
        "actor_name": caller.name,
        "reason": reason,
    }
    await conn.execute(SQL["record_move"], row)
    return made


async def moves(conn: Conn, organisation: UUID, site: str, before: UUID | None, limit: int) -> list[Move]:
    return await _moves(
        conn, {"organisation": organisation, "site": site, "before": before, "limit": limit, "id": None}
    )


async def move(conn: Conn, organisation: UUID, site: str, move_id: UUID) -> Move | None:
    which = {"organisation": organisation, "site": site, "before": None, "limit": 1, "id": move_id}
    return next(iter(await _moves(conn, which)), None)


async def _moves(conn: Conn, which: Mapping[str, Any]) -> list[Move]:
    cur = conn.cursor(row_factory=class_row(Move))
    await cur.execute(SQL["moves"], which)
    return await cur.fetchall()


async def past_fault(
    conn: Conn, organisation: UUID, site: str, address: tuple[Mount, datetime], current: bool
) -> tuple[bool, str | None]:
    """Whether the time of an address has not come yet, and which other site contradicts it."""
    mount, since = address
    where = {"host": mount.host, "port": mount.port, "prefix": mount.prefix, "since": since, "current": current}
    cur = await conn.execute(SQL["past_fault"], {"organisation": organisation, "site": site, **where})
    ((is_ahead, rival),) = await cur.fetchall()
    return is_ahead, rival


async def settle_past(
    conn: Conn, organisation: UUID, site: str, address: tuple[Mount, datetime], current: bool
) -> None:
    """Give the site an address of its past; it lives there if that is the last."""
    mount, since = address
    if current:
        await conn.execute(SQL["leave"], {"organisation": organisation, "site": site})
    row = asdict(mount) | {"fold": list(mount.fold), "since": since, "current": current}
    await conn.execute(SQL["past_mount"], row | {"id": uuid7(), "organisation": organisation, "site": site})


async def record_past_move(conn: Conn, caller: Caller, row: Mapping[str, Any]) -> None:
    actor = {"actor": caller.token, "actor_name": caller.name}
    await conn.execute(SQL["past_move"], {"id": uuid7(), "organisation": caller.organisation, **actor, **row})
