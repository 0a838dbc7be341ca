"""Seeds in PostgreSQL: rows in, dataclasses out."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from leasehold.db import Conn, queries
from leasehold.leases import Kind, Lease
from leasehold.seeds.gathering import Bed, Candidate, Look
from leasehold.seeds.models import UNSAID, NewSeed, PastVisit, Seed, SeedFilter, SeedWish
from leasehold.seeds.outlook import COUNTED, Ground, Outlook
from leasehold.seeds.schedule import Next, Rhythm
from leasehold.sites import Reference

SQL = queries("leasehold.seeds")
_RUN_OUT_AT_ONCE = 1000
# Of each seed: more than fit a chart, and few enough that a million seeds can be kept.
VISITS_KEPT = 60
# As many more may be there as are noted until somebody looks.
VISITS_FORGOTTEN_EVERY = 10


@dataclass(frozen=True, slots=True)
class Held:
    """A seed whose lease may have run out."""

    id: UUID
    site: str
    priority: int
    lease: UUID
    ran_out: bool

    @property
    def bed(self) -> tuple[str, int]:
        return self.site, self.priority


def digest(reference: Reference) -> bytes:
    """What makes an address one of a kind within its site. A subdomain has no space in it."""
    return hashlib.sha256(f"{reference.sub} {reference.rest}".encode()).digest()


async def run_out(conn: Conn, organisation: UUID) -> list[Held]:
    """Seeds whose lease may have run out, kept from others."""
    cur = await conn.execute(SQL["run_out"], {"organisation": organisation, "limit": _RUN_OUT_AT_ONCE})
    return [Held(*row) for row in await cur.fetchall()]


def is_all(held: Sequence[Held]) -> bool:
    """Whether these were all there were."""
    return len(held) < _RUN_OUT_AT_ONCE


async def defer(conn: Conn, organisation: UUID, seeds: Sequence[UUID]) -> None:
    await conn.execute(SQL["defer"], {"organisation": organisation, "ids": list(seeds)})


async def beds(conn: Conn, organisation: UUID, sites: Sequence[str] | None, few: int | None = None) -> list[Bed]:
    """Where something is due and may be handed out, at these sites or at any: all beds, or the first few."""
    which = {"organisation": organisation, "sites": sites, "limit": few}
    cur = await conn.execute(SQL["beds"], which)
    return [Bed(*row) for row in await cur.fetchall()]


async def guard(conn: Conn, organisation: UUID, sites: Sequence[str]) -> None:
    """Wait for the turn to grant at these sites."""
    await conn.execute(SQL["guard"], {"organisation": organisation, "sites": list(sites)})


async def rooms(conn: Conn, organisation: UUID, sites: Sequence[str]) -> dict[str, int]:
    """How many seeds may be handed out at each; a site without a limit is not in it."""
    cur = await conn.execute(SQL["rooms"], {"organisation": organisation, "sites": list(sites)})
    return {slug: max(0, room) for slug, room in await cur.fetchall() if room is not None}


async def pick(
    conn: Conn, organisation: UUID, looks: Sequence[Look], known: Collection[UUID]
) -> dict[Look, list[Candidate]]:
    """What each look finds, kept from others; those that are known already are left out."""
    cur = await conn.execute(
        SQL["pick"],
        {
            "organisation": organisation,
            "sites": [look.bed.site for look in looks],
            "priorities": [look.bed.priority for look in looks],
            "labels": [_json(dict(look.scope.labels)) if look.scope.labels else None for look in looks],
            "counts": [look.count for look in looks],
            "known": list(known) or None,
        },
    )
    found: dict[Look, list[Candidate]] = {look: [] for look in looks}
    for number, *row, fence in await cur.fetchall():
        look = looks[number - 1]
        found[look].append(Candidate(Seed(*row), fence, look.bed, len(found[look])))
    return found


async def take(conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> int:
    cur = await conn.execute(SQL["take"], {"organisation": organisation, "leases": list(leases)})
    return cur.rowcount


async def hold_beds(conn: Conn, organisation: UUID, names: Collection[tuple[str, int]]) -> None:
    """Keep beds from others, by site and priority."""
    if names:
        which = {"sites": [site for site, _ in names], "priorities": [priority for _, priority in names]}
        await conn.execute(SQL["hold_beds"], {"organisation": organisation, **which})


async def serve_beds(conn: Conn, organisation: UUID, served: Mapping[Bed, bool]) -> None:
    """Note what was looked at, and whether it gave something. The beds are held."""
    if served:
        names = {"sites": [bed.site for bed in served], "priorities": [bed.priority for bed in served]}
        row = {"organisation": organisation, **names, "served": list(served.values())}
        await conn.execute(SQL["serve_beds"], row)


async def skip(conn: Conn, organisation: UUID, seeds: Sequence[UUID]) -> None:
    await conn.execute(SQL["skip"], {"organisation": organisation, "ids": list(seeds)})


async def hold(conn: Conn, organisation: UUID, seeds: Sequence[UUID]) -> None:
    await conn.execute(SQL["hold"], {"organisation": organisation, "ids": list(seeds)})


async def rhythm(conn: Conn, organisation: UUID, seed: UUID) -> Rhythm | None:
    cur = await conn.execute(SQL["rhythm"], {"organisation": organisation, "id": seed})
    row = await cur.fetchone()
    return Rhythm(*row) if row else None


async def free(conn: Conn, organisation: UUID, seeds: Sequence[UUID], leases: Sequence[UUID]) -> None:
    await conn.execute(SQL["free"], {"organisation": organisation, "ids": list(seeds), "leases": list(leases)})


@dataclass(frozen=True, slots=True)
class Visit:
    """How a visit went, as its holder said."""

    seed: UUID
    lease: UUID
    owner: str
    outcome: str
    found: int | None
    cursor: Any
    reason: str | None
    previous_s: int  # the interval until then


async def visited(conn: Conn, organisation: UUID, visit: Visit, then: Next) -> None:
    await conn.execute(
        SQL["visited"],
        {
            "organisation": organisation,
            "id": visit.seed,
            "lease": visit.lease,
            "outcome": visit.outcome,
            "found": visit.found,
            "cursor": None if visit.cursor is None else Jsonb(visit.cursor),
            "delay": then.delay_s,
            "interval": then.rhythm.interval_s,
            "failed_visits": then.rhythm.failures,
            "is_gone": then.is_gone,
            "previous": visit.previous_s,
            "owner": visit.owner,
            "reason": visit.reason,
            "most": VISITS_KEPT,
            "every": VISITS_FORGOTTEN_EVERY,
        },
    )


async def visits(conn: Conn, organisation: UUID, seed: UUID, before: int | None, limit: int) -> list[PastVisit]:
    which = {"organisation": organisation, "seed": seed, "before": before, "limit": limit}
    return [PastVisit(*row) for row in await (await conn.execute(SQL["visits"], which)).fetchall()]


async def granted(conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> list[Lease]:
    cur = await conn.execute(SQL["granted"], {"organisation": organisation, "leases": list(leases)})
    return [Lease(row[0], Kind.SEED, *row[1:]) for row in await cur.fetchall()]


async def next_in_s(conn: Conn, organisation: UUID, site: str | None) -> float | None:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["next_at"], {"organisation": organisation, "site": site})
    seconds: float | None = await cur.fetchone()
    return seconds


async def outlook(conn: Conn, organisation: UUID, site: str | None, labels: Mapping[str, str]) -> Outlook:
    cur = await conn.execute(
        SQL["outlook"],
        {"organisation": organisation, "site": site, "labels": Jsonb(labels) if labels else None, "limit": COUNTED},
    )
    found = {state: (count, at, now) for state, count, at, now in await cur.fetchall()}
    first: dict[str, datetime | None] = {state: at for state, (_, at, _) in found.items()}
    now = next((now for _, _, now in found.values()), None)
    counts = {state: count for state, (count, _, _) in found.items()}
    return Outlook(counts, first.get("not_due"), first.get("leased"), now)


async def ground(conn: Conn, organisation: UUID, site: str | None) -> Ground | None:
    cur = await conn.execute(SQL["grounds"], {"organisation": organisation, "site": site})
    row = await cur.fetchone()
    return Ground(*row) if row else None


async def holders(conn: Conn, organisation: UUID, site: str) -> list[str]:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["holders"], {"organisation": organisation, "site": site})
    return await cur.fetchall()


async def sites(conn: Conn, organisation: UUID, slugs: Collection[str]) -> set[str]:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["sites"], {"organisation": organisation, "slugs": list(slugs)})
    return set(await cur.fetchall())


async def upsert_turn(conn: Conn, organisation: UUID) -> None:
    await conn.execute(SQL["upsert_turn"], {"organisation": organisation})


async def known(
    conn: Conn, organisation: UUID, references: Collection[tuple[str, bytes]]
) -> dict[tuple[str, bytes], tuple[UUID, Rhythm]]:
    """Which of these addresses are there, by site and digest."""
    cur = await conn.execute(
        SQL["known"],
        {
            "organisation": organisation,
            "sites": [site for site, _ in references],
            "references": [reference for _, reference in references],
        },
    )
    rows = await cur.fetchall()
    return {(site, bytes(reference)): (id_, Rhythm(*rest)) for site, reference, id_, *rest in rows}


async def insert(conn: Conn, organisation: UUID, new: Mapping[UUID, tuple[NewSeed, Rhythm]]) -> None:
    seeds = [seed for seed, _ in new.values()]
    await conn.execute(
        SQL["insert"],
        {
            "organisation": organisation,
            "sites": [seed.reference.site for seed in seeds],
            "subs": [seed.reference.sub for seed in seeds],
            "rests": [seed.reference.rest for seed in seeds],
            "references": [digest(seed.reference) for seed in seeds],
            "urls": [seed.url for seed in seeds],
            **_wishes(list(new), [seed.wish for seed in seeds], [rhythm for _, rhythm in new.values()]),
        },
    )


async def update(conn: Conn, organisation: UUID, changes: Mapping[UUID, tuple[str | None, SeedWish, Rhythm]]) -> None:
    """Change seeds as wished; each with the URL it was given by, None to leave that."""
    urls, wishes, rhythms = zip(*changes.values(), strict=True)
    row = {"organisation": organisation, "urls": list(urls), **_wishes(list(changes), wishes, rhythms)}
    await conn.execute(SQL["update"], row)


def _wishes(ids: list[UUID], wishes: Sequence[SeedWish], rhythms: Sequence[Rhythm]) -> dict[str, list[Any]]:
    return {
        "ids": ids,
        "kinds": [wish.kind for wish in wishes],
        "priorities": [wish.priority for wish in wishes],
        "intervals": [rhythm.interval_s for rhythm in rhythms],
        "mins": [rhythm.least_s for rhythm in rhythms],
        "maxes": [rhythm.most_s for rhythm in rhythms],
        "labels": [None if wish.labels is None else _json(wish.labels) for wish in wishes],
        "enableds": [wish.enabled for wish in wishes],
        "cursors": [None if wish.cursor is UNSAID else _json(wish.cursor) for wish in wishes],
        "dues": [wish.next_due_at for wish in wishes],
    }


async def page(
    conn: Conn, organisation: UUID, which: SeedFilter, after: tuple[str, UUID] | None, limit: int
) -> list[Seed]:
    after_site, after_id = after or (None, None)
    cur = await conn.execute(
        SQL["page"],
        {
            "organisation": organisation,
            "site": which.site,
            "due": which.due,
            "enabled": which.enabled,
            "kind": which.kind,
            "labels": Jsonb(which.labels) if which.labels else None,
            "after_site": after_site,
            "after": after_id,
            "limit": limit,
        },
    )
    return [Seed(*row) for row in await cur.fetchall()]


async def by_ids(conn: Conn, organisation: UUID, ids: Iterable[UUID]) -> dict[UUID, Seed]:
    cur = await conn.execute(SQL["by_ids"], {"organisation": organisation, "ids": list(ids)})
    return {row[0]: Seed(*row) for row in await cur.fetchall()}


async def lock(conn: Conn, organisation: UUID, seed: UUID) -> tuple[UUID | None, Rhythm] | None:
    """The lease on it, live or not settled yet, and its rhythm; None when there is no such seed."""
    cur = await conn.execute(SQL["lock"], {"organisation": organisation, "id": seed})
    row = await cur.fetchone()
    return (row[0], Rhythm(*row[1:])) if row else None


async def delete(conn: Conn, organisation: UUID, seed: UUID) -> bool:
    cur = await conn.execute(SQL["delete"], {"organisation": organisation, "id": seed})
    return cur.rowcount == 1


async def count(conn: Conn, organisation: UUID, site: str) -> int:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["count"], {"organisation": organisation, "site": site})
    return int(await cur.fetchone() or 0)


async def histogram(conn: Conn, organisation: UUID, site: str | None, hours: int) -> dict[int, int]:
    """How many fall due in each hour from now; 0 is what is overdue."""
    cur = await conn.execute(SQL["histogram"], {"organisation": organisation, "site": site, "hours": hours})
    return dict(await cur.fetchall())


async def next_hour(conn: Conn, organisation: UUID, site: str | None) -> dict[int, int]:
    """How many fall due in each five minutes of the next hour."""
    return dict(await (await conn.execute(SQL["next_hour"], {"organisation": organisation, "site": site})).fetchall())


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
