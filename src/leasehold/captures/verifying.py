"""Reads every blob that captures have once more, and says which are missing or are not what they were."""

import asyncio
import hashlib
from dataclasses import dataclass, field
from uuid import UUID

from psycopg.rows import scalar_row

from leasehold.captures.blobs import Blobs, Key
from leasehold.captures.models import PREFIX
from leasehold.captures.store import SQL
from leasehold.db import Database
from leasehold.ids import show

_AT_ONCE = 100
_PIECE_BYTES = 1024 * 1024


@dataclass(slots=True)
class Reread:
    """What a look at every blob of an organisation found."""

    blobs: int = 0
    bytes: int = 0
    # Each with some of the captures that have it.
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not (self.missing or self.damaged)


async def reread(db: Database, blobs: Blobs, organisation: UUID) -> Reread:
    found = Reread()
    after = b""
    while True:
        async with db.transaction(organisation) as conn:
            which = {"organisation": organisation, "after_digest": after, "limit": _AT_ONCE}
            rows: list[tuple[bytes, int]] = await (await conn.execute(SQL["blobs"], which)).fetchall()
        for digest, size in rows:
            after = digest
            key = Key(organisation, digest)
            is_there, is_right = await asyncio.to_thread(_look, blobs, key, size)
            if not is_there:
                found.missing.append(await _named(db, key))
            elif not is_right:
                found.damaged.append(await _named(db, key))
            found.blobs += 1
            found.bytes += size
        if len(rows) < _AT_ONCE:
            return found


def _look(blobs: Blobs, key: Key, size: int) -> tuple[bool, bool]:
    """Whether it is there, and whether it is what it was."""
    digest, seen = hashlib.sha256(), 0
    try:
        with blobs.open(key) as opened:
            while piece := opened.read(_PIECE_BYTES):
                digest.update(piece)
                seen += len(piece)
    except FileNotFoundError:
        return False, False
    except OSError:  # a disk that cannot read it any more
        return True, False
    return True, digest.digest() == key.sha256 and seen == size


async def _named(db: Database, key: Key) -> str:
    async with db.transaction(key.organisation) as conn:
        cur = conn.cursor(row_factory=scalar_row)
        await cur.execute(SQL["owners_of_blob"], {"organisation": key.organisation, "digest": key.sha256})
        captures = [show(PREFIX, capture) for capture in await cur.fetchall()]
    return f"{key.sha256.hex()} ({', '.join(captures)})"
