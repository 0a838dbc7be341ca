"""Entities and the graph in PostgreSQL: rows in, dataclasses out. What is written is written in arrays."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson
from psycopg.rows import class_row

from leasehold.db import Conn, queries
from leasehold.entities.cards import Card
from leasehold.entities.intake import Arrival, as_record
from leasehold.entities.models import Change, Edge, Entity, Kept, Letter, Outside, Pair, State, Tie
from leasehold.ids import uuid7
from leasehold.linking import Record

if TYPE_CHECKING:
    from leasehold.entities.memory import Current, Memory
    from leasehold.entities.queue import Page
    from leasehold.entities.solving import Partition

SQL = queries("leasehold.entities")


class Shown(NamedTuple):
    """An edge, and how much a person's word on it would teach; None: nobody need be asked."""

    edge: Edge
    teaches: float | None


class Row(NamedTuple):
    """A record as it is to be kept, and what it was linked by."""

    arrival: Arrival
    entity: UUID
    step: str
    tie: Tie | None
    linked_with: int | None
    times: int
    run: UUID | None


class Told(NamedTuple):
    """A change of an entity, to be told."""

    entity: UUID
    change: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A record as it was before."""

    node: int
    id: UUID
    source: str
    source_id: str
    name: str
    content: bytes
    digest: bytes
    state: State
    entity: UUID
    step: str

    @property
    def images(self) -> tuple[str, ...]:
        return tuple(orjson.loads(self.content)["images"])

    def record(self, kind: str) -> Record:
        return as_record(kind, self.source, self.source_id, self.name, self.content)


async def known(conn: Conn, organisation: UUID, nodes: Sequence[int]) -> dict[int, Found]:
    cur = await conn.execute(SQL["known"], {"organisation": organisation, "nodes": list(nodes)}, prepare=False)
    found = {}
    for node, id_, source, source_id, name, content, digest, state, entity, step in await cur.fetchall():
        found[node] = Found(
            node, id_, source, source_id, name, bytes(content), bytes(digest), State(state), entity, step
        )
    return found


async def remember(
    conn: Conn, organisation: UUID, memory: "Memory", current: "Current", nodes: Collection[int]
) -> None:
    """Have these records in memory."""
    if missing := memory.missing(nodes):
        for node, found in (await known(conn, organisation, missing)).items():
            memory.learn(node, found.record(current.kind), found.state, current)


async def outside(conn: Conn, organisation: UUID, nodes: Sequence[int]) -> dict[Pair, list[Outside]]:
    """Evidence from elsewhere that speaks of these records."""
    cur = await conn.execute(SQL["outside"], {"organisation": organisation, "nodes": list(nodes)}, prepare=False)
    found: dict[Pair, list[Outside]] = {}
    for a, b, bits, part in await cur.fetchall():
        found.setdefault((a, b), []).append(Outside(bits, orjson.loads(part)))
    return found


async def unite(conn: Conn, organisation: UUID, unions: Sequence[tuple[int, int, str]]) -> None:
    """Take a source's word that two of its records are one, unless a person has spoken of them."""
    if unions:
        given = {"organisation": organisation, **_columns(unions, "firsts", "seconds", "sources")}
        await conn.execute(SQL["unite"], given, prepare=False)


async def see_again(conn: Conn, organisation: UUID, seen: Sequence[tuple[int, int, UUID | None]]) -> None:
    nodes, times, runs = ([one[at] for one in seen] for at in range(3))
    given = {"organisation": organisation, "nodes": nodes, "times": times, "runs": runs}
    await conn.execute(SQL["see_again"], given, prepare=False)


async def keep(
    conn: Conn,
    organisation: UUID,
    epoch: int,
    rows: Sequence["Row"],
    changed: Sequence[int],
    edges: Sequence[Shown],
) -> None:
    """Write records, and what ties them to others."""
    shared = {"organisation": organisation, "epoch": epoch}
    arrivals = [row.arrival for row in rows]
    records = {
        "nodes": [arrival.node for arrival in arrivals],
        "ids": [arrival.id for arrival in arrivals],
        "kind": arrivals[0].record.kind,
        "sources": [arrival.record.source for arrival in arrivals],
        "source_ids": [arrival.record.source_id for arrival in arrivals],
        "names": [arrival.record.name for arrival in arrivals],
        "contents": [arrival.content for arrival in arrivals],
        "digests": [arrival.digest for arrival in arrivals],
        "states": [str(arrival.state) for arrival in arrivals],
        "entities": [row.entity for row in rows],
        "steps": [row.step for row in rows],
        "evidences": [_told(row.tie) if row.tie else None for row in rows],
        "linked_with": [row.linked_with for row in rows],
        "times": [row.times for row in rows],
        "runs": [row.run for row in rows],
    }
    async with conn.pipeline():
        await conn.execute(SQL["keep_records"], {**shared, **records}, prepare=False)
        if changed:
            await conn.execute(SQL["cut"], {**shared, "nodes": list(changed)}, prepare=False)
        await keep_edges(conn, organisation, epoch, edges)


