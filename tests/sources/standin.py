"""Whoever writes records, as far as sources can tell: keeps what it is offered in a table of the test's own."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from leasehold.db import Conn
from leasehold.ids import uuid7
from leasehold.sources import Gone, Outlet

TABLES = """
CREATE TABLE IF NOT EXISTS offered (
    number bigint GENERATED ALWAYS AS IDENTITY, organisation uuid, source text, source_id text, item jsonb
);
CREATE TABLE IF NOT EXISTS retired (organisation uuid, source text, source_id text, merged_into text);
CREATE TABLE IF NOT EXISTS pressure (bytes bigint);
GRANT SELECT, INSERT ON offered, retired, pressure TO leasehold_app;
"""


async def _offer(
    conn: Conn,
    organisation: UUID,
    source: str,
    items: Sequence[Mapping[str, Any]],
    *,
    priority: int,
    images_wanted: bool,
) -> UUID:
    assert 0 <= priority <= 9
    assert images_wanted is False
    for item in items:
        await conn.execute(
            "INSERT INTO offered (organisation, source, source_id, item) VALUES (%s, %s, %s, %s)",
            [organisation, source, item["source_id"], Jsonb(item)],
        )
    return uuid7()


async def _queued_bytes(conn: Conn, _organisation: UUID) -> int:
    rows = await (await conn.execute("SELECT coalesce(sum(bytes), 0)::bigint FROM pressure")).fetchall()
    return int(rows[0][0])


async def _retire(conn: Conn, organisation: UUID, source: str, gone: Sequence[Gone]) -> None:
    for one in gone:
        await conn.execute(
            "INSERT INTO retired VALUES (%s, %s, %s, %s)", [organisation, source, one.source_id, one.merged_into]
        )


OUTLET = Outlet(_offer, _queued_bytes, _retire)
