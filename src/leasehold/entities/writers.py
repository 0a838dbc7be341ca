"""The one writer of an organisation: elected by a lease, fenced, and whoever takes over goes on where it stopped."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from uuid import UUID

from psycopg import OperationalError

from leasehold import logs
from leasehold.db import Conn, Database
from leasehold.entities.erasing import Eraser
from leasehold.entities.memory import Memory
from leasehold.entities.moving import move_some
from leasehold.entities.queue import take
from leasehold.entities.store import SQL
from leasehold.entities.suppression import Suppressed
from leasehold.entities.writing import Written, write
from leasehold.ids import uuid7
from leasehold.linking import Policy
from leasehold.memory import uncollected

log = logs.get(__name__)

LOOK_EVERY_S = 0.5
LEASE_S = 15.0
SWEEP_EVERY_S = 3600.0
# Together in one transaction: more is quicker, and more to do again after a crash. It grows while it goes quickly.
FEWEST, MOST = 500, 4000
_QUICK_S = 1.5
_SLOW_S = 4.0


class LostWriter(Exception):
    """Somebody else writes for this organisation now."""


class Writer:
    """The writer of one organisation, for as long as its fence holds."""

    def __init__(
        self, db: Database, organisation: UUID, holder: UUID, policies: Mapping[str, Policy], eraser: Eraser | None
    ) -> None:
        self._db = db
        self._organisation = organisation
        self._holder = holder
        self._fence = 0
        self._changes = -1
        self._eraser = eraser
        self.memory = Memory(policies)
        self._suppressed = Suppressed()
        self._items = FEWEST

    async def claim(self) -> bool:
        """Become the writer, if nobody is."""
        given = {"organisation": self._organisation, "holder": self._holder, "lease_s": LEASE_S}
        async with self._db.transaction(self._organisation) as conn:
            row = await (await conn.execute(SQL["claim_writer"], given)).fetchone()
        if row is None:
            return False
        (fence,) = row
        if fence != self._fence + 1:  # somebody else has written in between
            self.memory.clear()
        self._fence = fence
        return True

    async def write_some(self) -> Written | None:
        """Write what is next; None when nothing waits. Raises LostWriter."""
        began = time.monotonic()
        try:
            async with self._db.transaction(self._organisation) as conn:
                await conn.execute(SQL["think_longer"])
                await self._hold(conn)
                if await move_some(conn, self._organisation, self.memory):
                    return Written()
                pages = await take(conn, self._organisation, self._items)
                if not pages:
                    return None
                with uncollected():
                    written = await write(conn, self._organisation, self.memory, pages, self._suppressed)
        except BaseException:
            # What was remembered may never have become true; and what was too much at once is less the next time.
            self.memory.clear()
            self._items = FEWEST
            raise
        self.memory.tidy()
        self._suit(time.monotonic() - began)
        return written

    def _suit(self, took_s: float) -> None:
        """As many at once as are written in a moment: others wait for the writer between two batches."""
        if took_s < _QUICK_S:
            self._items = min(2 * self._items, MOST)
        elif took_s > _SLOW_S:
            self._items = max(self._items // 2, FEWEST)

    async def _hold(self, conn: Conn) -> None:
        given = {"organisation": self._organisation, "holder": self._holder, "fence": self._fence}
        row = await (await conn.execute(SQL["hold_writer"], {**given, "lease_s": LEASE_S})).fetchone()
        if row is None:
            raise LostWriter
        generation, changes = row
        if self._changes != changes:
            self._changes = changes
            self.memory.chart.clear()
        if self.memory.generation != generation:
            self.memory.clear()
            self.memory.generation = generation
            if self._eraser is not None:
                self._suppressed = await self._eraser.suppressed(conn, self._organisation)

    async def leave(self) -> None:
        """Let another go on at once."""
        given = {"organisation": self._organisation, "holder": self._holder, "fence": self._fence}
        with suppress(OperationalError):
            async with self._db.transaction(self._organisation) as conn:
                await conn.execute(SQL["leave_writer"], given)


class Writers:
    """The writers of one process: one for each organisation that has something to write and no other writer."""

    def __init__(self, db: Database, policies: Mapping[str, Policy], eraser: Eraser) -> None:
        self._db = db
        self._policies = policies
        self._eraser = eraser
        self._process = uuid7()
        self._writers: dict[UUID, Writer] = {}
        self._writing: dict[UUID, asyncio.Task[None]] = {}
        self._is_closed = False

    async def look(self) -> None:
        """Take up what nobody writes."""
        async with self._db.system() as conn:
            found = await (await conn.execute(SQL["waiting"])).fetchall()
        for organisation in [one for one, task in self._writing.items() if task.done()]:
            self._reap(organisation)
        for (organisation,) in found:
            if organisation not in self._writing and not self._is_closed:
                self._writing[organisation] = asyncio.create_task(
                    self._write(organisation), name=f"entities-{organisation.hex}"
                )

    async def sweep(self) -> None:
        """Forget batches that were written long ago."""
        async with self._db.system() as conn:
            await conn.execute(SQL["sweep_batches"])

    async def close(self) -> None:
        self._is_closed = True
        for task in self._writing.values():
            task.cancel()
        await asyncio.gather(*self._writing.values(), return_exceptions=True)
        self._writing.clear()

    def _reap(self, organisation: UUID) -> None:
        task = self._writing.pop(organisation)
        if not task.cancelled() and (error := task.exception()):
            log.error("entities.writer_died", exc_info=error)

    async def _write(self, organisation: UUID) -> None:
        writer = self._writers.setdefault(
            organisation, Writer(self._db, organisation, self._process, self._policies, self._eraser)
        )
        if not await writer.claim():
            return
        try:
            while await writer.write_some():
                pass
        except LostWriter:
            log.warning("entities.writer_lost")
        finally:
            await asyncio.shield(writer.leave())