async def rekey(
    conn: Conn, organisation: UUID, epoch: int, old: Mapping[int, Sequence[int]], keys: Mapping[int, Sequence[int]]
) -> None:
    """Make records findable under these keys, and no longer under those of what they were."""
    stale = [(key, node) for node, several in old.items() for key in set(several).difference(keys[node])]
    if stale:
        given = {"organisation": organisation, "epoch": epoch, **_columns(stale, "hashes", "nodes")}
        await conn.execute(SQL["unkey"], given, prepare=False)
    new = [
        (key, node)
        for node, several in keys.items()
        for key in (set(several).difference(old[node]) if node in old else several)
    ]
    await enter(conn, organisation, epoch, new)


async def enter(conn: Conn, organisation: UUID, epoch: int, keys: Sequence[tuple[int, int]]) -> None:
    """Make records findable under these keys."""
    if keys:
        given = {"organisation": organisation, "epoch": epoch, **_columns(keys, "hashes", "nodes")}
        await conn.execute(SQL["key"], given, prepare=False)


async def keep_edges(conn: Conn, organisation: UUID, epoch: int, edges: Sequence[Shown]) -> None:
    if not edges:
        return
    given = {
        "organisation": organisation,
        "epoch": epoch,
        "firsts": [one.edge.a for one in edges],
        "seconds": [one.edge.b for one in edges],
        "bits": [one.edge.bits for one in edges],
        "steps": [one.edge.step for one in edges],
        "teaches": [one.teaches for one in edges],
    }
    await conn.execute(SQL["tie"], given, prepare=False)


async def retired(conn: Conn, organisation: UUID, founders: Sequence[int]) -> dict[int, UUID]:
    """Entities that were merged away, by the record they were made for."""
    if not founders:
        return {}
    cur = await conn.execute(SQL["retired"], {"organisation": organisation, "founders": list(founders)}, prepare=False)
    return dict(await cur.fetchall())


async def keep_entities(
    conn: Conn, organisation: UUID, kind: str, found: "Partition", cards: Mapping[UUID, Card]
) -> None:
    if not cards:
        return
    given = {
        "organisation": organisation,
        "kind": kind,
        "ids": list(cards),
        "founders": [found.clusters[entity][0] for entity in cards],
        "sizes": [len(found.clusters[entity]) for entity in cards],
        "names": [card.name for card in cards.values()],
        "aliases": [_written(card.aliases) for card in cards.values()],
        "externals": [_written(card.external_ids) for card in cards.values()],
        "urls": [_written(card.urls) for card in cards.values()],
        "attributes": [_written(card.attributes) for card in cards.values()],
    }
    await conn.execute(SQL["keep_entities"], given, prepare=False)


async def merge_away(conn: Conn, organisation: UUID, gone: Mapping[UUID, UUID]) -> None:
    """Leave a pointer where an entity was; what pointed to it points on."""
    given = {"organisation": organisation, "gone": list(gone), "heirs": list(gone.values())}
    await conn.execute(SQL["merge_away"], given)
    await conn.execute(SQL["point_on"], given)


async def move(conn: Conn, organisation: UUID, moved: Mapping[int, UUID]) -> None:
    given = {"organisation": organisation, "nodes": list(moved), "entities": list(moved.values())}
    await conn.execute(SQL["move"], given, prepare=False)


async def reteach(conn: Conn, organisation: UUID, epoch: int, flips: Sequence[tuple[int, int, float | None]]) -> None:
    given = {"organisation": organisation, "epoch": epoch, **_columns(flips, "firsts", "seconds", "worths")}
    await conn.execute(SQL["reteach"], given, prepare=False)


