"""The audit: appended in the transaction it speaks of, never changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

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


async def page(conn: Conn, organisation: UUID, subject: str | None, before: UUID | None, limit: int) -> list[Event]:
    cur = conn.cursor(row_factory=class_row(Event))
    await cur.execute(SQL["page"], {"organisation": organisation, "subject": subject, "before": before, "limit": limit})
    return await cur.fetchall()
