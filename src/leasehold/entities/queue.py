"""What was handed over and waits for the writer: durable, bounded in bytes, the urgent first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from psycopg.rows import class_row

from leasehold.db import Conn
from leasehold.entities.models import BatchState
from leasehold.entities.store import SQL
from leasehold.ids import uuid7

# What waits at most before nobody should hand over more.
HIGH_WATER = 64 * 1024 * 1024
PAGE_ITEMS = 250
PAGE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Page:
    """Some records that were handed over together; taken whole, written whole."""

    seq: int
    batch: UUID
    run: UUID | None
    items: int
    content: bytes

    def read(self) -> list[Any]:
        items: list[Any] = orjson.loads(self.content)
        return items


async def offer(
    conn: Conn,
    organisation: UUID,
    source: str | None,
    items: Sequence[Mapping[str, Any]],
    *,
    priority: int = 0,
    run: UUID | None = None,
) -> UUID:
    """Hand records over in the caller's own transaction: they are written later, once, by the one writer."""
    batch = uuid7()
    pages = list(_pages(items))
    given = {"organisation": organisation, "batch": batch, "source": source, "items": len(items)}
    await conn.execute(SQL["open_batch"], given)
    if pages:
        sizes, contents = [size for size, _ in pages], [content for _, content in pages]
        more = {"priority": priority, "run": run, "sizes": sizes, "contents": contents}
        await conn.execute(SQL["enqueue"], {"organisation": organisation, "batch": batch, **more}, prepare=False)
    return batch


async def retire(
    conn: Conn, organisation: UUID, kind: str, source: str, gone: Mapping[str, str | None], *, priority: int = 0
) -> None:
    """Say of records that their source has them no more, and of which other they are part there now, if of any."""
    items: list[dict[str, Any]] = []
    for source_id, heir in sorted(gone.items()):
        item = {"kind": kind, "source": source, "source_id": source_id, "state": "merged" if heir else "deleted"}
        items.append({**item, "merged_into": heir} if heir else item)
    if items:
        await offer(conn, organisation, source, items, priority=priority)


async def links(conn: Conn, organisation: UUID, source: str) -> int:
    """How many records of a source were linked to others."""
    given = {"organisation": organisation, "of_source": source}
    row = await (await conn.execute(SQL["links"], given)).fetchone()
    return int(row[0]) if row else 0


async def queued_bytes(conn: Conn, organisation: UUID) -> int:
    """How much waits to be written."""
    row = await (await conn.execute(SQL["queued_bytes"], {"organisation": organisation})).fetchone()
    return int(row[0]) if row else 0


async def take(conn: Conn, organisation: UUID, most_items: int) -> list[Page]:
    """What is next: at least a page if there is one, and not much more than so many items."""
    cur = conn.cursor(row_factory=class_row(Page))
    await cur.execute(SQL["take"], {"organisation": organisation, "most": most_items})
    return await cur.fetchall()


async def batch_state(conn: Conn, organisation: UUID, batch: UUID) -> BatchState | None:
    cur = conn.cursor(row_factory=class_row(BatchState))
    await cur.execute(SQL["batch"], {"organisation": organisation, "batch": batch})
    return await cur.fetchone()


def _pages(items: Iterable[Mapping[str, Any]]) -> Iterable[tuple[int, bytes]]:
    page: list[bytes] = []
    bytes_ = 0
    for item in items:
        written = orjson.dumps(item)
        if page and (len(page) == PAGE_ITEMS or bytes_ + len(written) > PAGE_BYTES):
            yield len(page), b"[" + b",".join(page) + b"]"
            page, bytes_ = [], 0
        page.append(written)
        bytes_ += len(written) + 1
    if page:
        yield len(page), b"[" + b",".join(page) + b"]"