async def tell(conn: Conn, organisation: UUID, changes: Sequence[Told], actor: str) -> None:
    if changes:
        given = {
            "organisation": organisation,
            "entities": [one.entity for one in changes],
            "changes": [one.change for one in changes],
            "details": [_written(one.details) for one in changes],
            "actor": actor,
        }
        await conn.execute(SQL["tell"], given, prepare=False)


async def count(conn: Conn, organisation: UUID, by_source: Mapping[str, Mapping[str, int]]) -> None:
    """Add to what is counted; what counts for no source in particular is under none."""
    rows = sorted((source, name, more) for source, counts in by_source.items() for name, more in counts.items())
    if rows:
        given = {"organisation": organisation, **_columns(rows, "sources", "names", "counts")}
        await conn.execute(SQL["count"], given, prepare=False)


async def book(
    conn: Conn,
    organisation: UUID,
    pages: Sequence["Page"],
    by_batch: Mapping[UUID, Counter[str]],
    by_source: Mapping[str, Counter[str]],
    letters: Sequence[tuple[UUID, str | None, str | None, str, str]],
) -> None:
    """Note what became of what was handed over, and take it out of the queue."""
    if letters:
        named = _columns(letters, "batches", "sources", "source_ids", "reasons", "contents")
        given = {"organisation": organisation, "ids": [uuid7() for _ in letters], **named}
        await conn.execute(SQL["set_aside"], given, prepare=False)
    await count(conn, organisation, by_source)
    batches = sorted({page.batch for page in pages})
    written = {
        "batches": batches,
        "done": [sum(page.items for page in pages if page.batch == batch) for batch in batches],
        "outcomes": [_written(by_batch[batch]) for batch in batches],
    }
    await conn.execute(SQL["book"], {"organisation": organisation, **written})
    await conn.execute(SQL["dequeue"], {"organisation": organisation, "seqs": [page.seq for page in pages]})


async def page(
    conn: Conn, organisation: UUID, kind: str | None, q: str | None, after: UUID | None, limit: int
) -> list[Entity]:
    cur = conn.cursor(row_factory=class_row(Entity))
    given = {"kind": kind, "q": q, "after": after, "limit": limit}
    await cur.execute(SQL["page"], {"organisation": organisation, **given})
    return await cur.fetchall()


async def get(conn: Conn, organisation: UUID, entity: UUID) -> Entity | None:
    cur = conn.cursor(row_factory=class_row(Entity))
    await cur.execute(SQL["get"], {"organisation": organisation, "entity": entity})
    return await cur.fetchone()


async def get_heir(conn: Conn, organisation: UUID, entity: UUID) -> Entity | None:
    """An entity; one that was merged away, as what it became."""
    found = await get(conn, organisation, entity)
    if found is None or found.merged_into is None:
        return found
    return await get(conn, organisation, found.merged_into)


async def records_of(conn: Conn, organisation: UUID, entities: Sequence[UUID]) -> list[Kept]:
    cur = conn.cursor(row_factory=class_row(Kept))
    await cur.execute(SQL["records_of"], {"organisation": organisation, "entities": list(entities)})
    return await cur.fetchall()


async def letters(conn: Conn, organisation: UUID, source: str | None, before: UUID | None, limit: int) -> list[Letter]:
    cur = conn.cursor(row_factory=class_row(Letter))
    given = {"organisation": organisation, "from_source": source, "before": before, "limit": limit}
    await cur.execute(SQL["letters"], given)
    return await cur.fetchall()


async def kept(conn: Conn, organisation: UUID, nodes: Sequence[int]) -> list[Kept]:
    cur = conn.cursor(row_factory=class_row(Kept))
    await cur.execute(SQL["records"], {"organisation": organisation, "nodes": list(nodes)})
    return await cur.fetchall()


async def changes(conn: Conn, organisation: UUID, since: int, entity: UUID | None, limit: int) -> list[Change]:
    cur = conn.cursor(row_factory=class_row(Change))
    given = {"organisation": organisation, "since": since, "entity": entity, "limit": limit}
    await cur.execute(SQL["changes"], given)
    return await cur.fetchall()


def _columns(rows: Iterable[Sequence[Any]], *names: str) -> dict[str, list[Any]]:
    listed = list(rows)
    return {name: [row[at] for row in listed] for at, name in enumerate(names)}


def _told(tie: Tie) -> str:
    return _written({name: getattr(tie, name) for name in Tie.__slots__})


def _written(value: object) -> str:
    return orjson.dumps(value).decode()
