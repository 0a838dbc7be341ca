"""Takes away bytes that no capture has: what was replaced, what was never finished, what nobody knows.

Safe beside uploads. Whoever brings bytes claims their row first, and these statements take only rows that nobody has
claimed within the hour; they hold the row until the bytes are gone, so that whoever brings them again waits, and then
finds none.
"""

import asyncio
from collections.abc import Sequence
from itertools import groupby, islice
from uuid import UUID

from psycopg.rows import scalar_row

from leasehold import logs
from leasehold.captures.blobs import Blobs, Key
from leasehold.captures.store import SQL
from leasehold.db import Database

log = logs.get(__name__)

# Longer than it takes to put the largest upload in place, once it has arrived.
GRACE_S = 3600
_AT_ONCE = 100


async def sweep(db: Database, blobs: Blobs, organisation: UUID, grace_s: int = GRACE_S) -> int:
    """Remove what no capture of an organisation has; returns how many blobs that were."""
    swept = 0
    while True:
        async with db.transaction(organisation) as conn:
            cur = conn.cursor(row_factory=scalar_row)
            await cur.execute(SQL["unused"], {"organisation": organisation, "grace": grace_s, "limit": _AT_ONCE})
            digests: list[bytes] = await cur.fetchall()
            for digest in digests:
                await asyncio.to_thread(blobs.remove, Key(organisation, digest))
        swept += len(digests)
        if len(digests) < _AT_ONCE:
            return swept


async def strays(db: Database, blobs: Blobs) -> list[Key]:
    """Bytes in the store that no row speaks of, as a restored database leaves them. It takes a look at every file."""
    everything, found = blobs.each(), []
    while keys := await asyncio.to_thread(lambda: list(islice(everything, 500))):
        for organisation, group in groupby(keys, lambda key: key.organisation):
            found += await _unknown(db, organisation, list(group))
    return found


async def _unknown(db: Database, organisation: UUID, keys: Sequence[Key]) -> list[Key]:
    async with db.transaction(organisation) as conn:
        which = {"organisation": organisation, "digests": [key.sha256 for key in keys]}
        known = {digest for (digest,) in await (await conn.execute(SQL["known"], which)).fetchall()}
    return [key for key in keys if key.sha256 not in known]


async def remove_stray(db: Database, blobs: Blobs, key: Key) -> bool:
    """Remove bytes that no row speaks of; False when one does by now."""
    which = {"organisation": key.organisation, "digest": key.sha256}
    async with db.transaction(key.organisation) as conn:
        if await (await conn.execute(SQL["stray"], which)).fetchone() is None:
            return False
        await asyncio.to_thread(blobs.remove, key)
        await conn.execute(SQL["strayed"], which)
    return True
