"""Captures in PostgreSQL: rows in, dataclasses out."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from leasehold.captures.machine import CaptureState
from leasehold.captures.models import Capture, CaptureFilter, File, Mark, NewCapture
from leasehold.db import Conn, queries

SQL = queries("leasehold.captures")


async def has_site(conn: Conn, organisation: UUID, site: str) -> bool:
    cur = await conn.execute(SQL["site"], {"organisation": organisation, "site": site})
    return await cur.fetchone() is not None


async def is_live(conn: Conn, organisation: UUID, lease: UUID) -> bool | None:
    """Whether a lease is live; None when PostgreSQL has never had it."""
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["source"], {"organisation": organisation, "lease": lease})
    found: bool | None = await cur.fetchone()
    return found


async def claim_blobs(conn: Conn, organisation: UUID, sizes: Mapping[bytes, int]) -> None:
    """Say that these bytes are about to be put in place."""
    given = {"digests": list(sizes), "sizes": list(sizes.values())}
    await conn.execute(SQL["claim_blobs"], {"organisation": organisation, **given})


async def use_blobs(conn: Conn, organisation: UUID, digests: Sequence[bytes]) -> bool:
    """Note that a capture has these bytes; False when some were swept before it came to that."""
    which = {"organisation": organisation, "digests": list(digests)}
    held = await (await conn.execute(SQL["hold_blobs"], which)).fetchall()
    await conn.execute(SQL["use_blobs"], which)
    return len(held) == len(set(digests))


async def insert(conn: Conn, organisation: UUID, new: NewCapture) -> None:
    meta, reference, files = new.meta, new.reference, new.files
    await conn.execute(
        SQL["insert"],
        {
            "capture": new.id,
            "organisation": organisation,
            "site": meta.site,
            "url": meta.url,
            "sub": reference.sub if reference else None,
            "rest": reference.rest if reference else None,
            "captured_at": meta.captured_at,
            "seed": meta.seed,
            "account": meta.account,
            "job_id": meta.job_id,
            "source_lease": meta.lease,
            "late": new.late,
            "labels": Jsonb(dict(meta.labels)),
            "size": sum(file.size for file in files),
        },
    )
    await conn.execute(
        SQL["insert_files"],
        {
            "capture": new.id,
            "organisation": organisation,
            "places": list(range(len(files))),
            "names": [file.name for file in files],
            "digests": [file.sha256 for file in files],
            "sizes": [file.size for file in files],
            "content_types": [file.content_type for file in files],
            "deduplicated": [file.deduplicated for file in files],
        },
    )


async def get(conn: Conn, organisation: UUID, captures: Sequence[UUID]) -> dict[UUID, Capture]:
    cur = await conn.execute(SQL["get"], {"organisation": organisation, "captures": list(captures)})
    found = await _with_files(conn, organisation, await cur.fetchall())
    return {capture.id: capture for capture in found}


async def page(conn: Conn, organisation: UUID, which: CaptureFilter, before: Mark | None, limit: int) -> list[Capture]:
    """Newest first."""
    at, id_ = before or (None, None)
    given = {"organisation": organisation, **which.row(), "before_at": at, "before": id_, "limit": limit}
    if which.reference is None:
        cur = await conn.execute(SQL["page"], given)
    else:
        ours = which.reference
        cur = await conn.execute(SQL["of_url"], {**given, "site": ours.site, "sub": ours.sub, "rest": ours.rest})
    return await _with_files(conn, organisation, await cur.fetchall())


async def _with_files(conn: Conn, organisation: UUID, rows: Sequence[tuple[Any, ...]]) -> list[Capture]:
    files: dict[UUID, list[File]] = {row[0]: [] for row in rows}
    cur = await conn.execute(SQL["files"], {"organisation": organisation, "captures": list(files)})
    for capture, *file, _place in await cur.fetchall():
        files[capture].append(File(*file))
    return [_capture(row, files[row[0]]) for row in rows]


def _capture(row: tuple[Any, ...], files: list[File]) -> Capture:
    values = [*row[:15], CaptureState(row[15]), *row[16:], files]
    return Capture(*values)


async def count(conn: Conn, organisation: UUID, site: str) -> int:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["count"], {"organisation": organisation, "site": site})
    return int(await cur.fetchone() or 0)


async def lock(conn: Conn, organisation: UUID, capture: UUID) -> bool:
    cur = await conn.execute(SQL["lock"], {"organisation": organisation, "capture": capture})
    return await cur.fetchone() is not None


async def requeue(conn: Conn, organisation: UUID, capture: UUID) -> None:
    await conn.execute(SQL["requeue"], {"organisation": organisation, "capture": capture})


async def delete(conn: Conn, organisation: UUID, capture: UUID) -> None:
    """Remove a capture; bytes that no other one has are left to the next sweep."""
    which = {"organisation": organisation, "capture": capture}
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["lock_blobs"], which)
    digests = await cur.fetchall()
    await conn.execute(SQL["delete"], which)
    await conn.execute(SQL["free_blobs"], {"organisation": organisation, "digests": digests})


async def states(conn: Conn, organisation: UUID) -> dict[str, int]:
    cur = await conn.execute(SQL["states"], {"organisation": organisation})
    return dict(await cur.fetchall())
