"""The audit: appended in the transaction it speaks of, never changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from leasehold.caller import Caller
from leasehold.db import Conn, queries
from leasehold.ids import uuid7

SQL = queries("leasehold.audit")


@dataclass(frozen=True, slots=True)
class Event:
    """One change, by whom and to what."""

    id: UUID
    at: datetime
    actor: UUID | None
    actor_name: str
    action: str
    subject: str
    detail: dict[str, Any]
    request_id: str | None


async def record(conn: Conn, caller: Caller, action: str, subject: str, detail: Mapping[str, Any]) -> None:
    """Note that `caller` did `action` to `subject`. `detail` must hold no secret."""
    await conn.execute(
        SQL["record"],
        {
            "id": uuid7(),
            "organisation": caller.organisation,
            "actor": caller.token,
            "actor_name": caller.name,
            "action": action,
            "subject": subject,
            "detail": Jsonb(detail),
            "request_id": caller.request_id,
        },
    )


@dataclass(frozen=True, slots=True)
class Note:
    """Something to be recorded: `caller` did `action` to `subject`. `detail` must hold no secret."""

    caller: Caller
    action: str
    subject: str
    detail: Mapping[str, Any]


async def record_many(conn: Conn, notes: Sequence[Note]) -> list[UUID]:
    """As `record`, for what one batch did; all of it in one organisation. Tells the ids of the events."""
    if not notes:
        return []
    ids = [uuid7() for _ in notes]
    await conn.execute(
        SQL["record_many"],
        {
            "organisation": notes[0].caller.organisation,
            "ids": ids,
            "actors": [note.caller.token for note in notes],
            "actor_names": [note.caller.name for note in notes],
            "actions": [note.action for note in notes],
            "subjects": [note.subject for note in notes],
            "details": [orjson.dumps(note.detail).decode() for note in notes],
            "request_ids": [note.caller.request_id for note in notes],
        },
    )
    return ids


async def page(conn: Conn, organisation: UUID, subject: str | None, before: UUID | None, limit: int) -> list[Event]:
    cur = conn.cursor(row_factory=class_row(Event))
    await cur.execute(SQL["page"], {"organisation": organisation, "subject": subject, "before": before, "limit": limit})
    return await cur.fetchall()


async def life(conn: Conn, organisation: UUID, subject: str, after: UUID | None, limit: int) -> list[Event]:
    """What happened to one thing, oldest first."""
    cur = conn.cursor(row_factory=class_row(Event))
    await cur.execute(SQL["life"], {"organisation": organisation, "subject": subject, "after": after, "limit": limit})
    return await cur.fetchall()


async def by_ids(conn: Conn, organisation: UUID, ids: Sequence[UUID]) -> dict[UUID, Event]:
    cur = conn.cursor(row_factory=class_row(Event))
    await cur.execute(SQL["by_ids"], {"organisation": organisation, "ids": list(ids)})
    return {event.id: event for event in await cur.fetchall()}


async def organisations(conn: Conn) -> list[tuple[UUID, str]]:
    """Everybody who has an audit: id and slug."""
    return [(id_, slug) for id_, slug in await (await conn.execute(SQL["organisations"])).fetchall()]
